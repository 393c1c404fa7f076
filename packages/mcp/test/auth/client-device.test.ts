import { type DevicePrompt, deviceLogin, oauth } from "@parley/mcp/auth";
import { fakeClock } from "@parley/mcp/testing";
import { describe, expect, it } from "vitest";
import { attempt, ClientTarget, expectRefusal } from "./client-target.js";

/** What the token endpoint does with one poll: answers with a status and a body, or breaks the connection. */
type Poll = readonly [status: number, body: unknown, type?: string] | "reset";

const GOOD: Poll = [200, { access_token: "good", token_type: "Bearer" }];
const PENDING: Poll = [400, { error: "authorization_pending" }];
const DOWN: Poll = [503, "<html>down</html>", "text/html"];
const DEVICE = {
  device_code: "canary-device",
  user_code: "ABCD",
  verification_uri: "https://as.example/device",
  expires_in: 600,
  interval: 5,
};

const CONNECT_MS = 200_000;

/** Logs in by the device flow on a clock of its own; the polls are answered in turn, the last one again and again. */
async function logIn(polls: readonly Poll[], changes: object = {}) {
  const clock = fakeClock();
  /** The pauses before the polls, in seconds. */
  const pauses: number[] = [];
  const timer: typeof clock.platform.timer = (ms, run, keepAlive) => {
    // Only pauses between polls keep the process alive, and the deadline of the connection.
    if (keepAlive === true && ms < CONNECT_MS / 2) pauses.push(ms / 1_000);
    return clock.platform.timer(ms, run, keepAlive);
  };
  let asked = 0;
  const target = await ClientTarget.start(
    {},
    {
      intercept({ path }, response) {
        if (path !== "/device" && path !== "/token") return false;
        const device: Poll = [200, { ...DEVICE, ...changes }];
        const poll = path === "/device" ? device : (polls[asked++] ?? polls.at(-1) ?? "reset");
        if (poll === "reset") response.destroy();
        else {
          const [status, body, type = "application/json"] = poll;
          response.writeHead(status, { "content-type": type });
          response.end(typeof body === "string" ? body : JSON.stringify(body));
        }
        return true;
      },
    },
  );
  target.issuer.behaviour.metadata = { device_authorization_endpoint: `${target.issuer.origin}/device` };
  const shown: DevicePrompt[] = [];
  const auth = oauth({ login: deviceLogin((one) => void shown.push(one)) });
  const platform = { ...clock.platform, timer };
  let result: Awaited<ReturnType<typeof attempt>> | undefined;
  attempt(target, { connect: { auth, platform, timeouts: { connectMs: CONNECT_MS } } }).then((ended) => {
    result = ended;
  });
  for (let passed = 0; ; passed++) {
    await expect.poll(() => result !== undefined || pauses.length > passed, { interval: 1 }).toBe(true);
    if (result !== undefined) return { target, result, shown, pauses };
    await clock.advance((pauses[passed] ?? 0) * 1_000);
  }
}

describe("the device flow", () => {
  it("shows the code, asks until the user has agreed, and names the resource in both requests", async () => {
    const { target, result, shown } = await logIn([PENDING, GOOD]);
    expect(result.error).toBeUndefined();
    expect(shown).toEqual([
      { url: DEVICE.verification_uri, code: "ABCD", completeUrl: undefined, expiresInSeconds: 600 },
    ]);
    const [device] = target.issuer.to("/device");
    const asked = target.issuer.to("/token");
    expect(asked).toHaveLength(2);
    for (const one of [device, ...asked]) expect(one?.form.get("resource")).toBe(target.url);
    expect(result.visits).toEqual([]);
  });

  it("slows down when it is told to", async () => {
    const { result, pauses } = await logIn([[400, { error: "slow_down" }], PENDING, GOOD]);
    expect(result.error).toBeUndefined();
    expect(pauses).toEqual([5, 10, 10]);
  });

  it.each<[string, Poll]>([
    ["a broken connection", "reset"],
    ["HTTP 503", DOWN],
    ["HTTP 500 in JSON", [500, {}]],
    ["a page in place of an answer", [200, "<html>wait</html>", "text/html"]],
    ["an answer that is cut off", [200, '{"access_to']],
    ["HTTP 429", [429, { error: "too_many_requests" }]],
    ["temporarily_unavailable", [400, { error: "temporarily_unavailable" }]],
  ])("RFC 8628, 3.5: asks less often after %s, and goes on", async (_name, poll) => {
    const { result, pauses } = await logIn([PENDING, poll, poll, PENDING, GOOD]);
    expect(result.error).toBeUndefined();
    expect(pauses).toEqual([5, 5, 10, 20, 20]);
  });

  it("gives up when five polls in a row fail, and pauses a minute at most", async () => {
    const { result, pauses, target } = await logIn([DOWN, DOWN, DOWN, DOWN, PENDING, DOWN], { interval: 20 });
    expectRefusal(result, "issued no token");
    expect(target.issuer.to("/token")).toHaveLength(10);
    expect(pauses.slice(0, 4)).toEqual([20, 40, 60, 60]);
    expect(String(result.error)).not.toContain("canary");
  });

  it.each<[string, Poll, string]>([
    ["the user refuses", [400, { error: "access_denied" }], "access_denied"],
    ["the code expires", [400, { error: "expired_token", error_description: "too late" }], "expired_token: too late"],
    ["the client is not known", [401, { error: "invalid_client" }], "invalid_client"],
    ["the token is none", [200, { token_type: "Bearer" }], "access_token"],
  ])("ends when %s", async (_name, poll, message) => {
    const { target, result } = await logIn([poll]);
    expectRefusal(result, message);
    expect(target.issuer.to("/token")).toHaveLength(1);
  });

  it("ends when nobody types the code", async () => {
    const { target, result, pauses } = await logIn([PENDING], { expires_in: 12 });
    expectRefusal(result, "the user did not enter the code in time");
    expect(target.issuer.to("/token")).toHaveLength(3);
    // Not beyond the end of the code.
    expect(pauses).toEqual([5, 5, 2]);
  });

  it.each([0, 0.001, -5])("asks at most once a second, though the server says %s", async (interval) => {
    const { pauses } = await logIn([PENDING, PENDING, GOOD], { interval });
    expect(pauses.every((seconds) => seconds >= 1)).toBe(true);
  });

  it.each([
    "javascript:alert(1)",
    "http://evil.example/",
    "file:///x",
    "https://u@evil.example/",
    "https://e.example/\u001b[2J",
  ])("SEC-05: sends nobody to %j", async (page) => {
    for (const name of ["verification_uri", "verification_uri_complete"]) {
      const { result, shown, target } = await logIn([GOOD], { [name]: page });
      expectRefusal(result, "sent a login page with an address that is not allowed");
      expect(shown).toEqual([]);
      expect(target.issuer.to("/token")).toEqual([]);
    }
  });

  it.each(["\u001b[2JABCD", "AB\nCD", "AB\u202eCD", "A".repeat(100_000)])(
    "SEC-05: shows no code that controls a terminal or fills it: %#",
    async (code) => {
      const { result, shown } = await logIn([GOOD], { user_code: code });
      expectRefusal(result, "sent a code that cannot be displayed");
      expect(shown).toEqual([]);
      expect(String(result.error).length).toBeLessThan(2_000);
    },
  );
});
