import { oauthProxy } from "@parley/mcp/auth";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.js";
import { ProxyUnderAttack, SECRET, VERIFIER } from "./proxy-under-attack.js";

const BANK = { resource: "https://bank.example/mcp" };
const AT_BANK = { resource: BANK.resource };

let proxy: ProxyUnderAttack;
let bank = 0;
let client = "";
beforeAll(async () => {
  proxy = await ProxyUnderAttack.start();
  // The same secret and the same storage, for another resource.
  bank = proxy.addNode(BANK);
  client = await proxy.register();
});
afterAll(() => proxy.close());

const errorOf = async (response: Response) => ((await response.json()) as { error?: string }).error;

describe("RFC 8707: two proxies with one secret and one storage, for two resources", () => {
  it("a code of one gives no token at the other, and stays good", async () => {
    const code = await proxy.code(client);
    const form = { code, client_id: client, code_verifier: VERIFIER };
    expect(await errorOf(await proxy.token(form, bank))).toBe("invalid_grant");
    expect((await proxy.token(form)).status).toBe(200);
  });

  it("a refresh token of one gives no token at the other, and stays good", async () => {
    const { refresh_token: token } = await proxy.login(client);
    expect(await errorOf(await proxy.refresh(client, token, bank))).toBe("invalid_grant");
    expect((await proxy.refresh(client, token)).status).toBe(200);
  });

  it("consent that was given to one is none for the other", async () => {
    const asked = await proxy.asked(client);
    expect((await proxy.consent(asked, {}, bank)).status).toBe(400);
    expect((await proxy.consent(asked)).status).toBe(303);
  });

  it("a login that was begun at one is not finished at the other", async () => {
    const asked = await proxy.asked(client);
    const callback = await proxy.atProvider(await proxy.consent(asked));
    expect((await proxy.send("GET", callback, { cookie: asked.cookie }, bank)).status).toBe(400);
  });

  it("an access token of one is refused by the other, and cannot be revoked there", async () => {
    const { access_token: token } = await proxy.login(client);
    expect(await proxy.status(token, bank)).toBe(401);
    await proxy.send("POST", "/oauth/revoke", { form: { token, client_id: client } }, bank);
    expect(await proxy.status(token)).toBe(200);
  });

  it("each serves the clients that logged in at it", async () => {
    const { access_token: token } = await proxy.login(client, AT_BANK, bank);
    expect(await proxy.status(token, bank)).toBe(200);
    expect(await proxy.status(token)).toBe(401);
  });
});

describe("strangers who begin logins", () => {
  it("and deny them leave nothing in the storage", async () => {
    const before = proxy.storage.usage();
    for (let count = 0; count < 300; count++) {
      const asked = await proxy.asked(client);
      await proxy.consent(asked, { form: { request: asked.request, answer: "deny" } });
    }
    expect(proxy.storage.usage()).toEqual(before);
  });

  it("and allow them, and make up answers of the provider, cannot stop the logins of others", async () => {
    const storage = createMemoryStorage({ clock: { now: () => proxy.clock }, limits: { maxKeys: 300 } });
    const node = proxy.addNode({ storage });
    const marks = async () => storage.usage().keys;
    for (let count = 0; count < 1_000; count++) {
      const asked = await proxy.asked(client, {}, node);
      const location = (await proxy.consent(asked, {}, node)).headers.get("location") ?? "";
      const state = new URL(location).searchParams.get("state") ?? "";
      const path = `/oauth/callback?${new URLSearchParams({ code: "made-up", state })}`;
      expect((await proxy.send("GET", path, { cookie: asked.cookie }, node)).status).toBe(303);
    }
    expect(await marks()).toBeLessThanOrEqual(256);
    expect(await proxy.status((await proxy.login(client, {}, node)).access_token, node)).toBe(200);
  });

  it("of thirty answers to one question at once, over two nodes, one goes on to the provider", async () => {
    const second = proxy.addNode();
    for (let round = 0; round < 5; round++) {
      const asked = await proxy.asked(client);
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, at) => proxy.consent(asked, {}, at % 2 === 0 ? 0 : second)),
      );
      expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    }
  });

  it("of twenty answers of the provider at once, over two nodes, one gives a code", async () => {
    const second = proxy.addNode();
    const asked = await proxy.asked(client);
    const callback = await proxy.atProvider(await proxy.consent(asked));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        proxy.send("GET", callback, { cookie: asked.cookie }, at % 2 === 0 ? 0 : second),
      ),
    );
    expect(answers.filter(({ headers }) => headers.get("location")?.includes("code=") === true)).toHaveLength(1);
  });
});

describe("one browser with two tabs", () => {
  it("finishes both logins, whichever began first", async () => {
    const [first, second] = [await proxy.asked(client), await proxy.asked(client)];
    const cookie = `${first.cookie}; ${second.cookie}`;
    expect(first.cookie.split("=", 1)).not.toEqual(second.cookie.split("=", 1));
    for (const { request } of [first, second]) {
      const callback = await proxy.atProvider(await proxy.consent({ cookie, request }));
      const back = await proxy.send("GET", callback, { cookie });
      expect(back.headers.get("location")).toContain("code=");
      // The cookie of the other tab stays.
      expect(back.headers.get("set-cookie")).toMatch(/^__Host-parley-login-[\w-]{8}=; .*Max-Age=0/);
    }
  });
});

it("the longest login page of the provider fits into 8,000 characters", async () => {
  const uris = [1, 2].map((n) => `https://app.example/${n}${"x".repeat(1_950)}`);
  const response = await proxy.send("POST", "/oauth/register", {
    json: { redirect_uris: uris, client_name: "n".repeat(100) },
  });
  const { client_id: id } = (await response.json()) as { client_id: string };
  const asked = await proxy.asked(id, { redirect_uri: uris[0] ?? "", state: "s".repeat(2_048) });
  const location = (await proxy.consent(asked)).headers.get("location") ?? "";
  expect(location).toContain("state=");
  expect(location.length).toBeLessThan(8_000);
});

it.each([
  ["no secret", []],
  ["a short one beside a long one", [SECRET, "short"]],
])("the option `secret` with %s is refused", (_what, secret) => {
  const upstream = { issuer: "https://issuer.example", client: { clientId: "app" } };
  expect(() => oauthProxy({ resource: BANK.resource, secret, upstream })).toThrow(/needs at least 32|is an empty list/);
});
