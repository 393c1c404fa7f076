import { McpError, type Principal, Server } from "@parley/mcp";
import { resourceServer, type TokenExchangeOptions, tokenExchange } from "@parley/mcp/auth";
import { fetchHandler } from "@parley/mcp/http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { modern } from "../http/modern.js";
import { ProxyUnderAttack } from "./proxy-under-attack.js";
import { TestIssuer } from "./test-issuer.js";

const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const SECRET = "canary-secret-of-this-server";
const RESOURCE = "https://shop.example/mcp";

let issuer: TestIssuer;
let clock = Date.now();
/** What the token endpoint answers; the number of the exchange is part of the default. */
let answer: () => { status?: number; body: unknown };
beforeAll(async () => {
  issuer = await TestIssuer.start({
    intercept: (request, response) => {
      if (request.path !== "/token") return false;
      const { status = 200, body } = answer();
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
      return true;
    },
  });
});
beforeEach(() => {
  issuer.requests.length = 0;
  answer = () => ({ body: issued() });
});
afterAll(() => issuer.close());

const issued = (changes: Record<string, unknown> = {}) => ({
  access_token: `for-the-api-${issuer.to("/token").length}`,
  issued_token_type: ACCESS_TOKEN,
  token_type: "Bearer",
  expires_in: 300,
  ...changes,
});

const exchange = (options: Partial<TokenExchangeOptions> = {}) =>
  tokenExchange({
    issuer: issuer.issuer,
    client: { clientId: "shop", clientSecret: SECRET, issuer: issuer.issuer },
    audience: "billing",
    platform: { now: () => clock },
    ...options,
  });

const caller = (token: string | undefined, key = "ada", more: Partial<Principal> = {}): Principal => ({
  key,
  claims: token === undefined ? {} : { token },
  ...more,
});

describe("RFC 8693: a tool that calls another service for its caller", () => {
  it("AUTHS-10: exchanges the caller's token for one of that service", async () => {
    const toApi = exchange({ scopes: ["read", "write"], resource: ["https://a.example/", "https://b.example/"] });
    const auth = resourceServer({ resource: RESOURCE, issuer: issuer.issuer, exposeToken: true });
    const server = new Server({ name: "shop", version: "1" }).tool("pay", async (_args, ctx) => toApi(ctx.auth));
    const handler = fetchHandler(server, { auth });
    try {
      const token = await issuer.token({ aud: RESOURCE });
      const call = modern("tools/call", { name: "pay", arguments: {} });
      const headers = { ...call.headers, authorization: `Bearer ${token}`, host: "shop.example" };
      const response = await handler(new Request(RESOURCE, { method: "POST", headers, body: call.body }));
      expect(await response.text()).toContain("for-the-api-1");
      const [request] = issuer.to("/token");
      expect([...(request?.form ?? [])].filter(([name]) => name !== "subject_token")).toEqual([
        ["subject_token_type", ACCESS_TOKEN],
        ["requested_token_type", ACCESS_TOKEN],
        ["audience", "billing"],
        ["resource", "https://a.example/"],
        ["resource", "https://b.example/"],
        ["scope", "read write"],
        ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
      ]);
      expect(request?.form.get("subject_token")).toBe(token);
      expect(request?.headers.authorization).toMatch(/^Basic /);
    } finally {
      await handler.close();
    }
  });

  it("exchanges the provider's token of a caller behind the proxy", async () => {
    const proxy = await ProxyUnderAttack.start();
    try {
      const tokens = await proxy.login(await proxy.register());
      const who = await proxy.caller(tokens.access_token);
      const toApi = exchange({ subjectToken: (one) => proxy.proxies[0]?.upstreamToken(one) });
      expect(await toApi(who)).toBe("for-the-api-1");
      expect(issuer.to("/token")[0]?.form.get("subject_token")).toBe(await proxy.proxies[0]?.upstreamToken(who));
    } finally {
      await proxy.close();
    }
  });

  it("asks once for calls at once, and again when the token is about to end", async () => {
    const toApi = exchange();
    const all = await Promise.all(Array.from({ length: 20 }, () => toApi(caller("a"))));
    expect(new Set(all)).toEqual(new Set(["for-the-api-1"]));
    clock += 269_000;
    expect(await toApi(caller("a"))).toBe("for-the-api-1");
    clock += 2_000;
    expect(await toApi(caller("a"))).toBe("for-the-api-2");
  });

  it("keeps callers apart, and the tokens of one caller", async () => {
    const toApi = exchange();
    const tokens = [await toApi(caller("a")), await toApi(caller("a", "eve")), await toApi(caller("b"))];
    expect(new Set(tokens).size).toBe(3);
    expect(await toApi(caller("a"))).toBe(tokens[0]);
  });

  it("remembers no token longer than the caller's own, and none without an end", async () => {
    const toApi = exchange();
    const short = caller("a", "ada", { expiresAt: clock + 60_000 });
    await toApi(short);
    clock += 31_000;
    expect(await toApi(short)).toBe("for-the-api-2");
    answer = () => ({ body: issued({ expires_in: undefined }) });
    expect([await toApi(caller("b")), await toApi(caller("b"))]).toEqual(["for-the-api-3", "for-the-api-4"]);
  });

  it("remembers a thousand tokens at most", async () => {
    const toApi = exchange();
    for (let count = 0; count <= 1_000; count++) await toApi(caller(`t${count}`));
    await toApi(caller("t1000"));
    expect(issuer.to("/token")).toHaveLength(1_001);
    await toApi(caller("t0"));
    expect(issuer.to("/token")).toHaveLength(1_002);
  });
});

describe("an exchange that fails", () => {
  const failureOf = async (run: Promise<unknown>) => {
    const error = await run.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!McpError.is(error)) throw new Error("it did not fail with an McpError");
    return error;
  };

  it.each<[what: string, status: number, body: unknown, says: RegExp]>([
    [
      "is refused",
      400,
      { error: "invalid_target", error_description: "no: canary-token" },
      /it answered invalid_target/,
    ],
    ["is refused without a code", 403, "canary-token", /HTTP 403/],
    ["is refused by a code that is a text", 400, { error: "canary-token is bad" }, /HTTP 400/],
    ["gives no type", 200, { access_token: "x", token_type: "Bearer" }, /no access token/],
    ["gives an identity token", 200, issuedAs("urn:ietf:params:oauth:token-type:id_token"), /no access token/],
    ["gives a token for no service", 200, { ...issuedAs(ACCESS_TOKEN), token_type: "N_A" }, /no access token/],
    ["gives a token with a line break", 200, { ...issuedAs(ACCESS_TOKEN), access_token: "a\nb" }, /no access token/],
    ["gives no JSON", 200, "canary-token", /no access token/],
  ])("%s: the error names the reason and no secret, and is not remembered", async (_what, status, body, says) => {
    const toApi = exchange();
    answer = () => ({ status, body });
    const error = await failureOf(toApi(caller("canary-token")));
    expect([error.kind, error.message]).toEqual(["authorization_failed", expect.stringMatching(says)]);
    expect(JSON.stringify([error.message, error.fix, error.data, String(error.cause)])).not.toContain("canary");
    answer = () => ({ body: issued() });
    expect(await toApi(caller("canary-token"))).toMatch(/^for-the-api/);
  });

  it("names what is missing if the caller has no token", async () => {
    for (const who of [undefined, caller(undefined), caller("")]) {
      const { kind, fix } = await failureOf(exchange()(who));
      expect([kind, fix]).toEqual(["authorization_failed", expect.stringContaining("exposeToken")]);
    }
    const ended = exchange({ subjectToken: () => undefined });
    expect((await failureOf(ended(caller("a")))).message).toContain("no token");
    expect(issuer.requests).toEqual([]);
  });

  it("at an issuer that is away says so, without its address being asked for a token", async () => {
    const gone = exchange({ issuer: "http://127.0.0.1:1", client: { clientId: "shop" } });
    expect((await failureOf(gone(caller("a")))).message).toContain("publishes no token endpoint");
    const endpoint = exchange({ tokenEndpoint: "http://127.0.0.1:1/token" });
    expect((await failureOf(endpoint(caller("canary-token")))).message).toMatch(/it did not answer$/);
  });

  it.each<[what: string, options: Partial<TokenExchangeOptions>, says: RegExp]>([
    ["http beyond this machine", { issuer: "http://issuer.example" }, /`issuer`/],
    ["an endpoint that is no address", { tokenEndpoint: "token" }, /`tokenEndpoint`/],
    ["a client of another issuer", { client: { clientId: "a", issuer: "https://other.example" } }, /another issuer/],
    ["an unknown option", { audiences: "x" } as object, /audiences/],
  ])("is refused at once with %s", (_what, options, says) => {
    expect(() => exchange(options)).toThrow(says);
  });
});

function issuedAs(type: string) {
  return { access_token: "x", issued_token_type: type, token_type: "Bearer", expires_in: 300 };
}
