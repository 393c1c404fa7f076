import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KeyValue } from "../../src/storage/storage.js";
import { CANARY, ORIGIN, ProxyUnderAttack, SECRET, type Tokens, VERIFIER } from "./proxy-under-attack.js";

let proxy: ProxyUnderAttack;
let [client, other] = ["", ""];
beforeAll(async () => {
  proxy = await ProxyUnderAttack.start();
  client = await proxy.register();
  other = await proxy.register();
});
afterAll(() => proxy.close());

const errorOf = async (response: Response) => ((await response.json()) as { error?: string }).error;

describe("a code", () => {
  it.each<[what: string, form: () => Record<string, string | undefined>, error: string]>([
    ["of another client", () => ({ client_id: other }), "invalid_grant"],
    ["without a client", () => ({ client_id: undefined }), "invalid_grant"],
    ["with a wrong verifier", () => ({ code_verifier: "w".repeat(43) }), "invalid_grant"],
    ["without a verifier", () => ({ code_verifier: undefined }), "invalid_grant"],
    ["with a verifier that is too short", () => ({ code_verifier: "v".repeat(42) }), "invalid_grant"],
    ["with another redirect address", () => ({ redirect_uri: "http://127.0.0.1:2/callback" }), "invalid_grant"],
    ["without the redirect address", () => ({ redirect_uri: undefined }), "invalid_grant"],
    ["for another resource", () => ({ resource: "https://other.example/mcp" }), "invalid_target"],
    ["that was made up", () => ({ code: "made-up" }), "invalid_grant"],
    ["by another grant", () => ({ grant_type: "password" }), "unsupported_grant_type"],
  ])("%s gives no token", async (_what, form, error) => {
    const code = await proxy.code(client);
    const response = await proxy.token({ code, client_id: client, code_verifier: VERIFIER, ...form() });
    expect([response.status, await errorOf(response)]).toEqual([400, error]);
  });

  it("that was tried with a wrong verifier cannot be tried again", async () => {
    const code = await proxy.code(client);
    await proxy.token({ code, client_id: client, code_verifier: "w".repeat(43) });
    const response = await proxy.token({ code, client_id: client, code_verifier: VERIFIER });
    expect(await errorOf(response)).toBe("invalid_grant");
  });

  it("that comes twice ends what it gave, at once", async () => {
    const code = await proxy.code(client);
    const form = { code, client_id: client, code_verifier: VERIFIER };
    const tokens = (await (await proxy.token(form)).json()) as { access_token: string; refresh_token: string };
    expect(await proxy.status(tokens.access_token)).toBe(200);
    expect(await errorOf(await proxy.token(form))).toBe("invalid_grant");
    expect(await proxy.status(tokens.access_token)).toBe(401);
    expect((await proxy.refresh(client, tokens.refresh_token)).status).toBe(400);
  });

  it("lasts a minute", async () => {
    const code = await proxy.code(client);
    proxy.clock += 60_001;
    const response = await proxy.token({ code, client_id: client, code_verifier: VERIFIER });
    expect(await errorOf(response)).toBe("invalid_grant");
  });

  it("with a parameter twice is refused, because two readers could take different ones", async () => {
    const form = new URLSearchParams({ grant_type: "authorization_code", code: await proxy.code(client) });
    form.append("resource", `${ORIGIN}/mcp`);
    form.append("resource", "https://other.example/mcp");
    const response = await proxy.send("POST", "/oauth/token", { form });
    expect(await errorOf(response)).toBe("invalid_request");
  });
});

describe("a refresh token", () => {
  it("that comes again after a minute ends the grant", async () => {
    const { refresh_token: first } = await proxy.login(client);
    const next = (await (await proxy.refresh(client, first)).json()) as { access_token: string; refresh_token: string };
    proxy.clock += 60_000;
    expect((await proxy.refresh(client, first)).status).toBe(400);
    expect((await proxy.refresh(client, next.refresh_token)).status).toBe(400);
    expect(await proxy.status(next.access_token)).toBe(401);
  });

  it("of another client is refused, and stays good for its own", async () => {
    const { refresh_token: token } = await proxy.login(client);
    expect((await proxy.refresh(other, token)).status).toBe(400);
    expect((await proxy.refresh(client, token)).status).toBe(200);
  });

  it.each<[what: string, token: (tokens: { access_token: string; refresh_token: string }) => string]>([
    ["an access token", ({ access_token }) => access_token],
    ["a changed one", ({ refresh_token }) => `${refresh_token.slice(0, -3)}AAA`],
    ["a client id", () => client],
    ["none", () => ""],
  ])("cannot be %s", async (_what, token) => {
    const tokens = await proxy.login(client);
    expect(await errorOf(await proxy.refresh(client, token(tokens)))).toBe("invalid_grant");
  });

  it("that was replaced twice ends the grant at once", async () => {
    const { refresh_token: first } = await proxy.login(client);
    const second = (await (await proxy.refresh(client, first)).json()) as Tokens;
    const third = (await (await proxy.refresh(client, second.refresh_token)).json()) as Tokens;
    expect((await proxy.refresh(client, first)).status).toBe(400);
    expect(await proxy.status(third.access_token)).toBe(401);
    expect((await proxy.refresh(client, third.refresh_token)).status).toBe(400);
  });

  it("whose reply was lost gives the same again within a minute", async () => {
    const { refresh_token: first } = await proxy.login(client);
    await proxy.refresh(client, first);
    proxy.clock += 59_999;
    const again = (await (await proxy.refresh(client, first)).json()) as Tokens;
    expect(await proxy.status(again.access_token)).toBe(200);
    expect((await proxy.refresh(client, again.refresh_token)).status).toBe(200);
  });

  it("that a client sends thirty times at once, to two nodes, is replaced once, and the login goes on", async () => {
    const second = proxy.addNode();
    for (let round = 0; round < 5; round++) {
      const { refresh_token: token } = await proxy.login(client);
      const replies = await Promise.all(
        Array.from({ length: 30 }, (_, at) => proxy.refresh(client, token, at % 2 === 0 ? 0 : second)),
      );
      const all = (await Promise.all(replies.map((reply) => reply.json()))) as Tokens[];
      for (const { access_token: access } of all) expect(await proxy.status(access)).toBe(200);
      // All of them hold the one token that is good now: it is used once, and the others are old a minute later.
      expect((await proxy.refresh(client, all[0]?.refresh_token ?? "")).status).toBe(200);
      proxy.clock += 60_000;
      expect((await proxy.refresh(client, all[1]?.refresh_token ?? "")).status).toBe(400);
      expect(await proxy.status(all[0]?.access_token ?? "")).toBe(401);
    }
  });
});

it("a change of the grant by another node in the same moment ends nothing", async () => {
  const { kv } = proxy.storage;
  let isFirst = true;
  const busy: KeyValue = {
    get: (key) => kv.get(key),
    delete: (key) => kv.delete(key),
    touch: (key, ttlMs) => kv.touch(key, ttlMs),
    async set(key, value, options) {
      const held = await kv.get(key);
      if (isFirst && held !== undefined) {
        isFirst = false;
        await kv.set(key, held.value, { ttlMs: 600_000 });
      }
      return kv.set(key, value, options);
    },
  };
  const node = proxy.addNode({ storage: { ...proxy.storage, kv: busy } });
  const tokens = await proxy.login(client);
  const response = await proxy.refresh(client, tokens.refresh_token, node);
  expect([isFirst, response.status]).toEqual([false, 200]);
});

describe("AUTHS-04, AUTHS-10, AUTHS-11: an access token", () => {
  it("is good for this server until its end", async () => {
    const { access_token: token } = await proxy.login(client);
    expect(await proxy.status(token)).toBe(200);
    proxy.clock += 3_600_001;
    expect(await proxy.status(token)).toBe(401);
  });

  it.each<[what: string, options: { secret?: string; resource?: string }]>([
    ["of another resource", { resource: `${ORIGIN}/other` }],
    ["of a proxy with another secret", { secret: "another secret, of more than thirty-two characters" }],
  ])("%s is refused", async (_what, options) => {
    const node = proxy.addNode(options);
    const { access_token: token } = await proxy.login(client);
    const path = options.resource === undefined ? "/mcp" : "/other";
    const json = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await proxy.send("POST", path, { bearer: token, json }, node)).status).toBe(401);
  });

  it.each<[what: string, token: (tokens: { access_token: string; refresh_token: string }) => string]>([
    ["a changed one", ({ access_token }) => `${access_token.slice(0, -3)}AAA`],
    ["a refresh token", ({ refresh_token }) => refresh_token],
    ["a client id", () => client],
    ["the provider's own", () => `${CANARY}-access`],
  ])("cannot be %s", async (_what, token) => {
    expect(await proxy.status(token(await proxy.login(client)))).toBe(401);
  });

  it.each(["access_token", "refresh_token"] as const)("ends at once when the %s is revoked", async (which) => {
    const tokens = await proxy.login(client);
    expect(await proxy.status(tokens.access_token)).toBe(200);
    const revoke = (id: string) =>
      proxy.send("POST", "/oauth/revoke", { form: { token: tokens[which], client_id: id } });
    expect((await revoke(other)).status).toBe(200);
    expect(await proxy.status(tokens.access_token)).toBe(200);
    expect((await revoke(client)).status).toBe(200);
    expect(await proxy.status(tokens.access_token)).toBe(401);
  });
});

describe("several nodes and secrets", () => {
  it("one login can go over two nodes, a step on each", async () => {
    const second = proxy.addNode();
    const asked = await proxy.asked(client, {}, second);
    const callback = await proxy.atProvider(await proxy.consent(asked, {}, 0));
    const back = await proxy.send("GET", callback, { cookie: asked.cookie }, second);
    const code = new URL(back.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const response = await proxy.token({ code, client_id: client, code_verifier: VERIFIER }, 0);
    const { access_token: token } = (await response.json()) as { access_token: string };
    expect(await proxy.status(token, second)).toBe(200);
  });

  it("a secret can be replaced: what the old one sealed stays good while it is listed", async () => {
    const fresh = "the second secret, of more than thirty-two characters";
    const both = proxy.addNode({ secret: [fresh, SECRET] });
    const alone = proxy.addNode({ secret: fresh });
    const tokens = await proxy.login(client);
    expect(await proxy.status(tokens.access_token, both)).toBe(200);
    expect(await proxy.status(tokens.access_token, alone)).toBe(401);
    const renewed = await proxy.refresh(client, tokens.refresh_token, both);
    const { access_token: token } = (await renewed.json()) as { access_token: string };
    expect(await proxy.status(token, alone)).toBe(200);
    expect(await proxy.status(token, 0)).toBe(401);
  });
});

describe("the provider's token", () => {
  it("is renewed once for all calls that need it, beside a client that renews its own", async () => {
    for (let round = 0; round < 5; round++) {
      const tokens = await proxy.login(client);
      const caller = await proxy.caller(tokens.access_token);
      const ask = () => proxy.proxies[0]?.upstreamToken(caller);
      const before = await ask();
      proxy.clock += 601_000;
      const asked = proxy.provider.to("/token").length;
      const renewed = proxy.refresh(client, tokens.refresh_token);
      const got = new Set(await Promise.all([ask(), ask(), ask(), ask()]));
      expect((await renewed).status).toBe(200);
      expect(proxy.provider.to("/token").length - asked).toBe(1);
      expect(got.size).toBe(1);
      expect(got.has(before)).toBe(false);
      expect(got).toEqual(new Set([await ask()]));
    }
  });

  it("is not given for a grant that has ended", async () => {
    const tokens = await proxy.login(client);
    const caller = await proxy.caller(tokens.access_token);
    await proxy.send("POST", "/oauth/revoke", { form: { token: tokens.access_token, client_id: client } });
    expect(await proxy.proxies[0]?.upstreamToken(caller)).toBeUndefined();
  });
});

describe("registration", () => {
  it.each<[what: string, metadata: unknown]>([
    ["no address", { client_name: "x" }],
    ["an empty list", { redirect_uris: [] }],
    ["a list of other things", { redirect_uris: [1] }],
    ["eleven addresses", { redirect_uris: Array.from({ length: 11 }, (_, n) => `https://app.example/${n}`) }],
    ["a script", { redirect_uris: ["javascript:alert(1)"] }],
    ["data", { redirect_uris: ["data:text/html,x"] }],
    ["a file", { redirect_uris: ["file:///etc/passwd"] }],
    ["http beyond this machine", { redirect_uris: ["http://app.example/callback"] }],
    ["a user name", { redirect_uris: ["https://a:b@app.example/callback"] }],
    ["a fragment", { redirect_uris: ["https://app.example/callback#x"] }],
    ["a line break", { redirect_uris: ["https://app.example/call\nback"] }],
    [
      "addresses too long for an id",
      { redirect_uris: [1, 2, 3].map((n) => `https://app.example/${n}${"x".repeat(1_900)}`) },
    ],
    ["a body that is too large", { redirect_uris: ["https://app.example/"], more: "x".repeat(20_000) }],
    ["a list", []],
    ["null", null],
  ])("of %s is refused", async (_what, metadata) => {
    const response = await proxy.send("POST", "/oauth/register", { json: metadata });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatch(/^invalid_(redirect_uri|client_metadata)$/);
  });

  it("of what is not JSON is refused", async () => {
    expect((await proxy.send("POST", "/oauth/register", { form: { redirect_uris: "x" } })).status).toBe(400);
  });

  it("holds clients to the addresses that the operator allows", async () => {
    const node = proxy.addNode({ allowRedirect: (uri) => uri.startsWith("https://app.example/") });
    const status = async (uri: string) =>
      (await proxy.send("POST", "/oauth/register", { json: { redirect_uris: [uri] } }, node)).status;
    expect(await status("https://app.example/callback")).toBe(201);
    expect(await status("https://evil.example/callback")).toBe(400);
  });

  it("SEC-14: ten thousand times leaves nothing behind", async () => {
    const before = proxy.storage.usage();
    for (let count = 0; count < 10_000; count++) await proxy.register();
    expect(proxy.storage.usage()).toEqual(before);
  });
});

describe("pages of other origins", () => {
  it.each([["/oauth/register"], ["/oauth/token"], ["/oauth/revoke"], ["/.well-known/oauth-authorization-server"]])(
    "may use %s",
    async (path) => {
      const { headers } = await proxy.send("OPTIONS", path, { origin: "https://app.example" });
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    },
  );

  it.each([["/oauth/authorize"], ["/oauth/consent"], ["/oauth/callback"]])("may not use %s", async (path) => {
    for (const method of ["OPTIONS", "GET", "POST"]) {
      const { headers } = await proxy.send(method, path, { origin: "https://app.example" });
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

it("SEC-15, AUTHS-10: no token or secret of the provider is in any answer, header or line of the log", () => {
  expect(proxy.out.length).toBeGreaterThan(100);
  expect(proxy.out.filter((text) => text.includes(CANARY))).toEqual([]);
});
