import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StorageError, StorageFailure } from "../../src/storage/storage.js";
import { type Asked, ProxyUnderAttack, VERIFIER } from "./proxy-under-attack.js";

let proxy: ProxyUnderAttack;
let client = "";
let failure: Error | undefined;
let node = 0;
beforeAll(async () => {
  proxy = await ProxyUnderAttack.start();
  node = proxy.addNode({ storage: proxy.seenStorage(() => failure && Promise.reject(failure)) });
  client = await proxy.register();
});
afterAll(() => proxy.close());

/** Sends a request while the storage is out of order. */
async function during(error: Error, send: () => Promise<Response>): Promise<Response> {
  failure = error;
  try {
    return await send();
  } finally {
    failure = undefined;
  }
}

describe.each<[what: string, error: Error]>([
  ["away", new StorageFailure("unavailable", "The store is away.", "Start it.")],
  ["full", new StorageError("maxKeys", 5, "Raise it.")],
])("while the storage is %s", (_what, error) => {
  it("the token endpoint answers 503 with Retry-After and an error as RFC 6749 has it", async () => {
    const code = await proxy.code(client);
    const { refresh_token: token } = await proxy.login(client);
    const form = { code, client_id: client, code_verifier: VERIFIER };
    for (const send of [() => proxy.token(form, node), () => proxy.refresh(client, token, node)]) {
      const response = await during(error, send);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      expect(await response.json()).toEqual({
        error: "temporarily_unavailable",
        error_description: "the server cannot answer now",
      });
    }
    // Nothing is lost: both are good when the storage is back.
    expect((await proxy.token(form, node)).status).toBe(200);
    expect((await proxy.refresh(client, token, node)).status).toBe(200);
  });

  it("revocation answers 503, because the token still works", async () => {
    const { access_token: token } = await proxy.login(client);
    const form = { token, client_id: client };
    const response = await during(error, () => proxy.send("POST", "/oauth/revoke", { form }, node));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.json()).toMatchObject({ error: "temporarily_unavailable" });
    expect(await proxy.status(token)).toBe(200);
  });

  it("users read that they can try again, and can", async () => {
    const asked: Asked = await proxy.asked(client, {}, node);
    const refused = await during(error, () => proxy.consent(asked, {}, node));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(refused.headers.get("content-type")).toContain("text/html");
    expect(await refused.text()).toContain("Try again soon");
    const callback = await proxy.atProvider(await proxy.consent(asked, {}, node));
    const back = await during(error, () => proxy.send("GET", callback, { cookie: asked.cookie }, node));
    expect(back.status).toBe(503);
    expect((await proxy.send("GET", callback, { cookie: asked.cookie }, node)).status).toBe(303);
  });
});

it("a storage that fails after the provider's login ends it with temporarily_unavailable", async () => {
  const asked = await proxy.asked(client, {}, node);
  const callback = await proxy.atProvider(await proxy.consent(asked, {}, node));
  const away = new StorageFailure("unavailable", "The store is away.", "Start it.");
  const late = proxy.addNode({
    storage: proxy.storage,
    identify: () => {
      throw away;
    },
  });
  const back = await proxy.send("GET", callback, { cookie: asked.cookie }, late);
  expect(new URL(back.headers.get("location") ?? "").searchParams.get("error")).toBe("temporarily_unavailable");
});

it("the operator reads why once a minute, however many requests fail", () => {
  expect(proxy.out.filter((line) => line.includes("could not be answered"))).toHaveLength(1);
});
