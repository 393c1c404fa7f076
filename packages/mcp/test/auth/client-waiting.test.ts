import type { ServerResponse } from "node:http";
import { type ClientOptions, connect, McpError, type Revision } from "@parley/mcp";
import { clientCredentials, deviceLogin, memoryTokenStore, oauth, redirectLogin } from "@parley/mcp/auth";
import { startHost } from "@parley/mcp/host";
import { type FakeClock, fakeClock } from "@parley/mcp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { ClientTarget } from "./client-target.js";

const ERAS: readonly Revision[] = ["2026-07-28", "2025-11-25"];
const TEN_MINUTES = 600_000;

/** A user who comes back from the login page when the test says so. */
function slowUser(options: { timeoutMs?: number } = {}) {
  const pages: URL[] = [];
  const signals: AbortSignal[] = [];
  const waiting: (() => void)[] = [];
  const login = redirectLogin({
    redirectUri: "http://127.0.0.1:1/callback",
    timeoutMs: 2 * TEN_MINUTES,
    ...options,
    visit: (url, signal) =>
      new Promise((resolve, reject) => {
        pages.push(url);
        signals.push(signal);
        waiting.push(() => {
          fetch(url, { redirect: "manual" }).then(({ headers }) => resolve(headers.get("location") ?? ""), reject);
        });
      }),
  });
  return { login, pages, signals, comeBack: () => waiting.shift()?.() };
}

/** Lets the clock go on and real requests be answered until `state` holds. */
async function passing(clock: FakeClock, ms: number, state: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !state(); turn++) {
    await clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(state()).toBe(true);
}

async function connected(target: ClientTarget, options: ClientOptions) {
  const client = await connect(target.url, options);
  onTestFinished(() => client.close());
  return client;
}

/** A server that answers the tool only to tokens that a user has agreed to twice. */
const wantsMore = () =>
  ClientTarget.start({
    challenge: ({ headers }) =>
      headers.authorization === undefined ? "Bearer" : 'Bearer error="insufficient_scope", scope="more"',
  });

describe.each(ERAS)("the time that a user takes to log in, %s", (revision) => {
  it("does not count against the deadline of `connect`, which counts again afterwards", async () => {
    const target = await ClientTarget.start();
    const [clock, user] = [fakeClock(), slowUser()];
    const auth = oauth({ login: user.login });
    const opening = connected(target, { revisions: [revision], auth, platform: clock.platform });
    await expect.poll(() => user.pages.length).toBe(1);
    await clock.advance(TEN_MINUTES);
    let isHung = false;
    target.behaviour.intercept = ({ headers }) => {
      isHung = headers.authorization !== undefined;
      return isHung;
    };
    user.comeBack();
    await expect.poll(() => isHung).toBe(true);
    await clock.advance(29_000);
    delete target.behaviour.intercept;
    const failed = opening.catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await failed).toMatchObject({ kind: "timeout", data: { deadline: "connect" } });
    // The login itself succeeded, and nobody is asked again.
    const client = await connected(target, { revisions: [revision], auth, platform: clock.platform });
    expect(await client.call("who")).toBe("ada");
    expect(user.pages).toHaveLength(1);
  });

  it("does not end the connection", async () => {
    const target = await ClientTarget.start();
    const [clock, user] = [fakeClock(), slowUser()];
    const auth = oauth({ login: user.login });
    const options = { revisions: [revision], auth, platform: clock.platform };
    const both = [connected(target, options), connected(target, options)];
    await expect.poll(() => user.pages.length).toBe(1);
    await clock.advance(TEN_MINUTES);
    user.comeBack();
    for (const client of await Promise.all(both)) expect(await client.call("who")).toBe("ada");
    expect(user.pages).toHaveLength(1);
  });

  it("does not end the call that needs it, nor spare one that does not", async () => {
    const target = await wantsMore();
    const [clock, user] = [fakeClock(), slowUser()];
    const auth = oauth({ login: user.login });
    const opening = connected(target, { revisions: [revision], auth, platform: clock.platform });
    await expect.poll(() => user.pages.length).toBe(1);
    user.comeBack();
    const client = await opening;
    const hung: ServerResponse[] = [];
    let isHanging = true;
    target.behaviour.intercept = (request, response) => {
      if (request.method !== "POST" || !isHanging) return false;
      hung.push(response);
      return true;
    };
    const silent = client.call("who").catch((error: unknown) => error);
    await expect.poll(() => hung.length).toBe(1);
    isHanging = false;
    const tokens = new Set<string | undefined>();
    target.behaviour.admit = (authorization) => {
      tokens.add(authorization);
      return tokens.size === 1 ? 403 : 200;
    };
    const call = client.call("who");
    await expect.poll(() => user.pages.length).toBe(2);
    expect(user.pages[1]?.searchParams.get("scope")).toBe("more");
    await clock.advance(TEN_MINUTES);
    expect(await silent).toMatchObject({ kind: "timeout", data: { deadline: "idle" } });
    user.comeBack();
    expect(await call).toBe("ada");
  });

  it("is bounded by the login's own limit", async () => {
    const target = await ClientTarget.start();
    const [clock, user] = [fakeClock(), slowUser({ timeoutMs: 45_000 })];
    const opening = connected(target, {
      revisions: [revision],
      auth: oauth({ login: user.login }),
      platform: clock.platform,
    }).catch((error: unknown) => error);
    await expect.poll(() => user.pages.length).toBe(1);
    await clock.advance(45_000);
    expect(await opening).toMatchObject({
      kind: "authorization_failed",
      message: expect.stringContaining("the user did not log in within 45 s"),
      fix: expect.stringContaining("`timeoutMs`"),
    });
  });

  it("does not count while a device code is typed, nor while another process has its turn", async () => {
    let polls = 0;
    const target = await ClientTarget.start(
      {},
      {
        intercept({ path }, response) {
          if (path !== "/device" && path !== "/token") return false;
          const code = {
            device_code: "d",
            user_code: "ABCD",
            verification_uri: "https://as.example/d",
            expires_in: 3_000,
          };
          const isPending = path === "/token" && ++polls < 100;
          const token = isPending ? { error: "authorization_pending" } : { access_token: "good", token_type: "Bearer" };
          response.writeHead(isPending ? 400 : 200, { "content-type": "application/json" });
          response.end(JSON.stringify(path === "/device" ? code : token));
          return true;
        },
      },
    );
    target.issuer.behaviour.metadata = { device_authorization_endpoint: `${target.issuer.origin}/device` };
    const clock = fakeClock();
    let free = () => {};
    let isWaiting = false;
    const turn = new Promise<void>((resolve) => {
      free = resolve;
    });
    const store = {
      ...memoryTokenStore(),
      async lock<T>(_key: string, work: () => Promise<T>) {
        isWaiting = true;
        await turn;
        return work();
      },
    };
    const auth = oauth({ login: deviceLogin(() => {}), store });
    let client: unknown;
    connected(target, { revisions: [revision], auth, platform: clock.platform }).then(
      (value) => (client = value),
      (error) => (client = error),
    );
    await expect.poll(() => isWaiting).toBe(true);
    await clock.advance(TEN_MINUTES);
    free();
    await expect.poll(() => target.issuer.to("/device").length).toBe(1);
    await passing(clock, 5_000, () => client !== undefined);
    expect(McpError.is(client)).toBe(false);
    expect(polls).toBe(100);
  });
});

it("the time of another process's turn counts for a grant, which waits for no user", async () => {
  const target = await ClientTarget.start();
  const clock = fakeClock();
  let isWaiting = false;
  const store = {
    ...memoryTokenStore(),
    lock<T>(_key: string, _work: () => Promise<T>, signal?: AbortSignal) {
      isWaiting = true;
      return new Promise<T>((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    },
  };
  const grant = clientCredentials({ clientId: "robot", clientSecret: "s3cret" });
  const auth = oauth({ grant, store });
  const opening = connected(target, { auth, platform: clock.platform }).catch((error: unknown) => error);
  await expect.poll(() => isWaiting).toBe(true);
  await clock.advance(30_000);
  expect(await opening).toMatchObject({ kind: "timeout", data: { deadline: "connect" } });
});

it("the time of a login does not count while the notification that ends a handshake waits for it", async () => {
  let posts = 0;
  const target = await ClientTarget.start({
    // The handshake is open to all, and nothing else is.
    admit: (authorization, { method }) =>
      authorization !== undefined || (method === "POST" && ++posts === 1) ? 200 : 401,
  });
  const [clock, user] = [fakeClock(), slowUser()];
  const auth = oauth({ login: user.login });
  const opening = connected(target, { revisions: ["2025-11-25"], auth, platform: clock.platform });
  await expect.poll(() => user.pages.length).toBe(1);
  await clock.advance(TEN_MINUTES);
  user.comeBack();
  expect(await (await opening).call("who")).toBe("ada");
});

it("the time of a login does not count while a subscription is begun", async () => {
  const target = await ClientTarget.start();
  const [clock, user] = [fakeClock(), slowUser()];
  const auth = oauth({ login: user.login });
  const opening = connected(target, { revisions: ["2026-07-28"], auth, platform: clock.platform });
  await expect.poll(() => user.pages.length).toBe(1);
  user.comeBack();
  const client = await opening;
  const old = target.requests.at(-1)?.headers.authorization;
  target.behaviour.admit = (authorization) => (authorization === undefined || authorization === old ? 401 : 200);
  const subscribing = client.subscribe({ tools: true });
  await expect.poll(() => user.pages.length).toBe(2);
  await clock.advance(TEN_MINUTES);
  user.comeBack();
  await (await subscribing).close();
});

it("the time of a login does not end the start of a server of a host", async () => {
  const target = await ClientTarget.start();
  const [clock, user] = [fakeClock(), slowUser()];
  const auth = oauth({ login: user.login });
  const starting = startHost({
    servers: { shop: { url: target.url } },
    auth: () => auth,
    platform: clock.platform,
    startWaitMs: 2 * TEN_MINUTES,
  });
  await expect.poll(() => user.pages.length).toBe(1);
  await clock.advance(TEN_MINUTES);
  user.comeBack();
  const host = await starting;
  onTestFinished(() => host.close());
  expect(host.status()["shop"]).toMatchObject({ state: "ready" });
  expect(user.pages).toHaveLength(1);
});
