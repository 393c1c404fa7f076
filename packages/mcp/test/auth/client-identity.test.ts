import { McpError } from "@parley/mcp";
import { bearerToken, memoryTokenStore, oauth, redirectLogin } from "@parley/mcp/auth";
import { describe, expect, it } from "vitest";
import { attempt, ClientTarget, expectRefusal, open } from "./client-target.js";
import { TestIssuer } from "./test-issuer.js";

const DOCUMENT = "https://app.example/client.json";

describe("AUTHC-28: who the client is", () => {
  it("a configured client comes first, then its document, then registration, then a person", async () => {
    const clientOf = async (oauthOptions: object, metadata: object) => {
      const target = await ClientTarget.start({}, { metadata: { ...metadata } });
      const { error } = await attempt(target, { oauth: oauthOptions });
      expect(error).toBeUndefined();
      const [asked] = target.issuer.to("/authorize");
      return { id: asked?.form.get("client_id"), registrations: target.issuer.to("/register").length };
    };
    const all = {
      client: { clientId: "mine" },
      clientMetadataUrl: DOCUMENT,
      chooseClient: async () => ({ clientId: "chosen" }),
    };
    const supported = { client_id_metadata_document_supported: true };
    expect(await clientOf(all, supported)).toEqual({ id: "mine", registrations: 0 });
    expect(await clientOf({ ...all, client: undefined }, supported)).toEqual({ id: DOCUMENT, registrations: 0 });
    const registered = await clientOf({ ...all, client: undefined }, {});
    expect(registered).toEqual({ id: expect.stringMatching(/^client-/), registrations: 1 });
    expect(await clientOf({ ...all, client: undefined, registration: false }, {})).toEqual({
      id: "chosen",
      registrations: 0,
    });
    const noEndpoint = { registration_endpoint: undefined };
    expect(await clientOf({ ...all, client: undefined }, noEndpoint)).toEqual({ id: "chosen", registrations: 0 });
  });

  it("a person is asked once, also when the token is renewed", async () => {
    const target = await ClientTarget.start({}, { rotates: true, metadata: { registration_endpoint: null } });
    const asked: string[] = [];
    const chooseClient = async (issuer: string) => {
      asked.push(issuer);
      return { clientId: "chosen" };
    };
    const { client, visits } = await open(target, { oauth: { chooseClient } });
    let isRefused = true;
    target.behaviour.admit = () => {
      const status = isRefused ? 401 : 200;
      isRefused = false;
      return status;
    };
    await client.call("who");
    expect(asked).toEqual([target.issuer.issuer]);
    expect(visits).toHaveLength(1);
    expect(target.issuer.to("/token").at(-1)?.form.get("grant_type")).toBe("refresh_token");
  });

  it("nobody, if nothing leads to a client", async () => {
    const target = await ClientTarget.start({}, { metadata: { registration_endpoint: null } });
    const result = await attempt(target, { oauth: { chooseClient: async () => undefined } });
    expectRefusal(result, "no client is available for");
    expectRefusal(result, "the server has no registration endpoint");
    expect(result.visits).toEqual([]);
  });

  it("AUTHC-32: a client of another issuer is an error, and is shown to nobody", async () => {
    const target = await ClientTarget.start();
    const client = { clientId: "canary-client", clientSecret: "canary-secret", issuer: "https://other.example" };
    const result = await attempt(target, { oauth: { client } });
    expectRefusal(result, "but no configured client belongs to it");
    expect(result.visits).toEqual([]);
    expect(target.issuer.to("/register")).toEqual([]);
    expect(JSON.stringify(target.issuer.requests)).not.toContain("canary");
  });

  it("AUTHC-32: a new issuer means a new registration and a new token, and never sees the old ones", async () => {
    const target = await ClientTarget.start({}, { rotates: true });
    const second = await TestIssuer.start({ rotates: true });
    const store = memoryTokenStore();
    const first = await open(target, { oauth: { store } });
    const oldClient = target.issuer.to("/authorize")[0]?.form.get("client_id") ?? "";
    const old = JSON.parse(String(await store.get(`tokens ${target.issuer.issuer} ${target.url}`)));
    target.behaviour.metadata = { authorization_servers: [second.issuer] };
    target.behaviour.admit = (authorization) => (authorization?.endsWith(old.accessToken) === false ? 200 : 401);
    expect(await first.client.call("who")).toBe("ada");
    const seen = JSON.stringify(second.requests.map(({ form, headers }) => [[...form], headers]));
    for (const secret of [oldClient, old.accessToken, old.refreshToken]) expect(seen).not.toContain(secret);
    expect(second.to("/register")).toHaveLength(1);
    // The old registration is still there for the old issuer.
    expect(await store.get(`client ${target.issuer.issuer}`)).toContain(oldClient);
    second.close();
  });

  it("AUTHC-32: the address of a document is good at every issuer", async () => {
    const target = await ClientTarget.start({}, { metadata: { client_id_metadata_document_supported: true } });
    const store = memoryTokenStore();
    expect((await attempt(target, { oauth: { store, clientMetadataUrl: DOCUMENT } })).error).toBeUndefined();
    expect(target.issuer.to("/token")[0]?.form.get("client_id")).toBe(DOCUMENT);
  });

  it.each([
    "http://app.example/client.json",
    "https://app.example",
    "https://app.example/",
    "https://app.example/a/../client.json",
    "https://app.example/./client.json",
    "https://user@app.example/client.json",
    "https://app.example/client.json#x",
    "HTTPS://app.example/client.json",
    "https://app.example/a b",
    "client.json",
    `https://app.example/${"a".repeat(2_100)}`,
  ])("AUTHC-29: %s is no address of a document", (clientMetadataUrl) => {
    expect(() => oauth({ clientMetadataUrl })).toThrow(expect.objectContaining({ kind: "misuse" }));
  });

  it.each([
    "http://evil.example/callback",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///callback",
    "app:/callback",
    "http://127.0.0.1:1/callback#x",
    "https://user@app.example/callback",
    "callback",
    "",
  ])("AUTHC-12: %j is no redirect address", (redirectUri) => {
    expect(() => redirectLogin({ redirectUri, visit: async () => "" })).toThrow(McpError);
  });

  it.each<[string, "native" | "web"]>([
    ["http://127.0.0.1:1/callback", "native"],
    ["http://localhost:1/callback", "native"],
    ["com.example.app:/callback", "native"],
    ["https://app.example/callback", "web"],
  ])("AUTHC-12, AUTHC-31: %s makes a %s client", async (redirectUri, applicationType) => {
    const login = redirectLogin({ redirectUri, visit: async () => "" });
    expect(login).toMatchObject({ applicationType });
  });

  it("a registration that the server forgot is made again", async () => {
    const target = await ClientTarget.start({}, { rotates: true });
    const store = memoryTokenStore();
    await attempt(target, { oauth: { store } });
    await store.delete(`tokens ${target.issuer.issuer} ${target.url}`);
    let isForgotten = true;
    target.issuer.behaviour.intercept = ({ path }, response) => {
      if (path !== "/token" || !isForgotten) return false;
      isForgotten = false;
      response.writeHead(401, { "content-type": "application/json", "www-authenticate": "Basic" }).end("{}");
      return true;
    };
    expectRefusal(await attempt(target, { oauth: { store } }), "invalid_client");
    expect((await attempt(target, { oauth: { store } })).error).toBeUndefined();
    expect(target.issuer.to("/register")).toHaveLength(2);
  });
});

describe("AUTHC-22: how the client proves who it is", () => {
  const clientId = "my client:ü";
  const clientSecret = "se cret:+/";
  const basic = `Basic ${Buffer.from("my+client%3A%C3%BC:se+cret%3A%2B%2F").toString("base64")}`;
  it.each([
    ["nothing is listed", undefined, undefined, "basic"],
    ["basic is listed", ["client_secret_basic"], undefined, "basic"],
    ["post is listed", ["client_secret_post"], undefined, "post"],
    ["both are listed", ["client_secret_post", "client_secret_basic"], undefined, "basic"],
    ["the program says post", undefined, "client_secret_post", "post"],
    ["the program says none", undefined, "none", "none"],
  ] as const)("by a secret, when %s", async (_name, listed, authMethod, way) => {
    const metadata = { token_endpoint_auth_methods_supported: listed === undefined ? undefined : [...listed] };
    const target = await ClientTarget.start({}, { metadata });
    const { error } = await attempt(target, { oauth: { client: { clientId, clientSecret, authMethod } } });
    expect(error).toBeUndefined();
    const [sent] = target.issuer.to("/token");
    expect(sent?.headers.authorization).toBe(way === "basic" ? basic : undefined);
    expect(sent?.form.get("client_secret")).toBe(way === "post" ? clientSecret : null);
    expect(sent?.form.get("client_id")).toBe(way === "basic" ? null : clientId);
  });

  it("says what is missing for the method", async () => {
    const target = await ClientTarget.start();
    const result = await attempt(target, { oauth: { client: { clientId: "c", authMethod: "private_key_jwt" } } });
    expect(String(result.error)).toMatch("the method private_key_jwt needs `privateKey`");
  });
});

describe("AUTHC-23, AUTHC-24, AUTHC-27: the scopes that are asked for", () => {
  it.each<[string, object]>([
    ["none, if nobody names any", { wanted: null }],
    ["those of the metadata", { listed: ["a", "b"], wanted: "a b" }],
    ["those of the program before those of the metadata", { listed: ["a"], own: ["c"], wanted: "c" }],
    [
      "those of the challenge before all",
      { listed: ["a"], own: ["c"], challenge: 'Bearer scope="d e"', wanted: "d e" },
    ],
    ["none, if the challenge has an empty list", { listed: ["a"], challenge: 'Bearer scope=""', wanted: null }],
    ["and offline_access, if the issuer has it", { issuer: ["offline_access"], wanted: "offline_access" }],
    [
      "and offline_access beside others",
      { listed: ["a"], issuer: ["a", "offline_access"], wanted: "a offline_access" },
    ],
    [
      "no offline_access, if the program wants none",
      { issuer: ["offline_access"], offlineAccess: false, wanted: null },
    ],
    ["no offline_access, if the issuer has none", { listed: ["a"], issuer: ["a"], wanted: "a" }],
  ])("%s", async (_name, row) => {
    const { listed, own, challenge, issuer, offlineAccess, wanted } = row as Record<string, never>;
    const target = await ClientTarget.start(
      { metadata: { scopes_supported: listed ?? null }, challenge: challenge ?? "Bearer" },
      { metadata: { scopes_supported: issuer ?? null } },
    );
    const { error } = await attempt(target, { oauth: { scopes: own, offlineAccess } });
    expect(error).toBeUndefined();
    const [asked] = target.issuer.to("/authorize");
    expect(asked?.form.get("scope")).toBe(wanted);
    expect(asked?.form.get("prompt")).toBe(asked?.form.get("scope")?.includes("offline_access") ? "consent" : null);
  });
});

describe("RFC 9728, 5.1: a header with several challenges", () => {
  it.each([
    (more: string) => `DPoP algs="ES256", Bearer ${more}`,
    (more: string) => `Bearer ${more}, DPoP algs="ES256"`,
    (more: string) => `Basic realm="x", Bearer realm="y", Bearer ${more}`,
  ])("is read as a whole: %#", async (challenge) => {
    const target = await ClientTarget.start({
      intercept({ url = "" }, response) {
        // Only the address in the challenge leads to the metadata.
        if (!url.startsWith("/.well-known/oauth-protected-resource")) return false;
        response.writeHead(404).end();
        return true;
      },
      challenge: () => challenge(`resource_metadata="${target.origin}/metadata", scope="a b"`),
    });
    const inner = target.behaviour.intercept;
    target.behaviour.intercept = (request, response) => {
      if (request.url !== "/metadata") return inner?.(request, response) === true;
      const document = { resource: target.url, authorization_servers: [target.issuer.issuer] };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
      return true;
    };
    const { error } = await attempt(target);
    expect(error).toBeUndefined();
    expect(target.issuer.to("/authorize")[0]?.form.get("scope")).toBe("a b");
    const bound = target.issuer.to("/token")[0]?.headers["dpop"] !== undefined;
    expect(bound).toBe(challenge("").includes("DPoP"));
  });
});

describe("AUTHC-11: a server of 2025-03-26, which is its own authorization server", () => {
  it.each(["", "/"])("with metadata whose issuer ends with %j", async (end) => {
    const target = await ClientTarget.start({
      intercept({ url = "" }, response) {
        if (!url.startsWith("/.well-known/")) return false;
        if (url !== "/.well-known/oauth-authorization-server") {
          response.writeHead(404).end();
          return true;
        }
        const { origin } = target.issuer;
        const document = {
          issuer: `${target.origin}${end}`,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          code_challenge_methods_supported: ["S256"],
        };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
        return true;
      },
    });
    target.issuer.behaviour.redirect = { iss: undefined };
    expect((await attempt(target)).error).toBeUndefined();
    expect(target.issuer.to("/token")[0]?.form.get("resource")).toBe(target.url);
  });

  it("without any metadata: at the default paths", async () => {
    const target = await ClientTarget.start({
      intercept({ url = "" }, response) {
        const { pathname, search } = new URL(url, "http://x");
        if (["/register", "/token", "/authorize"].includes(pathname)) {
          response.writeHead(307, { location: `${target.issuer.origin}${pathname}${search}` }).end();
          return true;
        }
        if (!pathname.startsWith("/.well-known/")) return false;
        response.writeHead(404).end();
        return true;
      },
    });
    const result = await attempt(target);
    // A POST is not followed to another origin; that it was made shows the path.
    expectRefusal(
      result,
      `dynamic client registration ${target.origin}/register: ${target.origin}/register redirects a POST`,
    );
  });
});

describe("bearerToken", () => {
  it("AUTHC-02, AUTHC-03: goes with every request, once, in place of a header of the program", async () => {
    const target = await ClientTarget.start();
    const { client } = await open(target, {
      connect: { auth: bearerToken(() => "mine"), headers: { Authorization: "Bearer other" } },
    });
    await client.call("who");
    const sent = target.requests.map(({ headers }) => headers.authorization);
    expect(new Set(sent)).toEqual(new Set(["Bearer mine"]));
  });

  it.each(["a\r\nx-admin: 1", "a\nb", "a\u0000"])("cannot carry a second header: %j", async (token) => {
    const target = await ClientTarget.start();
    const result = await attempt(target, { connect: { auth: bearerToken(token) } });
    expect(result.error).toBeDefined();
    expect(target.requests).toEqual([]);
  });
});
