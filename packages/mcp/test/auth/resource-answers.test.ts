import { Server } from "@parley/mcp";
import { type ResourceServerOptions, resourceServer } from "@parley/mcp/auth";
import { describe, expect, it } from "vitest";
import { forge, ISSUER, message, RESOURCE, TestResource, told } from "./resource-fixture.js";

const METADATA = "https://shop.example/.well-known/oauth-protected-resource/mcp";
const good = forge();

describe("how a token is sent, hardening 6.1.6", () => {
  const resource = new TestResource();

  it.each([
    ["bearer", `bearer ${good}`, 200],
    ["BEARER", `BEARER ${good}`, 200],
    ["two spaces", `Bearer  ${good}`, 200],
    ["no scheme", good, 401],
    ["no token", "Bearer", 400],
    ["an empty token", "Bearer ", 400],
    ["two words", `Bearer ${good} ${good}`, 400],
    ["two tokens with a comma", `Bearer ${good}, Bearer ${good}`, 400],
    ["another scheme", "Basic YTpi", 401],
    ["a scheme of other services", `Token ${good}`, 401],
    ["another scheme that begins alike", `Bearerx ${good}`, 401],
    ["quotes", `Bearer "${good}"`, 400],
    ["an empty header", "", 401],
  ])("AUTHS-05: %s", async (_name, header, status) => {
    const seen = await resource.ask(header);
    expect(seen.status).toBe(status);
    // RFC 6750, 3: without credentials that are supported there is no error to name, and only 401 begins a login.
    if (status === 401) expect(seen.challenge).toBe(`Bearer resource_metadata="${METADATA}"`);
    if (status === 400) expect(seen.challenge).toBe(`Bearer error="invalid_request", resource_metadata="${METADATA}"`);
  });

  it("AUTHS-05: a token in the address is refused, alone and beside a good one", async () => {
    for (const headers of [{}, { authorization: `Bearer ${good}` }]) {
      const seen = await resource.send({ url: `${RESOURCE}?a=1&access_token=${good}`, method: "POST", headers });
      expect([seen.status, seen.body.includes(good)]).toEqual([400, false]);
    }
  });

  it("AUTHS-02: a request without one learns where to get one, and nothing else", async () => {
    const { status, challenge, body } = await resource.ask(undefined);
    expect([status, challenge]).toEqual([401, `Bearer resource_metadata="${METADATA}"`]);
    expect(body).toBe('{"jsonrpc":"2.0","error":{"code":-32600,"message":"a token is needed"}}');
  });

  it("hardening 6.1.12: of a body of 4 MiB without a token, next to nothing is read", async () => {
    let read = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        read += 16_384;
        controller.enqueue(new Uint8Array(16_384));
        if (read >= 4 * 1024 * 1024) controller.close();
      },
    });
    const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
    expect((await resource.send(init)).status).toBe(401);
    expect(read).toBeLessThanOrEqual(64 * 1024);
  });
});

describe("scopes in challenges", () => {
  it("AUTHS-03, AUTHS-09: those of every request, never offline_access, and none that could end the header", async () => {
    const scopes = ["read", "offline_access", 'a"b', "c\r\nx: y", "d e", "ü", "back\\slash", "write"];
    const { challenge } = await new TestResource({ scopes }).ask(undefined);
    expect(challenge).toBe(`Bearer scope="read write", resource_metadata="${METADATA}"`);
  });

  it("AUTHS-06, AUTHS-07: all of an operation at once, also what every request needs", async () => {
    const server = new Server({ name: "s", version: "1" }).tool("who", { scopes: ["buy", "pay"] }, () => "");
    const resource = new TestResource({ scopes: ["read"] }, server);
    const lacking = await resource.bearer(good);
    expect(lacking.status).toBe(403);
    expect(lacking.challenge).toBe(
      `Bearer error="insufficient_scope", error_description="the token lacks a scope", scope="read", resource_metadata="${METADATA}"`,
    );
    const partly = await resource.bearer(forge({ payload: { scope: "read pay" } }));
    expect(partly.status).toBe(403);
    expect(partly.challenge).toContain('error="insufficient_scope"');
    expect(partly.challenge).toContain('scope="read buy pay"');
    expect((await resource.bearer(forge({ payload: { scp: ["read", "buy", "pay"] } }))).status).toBe(200);
  });

  it("AUTHS-08: a scope may contain others, which may contain others, also in a circle", async () => {
    const impliedScopes = { admin: ["write"], write: ["read"], read: ["admin"], constructor: ["x"] };
    const resource = new TestResource({ scopes: ["read"], impliedScopes });
    const seen = await resource.bearer(forge({ payload: { scope: "admin" } }));
    expect(told(seen)["scopes"]).toEqual(["admin", "write", "read"]);
    expect((await resource.bearer(forge({ payload: { scope: "__proto__ toString reader" } }))).status).toBe(403);
  });
});

/** Offers of each kind that need a scope, and the requests for them. */
const OFFERS = new Server({ name: "s", version: "1" })
  .tool("who", { scopes: ["t:1", "t:2"] }, () => "")
  .resource("shop://one", { scopes: ["r:1", "r:2"] }, () => "one")
  .resourceTemplate("shop://of/{id}", { scopes: ["m:1", "m:2"], complete: { id: ["a"] } }, () => "of")
  .prompt("greet", { scopes: ["p:1", "p:2"], arguments: { who: { complete: ["ann"] } } }, () => "hello");
const completion = (ref: object, name: string) => ({ ref, argument: { name, value: "" } });

describe("scopes of single offers", () => {
  const resource = new TestResource({}, OFFERS);

  it.each([
    ["a tool", message("tools/call", { name: "who", arguments: {} }), "t:1 t:2"],
    ["a resource", message("resources/read", { uri: "shop://one" }), "r:1 r:2"],
    ["a resource of a template", message("resources/read", { uri: "shop://of/1" }), "m:1 m:2"],
    ["a prompt", message("prompts/get", { name: "greet" }), "p:1 p:2"],
    [
      "the completion of a prompt",
      message("completion/complete", completion({ type: "ref/prompt", name: "greet" }, "who")),
      "p:1 p:2",
    ],
    [
      "the completion of a template",
      message("completion/complete", completion({ type: "ref/resource", uri: "shop://of/{id}" }, "id")),
      "m:1 m:2",
    ],
    [
      "a subscription",
      message("subscriptions/listen", { notifications: { resourceSubscriptions: ["shop://one"] } }),
      "r:1 r:2",
    ],
  ])("AUTHS-06, AUTHS-07: %s needs all of its own", async (name, request, scopes) => {
    const refused = await resource.ask(`Bearer ${forge({ payload: { scope: scopes.slice(0, 3) } })}`, {}, request);
    expect(refused.status).toBe(403);
    expect(refused.challenge).toContain(`error="insufficient_scope"`);
    expect(refused.challenge).toContain(`scope="${scopes}"`);
    if (name === "a subscription") return;
    expect((await resource.ask(`Bearer ${forge({ payload: { scope: scopes } })}`, {}, request)).status).toBe(200);
  });
});

describe("metadata of the resource, hardening 6.1.8", () => {
  const resource = new TestResource({ scopes: ["read", "offline_access"], name: "Shop" });
  const ROOT = "https://shop.example/.well-known/oauth-protected-resource";
  const document = {
    resource: RESOURCE,
    authorization_servers: [ISSUER],
    scopes_supported: ["read"],
    bearer_methods_supported: ["header"],
    resource_name: "Shop",
  };

  it.each([METADATA, ROOT, `${METADATA}?host=evil.example`])("AUTHS-01, AUTHS-09: %s", async (url) => {
    const { status, body, headers } = await resource.send({ url, headers: { origin: "https://page.example" } });
    expect([status, JSON.parse(body)]).toEqual([200, document]);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("content-type")).toBe("application/json");
  });

  it("nothing of a request gets into it, and another Host is refused", async () => {
    const headers = { "x-forwarded-host": "evil.example", forwarded: "host=evil.example", "x-forwarded-proto": "http" };
    const seen = await resource.send({ url: METADATA, headers });
    expect(JSON.parse(seen.body)).toEqual(document);
    const url = METADATA.replace("shop.example", "evil.example");
    expect((await resource.send({ url })).status).toBe(403);
  });

  it("only reading is possible", async () => {
    expect((await resource.send({ url: METADATA, method: "HEAD" })).body).toBe("");
    expect((await resource.send({ url: METADATA, method: "OPTIONS" })).status).toBe(204);
    for (const method of ["POST", "PUT", "DELETE"]) {
      expect((await resource.send({ url: METADATA, method })).status).toBe(405);
    }
  });

  it("pages of other origins may read the metadata and nothing else", async () => {
    const seen = await resource.ask(`Bearer ${forge({ payload: { scope: "read" } })}`, {
      origin: "https://page.example",
    });
    expect([seen.status, seen.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  });
});

describe("who is let in, hardening 6.1.9 and 6.1.10", () => {
  const keyOf = async (payload: object, options: Partial<ResourceServerOptions> = {}) =>
    told(await new TestResource(options).bearer(forge({ payload: { ...payload } })))["key"];

  it("AUTHS-12: is told apart by issuer, subject and client together", async () => {
    const keys = await Promise.all([
      keyOf({}),
      keyOf({ sub: "eve" }),
      keyOf({ client_id: "other" }),
      keyOf({ client_id: undefined }),
      keyOf({ sub: undefined }),
      keyOf({ sub: "app", client_id: "ada" }),
      keyOf({ sub: 'ada","app', client_id: undefined }),
      keyOf({ sub: "null", client_id: undefined }),
      keyOf({ sub: undefined, client_id: "ada" }),
    ]);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys[0]).toBe(JSON.stringify([ISSUER, "ada", "app"]));
  });

  it("AUTHS-10: handlers get claims, and the token itself only where the server asks for it by name", async () => {
    expect(JSON.stringify(told(await new TestResource().bearer(good)))).not.toContain(good);
    expect(told(await new TestResource({ exposeToken: true }).bearer(good))["claims"]).toMatchObject({ token: good });
  });

  it("a handler cannot give its caller more for the next request", async () => {
    const server = new Server({ name: "s", version: "1" }).tool("who", (_args, { auth }) => {
      // A program without types could try.
      const scopes = auth?.scopes as string[] | undefined;
      expect(() => scopes?.push("admin")).toThrow(TypeError);
      return JSON.stringify(auth);
    });
    const resource = new TestResource({}, server);
    await resource.bearer(good);
    expect(told(await resource.bearer(good))["scopes"]).toEqual([]);
  });

  it("a token that is remembered ends when it ends, and is verified again after a minute", async () => {
    const resource = new TestResource();
    expect((await resource.bearer(good)).status).toBe(200);
    resource.keys = [];
    resource.now += 59_000;
    expect((await resource.bearer(good)).status).toBe(200);
    resource.now += 2_000;
    // The key was withdrawn long ago; the issuer's document was not read again until now.
    resource.now += 600_000;
    expect((await resource.bearer(good)).status).toBe(401);
    const short = new TestResource();
    const token = forge({ payload: { exp: 1_800_000_010 } });
    expect((await short.bearer(token)).status).toBe(200);
    short.now += 10_000;
    expect((await short.bearer(token)).status).toBe(401);
  });
});

describe("the end of a token", () => {
  const ends = forge({ payload: { exp: 1_800_000_010 } });

  it("AUTHS-04: is exact, however far clocks may be off otherwise", async () => {
    const resource = new TestResource({ clockSkewMs: 60_000 });
    resource.now += 10_000;
    expect((await resource.bearer(ends)).status).toBe(401);
  });

  it("is later by `expiryToleranceMs`, for streams too", async () => {
    const resource = new TestResource({ expiryToleranceMs: 30_000 });
    resource.now += 39_999;
    const seen = await resource.bearer(ends);
    expect([seen.status, told(seen)["expiresAt"]]).toEqual([200, 1_800_000_040_000]);
    resource.now += 1;
    expect((await resource.bearer(ends)).status).toBe(401);
  });
});

describe("options that would accept too much", () => {
  it.each<[string, Partial<ResourceServerOptions>, RegExp]>([
    ["no issuer", { issuer: [] }, /`issuer` is empty/],
    ["an issuer that is undefined", { issuer: undefined as never }, /`issuer` is missing/],
    ["an issuer of null", { issuer: null as never }, /`issuer` is missing/],
    [
      "an issuer that is undefined in a list",
      { issuer: [undefined as never] },
      /`issuer` has an entry that is undefined/,
    ],
    ["an issuer that is a number", { issuer: 5 as never }, /`issuer` has an entry that is not an issuer/],
    [
      "an issuer without its name",
      { issuer: [{ jwksUri: ISSUER } as never] },
      /`issuer` has an entry that is not an issuer/,
    ],
    ["an issuer in plain text", { issuer: "http://login.example" }, /`issuer` uses http/],
    ["an issuer that is no address", { issuer: "login" }, /`issuer` is not a valid URL/],
    ["keys in plain text", { issuer: [{ issuer: ISSUER, jwksUri: "http://login.example/k" }] }, /`jwksUri` uses http/],
    ["a resource with a fragment", { resource: `${RESOURCE}#x` }, /`resource` has a fragment/],
    ["the algorithm none", { algorithms: ["none"] }, /`algorithms` contains none/],
    ["a symmetric algorithm", { algorithms: ["ES256", "HS256"] }, /`algorithms` contains HS256/],
    ["an unknown algorithm", { algorithms: ["RS1"] }, /`algorithms` contains RS1/],
    ["no algorithm", { algorithms: [] }, /`algorithms`/],
    ["no audience", { audience: [] }, /`audience` is empty/],
    ["an empty audience", { audience: "" }, /`audience` is empty/],
    ["an audience that is undefined in a list", { audience: [undefined as never] }, /`audience` is empty/],
    ["an hour of skew", { clockSkewMs: 3_600_000 }, /`clockSkewMs` is 3600000/],
    ["skew that is no number", { clockSkewMs: Number.NaN }, /`clockSkewMs` is NaN/],
    ["a tolerance beyond the skew", { expiryToleranceMs: 60_001 }, /`expiryToleranceMs` is 60001/],
    ["no proofs", { maxProofsPerKey: 0 }, /`maxProofsPerKey` is 0/],
    [
      "introspection without time",
      { introspection: { endpoint: ISSUER, client: { clientId: "a" }, timeoutMs: 0 } },
      /`introspection.timeoutMs` is 0/,
    ],
    ["no secret", { dpopNonce: { secret: undefined as never } }, /`secret` is missing/],
    ["an empty secret", { dpopNonce: { secret: "" } }, /`secret` is empty/],
    ["a short secret", { dpopNonce: { secret: "short" } }, /`secret` has 5 characters, but needs at least 32/],
    ["scopes in one text", { scopes: "read" as never }, /`scopes` is not a list of strings/],
    ["a scope that is a number", { scopes: [5 as never] }, /`scopes` is not a list of strings/],
    ["metadata with scopes in one text", { scopesSupported: "read" as never }, /`scopesSupported` is not a list/],
    ["algorithms in one text", { algorithms: "ES256" as never }, /`algorithms` is not a list/],
    ["a resource that is a bigint", { resource: 10n as never }, /`resource` is not a string/],
    ["a misspelt option", { audiance: "x" } as object, /audiance/],
  ])("%s", (_name, options, problem) => {
    const make = () => resourceServer({ resource: RESOURCE, issuer: ISSUER, ...options });
    expect(make).toThrow(problem);
    expect(make).toThrow(expect.objectContaining({ kind: "invalid_definition", fix: expect.any(String) }));
  });
  it.each([undefined, null, 5])("no options: %s", (options) => {
    expect(() => resourceServer(options as never)).toThrow(expect.objectContaining({ kind: "invalid_definition" }));
  });
});
