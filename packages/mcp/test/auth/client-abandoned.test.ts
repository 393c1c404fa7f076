import type { ServerResponse } from "node:http";
import { connect } from "@parley/mcp";
import { memoryTokenStore, oauth, redirectLogin } from "@parley/mcp/auth";
import { nodeSender } from "@parley/mcp/node";
import { fakeClock } from "@parley/mcp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { ClientTarget } from "./client-target.js";
import type { IssuerBehaviour } from "./test-issuer.js";

/** Requests to the issuer that are answered when the test says so. */
function holding(which: (path: string) => boolean) {
  const held: ServerResponse[] = [];
  const closed: ServerResponse[] = [];
  let isHolding = true;
  const intercept: IssuerBehaviour["intercept"] = ({ path }, response) => {
    if (!isHolding || !which(path)) return false;
    held.push(response);
    response.on("close", () => closed.push(response));
    return true;
  };
  return { intercept, held, closed, stop: () => (isHolding = false) };
}

/** A user whose page stays open until the login is given up. */
function patientUser() {
  const pages: URL[] = [];
  const signals: AbortSignal[] = [];
  const login = redirectLogin({
    redirectUri: "http://127.0.0.1:1/callback",
    visit: (url, signal) => {
      pages.push(url);
      signals.push(signal);
      return new Promise(() => {});
    },
  });
  return { login, pages, signals };
}

/** The ways in which the only one who waits for a login gives up. */
const ENDS = {
  "its deadline": async (target: ClientTarget, auth: ReturnType<typeof oauth>, begun: () => Promise<void>) => {
    const clock = fakeClock();
    const options = { auth, platform: clock.platform, timeouts: { connectMs: 3_000 } };
    const opening = connect(target.url, options).catch((error: unknown) => error);
    await begun();
    await clock.advance(3_000);
    expect(await opening).toMatchObject({ kind: "timeout" });
  },
  "its signal": async (target: ClientTarget, auth: ReturnType<typeof oauth>, begun: () => Promise<void>) => {
    const given = new AbortController();
    const opening = connect(target.url, { auth, signal: given.signal }).catch((error: unknown) => error);
    await begun();
    given.abort();
    expect(await opening).toMatchObject({ kind: "cancelled" });
  },
};

describe.each(Object.entries(ENDS))("a connect that is given up by %s", (_name, giveUp) => {
  it("while documents are read begins no registration and no login", async () => {
    const { intercept, held, closed, stop } = holding((path) => path.includes("/.well-known/"));
    const target = await ClientTarget.start({}, { intercept });
    const { login, pages } = patientUser();
    const auth = oauth({ login });
    await giveUp(target, auth, () => expect.poll(() => held.length).toBe(1));
    // The request is cancelled, and with it all that would have followed.
    await expect.poll(() => closed.length).toBe(1);
    stop();
    expect(target.issuer.requests).toHaveLength(1);
    expect(pages).toEqual([]);
    // The next one starts over.
    const again = connect(target.url, { auth: oauth({ login: target.issuer.login() }) });
    await (await again).close();
  });

  it("while the client registers sends no user to a page", async () => {
    const { intercept, held, closed } = holding((path) => path === "/register");
    const target = await ClientTarget.start({}, { intercept });
    const { login, pages } = patientUser();
    await giveUp(target, oauth({ login }), () => expect.poll(() => held.length).toBe(1));
    await expect.poll(() => closed.length).toBe(1);
    expect(pages).toEqual([]);
    expect(target.issuer.to("/register")).toHaveLength(1);
  });
});

describe("a login that nobody waits for any more", () => {
  it("is ended while the user is on the page, and closed", async () => {
    const target = await ClientTarget.start();
    const { login, pages, signals } = patientUser();
    let closes = 0;
    const begin = async (signal: AbortSignal) => {
      if (login.kind !== "redirect") throw new Error("a redirect login");
      return { ...(await login.begin(signal)), close: () => void closes++ };
    };
    const given = new AbortController();
    const auth = oauth({ login: { kind: "redirect", applicationType: "native", begin } });
    const opening = connect(target.url, { auth, signal: given.signal }).catch((error: unknown) => error);
    await expect.poll(() => pages.length).toBe(1);
    given.abort(new Error("not today"));
    expect(await opening).toMatchObject({ kind: "cancelled" });
    expect(signals[0]?.aborted).toBe(true);
    await expect.poll(() => closes).toBe(1);
    expect(target.issuer.to("/token")).toEqual([]);
  });

  it("goes on for the other requests that wait for it", async () => {
    const target = await ClientTarget.start();
    const given = new AbortController();
    let comeBack = () => {};
    const pages: URL[] = [];
    const login = redirectLogin({
      redirectUri: "http://127.0.0.1:1/callback",
      visit: (url) =>
        new Promise((resolve) => {
          pages.push(url);
          comeBack = () => {
            fetch(url, { redirect: "manual" }).then(({ headers }) => resolve(headers.get("location") ?? ""));
          };
        }),
    });
    const auth = oauth({ login });
    let posts = 0;
    const inner = nodeSender();
    const sender: typeof inner = (request, onResponse, onError) => {
      posts += request.url === target.url ? 1 : 0;
      return inner(request, onResponse, onError);
    };
    const first = connect(target.url, { auth, sender, signal: given.signal }).catch((error: unknown) => error);
    await expect.poll(() => pages.length).toBe(1);
    const second = connect(target.url, { auth, sender });
    await expect.poll(() => target.requests.filter(({ method }) => method === "POST").length).toBe(2);
    given.abort();
    expect(await first).toMatchObject({ kind: "cancelled" });
    comeBack();
    const client = await second;
    onTestFinished(() => client.close());
    expect(await client.call("who")).toBe("ada");
    expect(pages).toHaveLength(1);
    expect(posts).toBeGreaterThan(2);
  });

  it("keeps no connection to a token endpoint that does not answer", async () => {
    const { intercept, held, closed } = holding((path) => path === "/token");
    const target = await ClientTarget.start({}, { intercept });
    const clock = fakeClock();
    const given = new AbortController();
    const auth = oauth({ login: target.issuer.login() });
    const opening = connect(target.url, { auth, signal: given.signal, platform: clock.platform });
    const failed = opening.catch((error: unknown) => error);
    await expect.poll(() => held.length).toBe(1);
    given.abort();
    await failed;
    expect(closed).toEqual([]);
    // The code is spent, so its answer is waited for a little.
    await clock.advance(2_000);
    await expect.poll(() => closed.length).toBe(1);
  });

  it("does not lose the refresh token that it was about to get", async () => {
    const target = await ClientTarget.start({}, { rotates: true, expiresIn: 5 });
    const store = memoryTokenStore();
    // The clock of deadlines stands still, however slow the machine is.
    const { monotonic, timer } = fakeClock().platform;
    const auth = oauth({ login: target.issuer.login(), store });
    const client = await connect(target.url, { auth, platform: { monotonic, timer } });
    onTestFinished(() => client.close());
    const answers: (() => void)[] = [];
    target.issuer.behaviour.intercept = ({ form, path }, response) => {
      if (path !== "/token" || form.get("grant_type") !== "refresh_token" || answers.length > 0) return false;
      const body = { access_token: "second", token_type: "Bearer", expires_in: 300, refresh_token: "second-refresh" };
      answers.push(() => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)));
      return true;
    };
    const given = new AbortController();
    const call = client.call("who", {}, { signal: given.signal }).catch((error: unknown) => error);
    await expect.poll(() => answers.length).toBe(1);
    given.abort();
    expect(await call).toMatchObject({ kind: "cancelled" });
    const next = client.call("who");
    answers[0]?.();
    expect(await next).toBe("ada");
    expect(target.requests.at(-1)?.headers.authorization).toBe("Bearer second");
    expect(String(await store.get(`tokens ${target.issuer.issuer} ${target.url}`))).toContain("second-refresh");
    expect(target.issuer.to("/authorize")).toHaveLength(1);
  });
});
