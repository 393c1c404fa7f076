import { clientCredentials, enterpriseManaged, memoryTokenStore, workloadIdentity } from "@parley/mcp/auth";
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, generateKeyPair } from "jose";
import { describe, expect, it } from "vitest";
import { attempt, ClientTarget, expectNothingElsewhere, expectRefusal, open } from "./client-target.js";
import type { IssuerBehaviour, IssuerRequest } from "./test-issuer.js";

type Reply = [status: number, body: object, headers?: Record<string, string>];

/** An issuer whose token endpoint answers with these, in turn; the last again and again. */
function tokens(...replies: Reply[]): NonNullable<IssuerBehaviour["intercept"]> {
  let count = 0;
  return ({ path }, response) => {
    if (path !== "/token") return false;
    const [status, body, headers] = replies[Math.min(count++, replies.length - 1)] ?? [500, {}];
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    return true;
  };
}

const GOOD: Reply = [200, { access_token: "good", token_type: "Bearer" }];

describe("AUTHC-33: client credentials", () => {
  it("by a secret", async () => {
    const target = await ClientTarget.start({}, { intercept: tokens(GOOD) });
    const grant = clientCredentials({ clientId: "robot", clientSecret: "secret" });
    const result = await attempt(target, { oauth: { grant, scopes: ["a"] } });
    expect(result.error).toBeUndefined();
    const [sent] = target.issuer.to("/token");
    expect(Object.fromEntries(sent?.form ?? [])).toEqual({
      grant_type: "client_credentials",
      resource: target.url,
      scope: "a",
    });
    expect(target.issuer.to("/register")).toEqual([]);
    expect(result.visits).toEqual([]);
  });

  it("by a signed assertion, for this issuer alone and a short time", async () => {
    const target = await ClientTarget.start({}, { intercept: tokens(GOOD) });
    const { privateKey } = await generateKeyPair("ES256");
    const grant = clientCredentials({ clientId: "robot", privateKey });
    const seen: string[] = [];
    for (let round = 0; round < 2; round++) {
      expect((await attempt(target, { oauth: { grant } })).error).toBeUndefined();
      const sent = target.issuer.to("/token")[round];
      expect(sent?.form.get("client_assertion_type")).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
      const claims = decodeJwt(sent?.form.get("client_assertion") ?? "");
      expect(claims).toMatchObject({ iss: "robot", sub: "robot", aud: target.issuer.issuer });
      expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBeLessThanOrEqual(300);
      seen.push(String(claims.jti));
    }
    expect(new Set(seen).size).toBe(2);
  });

  it("asks again half a minute before the end of the token, and nobody else is asked", async () => {
    const short: Reply = [200, { access_token: "short", token_type: "Bearer", expires_in: 10 }];
    const target = await ClientTarget.start({}, { intercept: tokens(short, GOOD) });
    const { client } = await open(target, {
      oauth: { grant: clientCredentials({ clientId: "robot", clientSecret: "s" }) },
    });
    await client.call("who");
    const used = target.requests.map(({ headers }) => headers.authorization).filter((one) => one !== undefined);
    expect(used.at(-1)).toBe("Bearer good");
    expect(target.issuer.to("/token")).toHaveLength(2);
  });

  it("a wrong secret is said, and not tried for ever", async () => {
    const target = await ClientTarget.start({}, { intercept: tokens([401, { error: "invalid_client" }]) });
    const result = await attempt(target, {
      oauth: { grant: clientCredentials({ clientId: "r", clientSecret: "canary" }) },
    });
    expectRefusal(result, "invalid_client");
    expect(String(result.error)).not.toContain("canary");
    expect(target.issuer.to("/token")).toHaveLength(1);
  });
});

describe("AUTHC-34, AUTHC-35: enterprise-managed authorization and workload identity", () => {
  const idJag: Reply = [
    200,
    { access_token: "id-jag", token_type: "N_A", issued_token_type: "urn:ietf:params:oauth:token-type:id-jag" },
  ];
  const isExchange = ({ form }: IssuerRequest) => form.get("grant_type")?.endsWith("token-exchange") === true;

  it("turns the user's identity into an assertion, and that into a token", async () => {
    const target = await ClientTarget.start({}, { intercept: tokens(idJag, GOOD) });
    const identityProvider = {
      clientId: "at-idp",
      issuer: "https://idp.example",
      tokenEndpoint: `${target.issuer.origin}/token`,
    };
    const grant = enterpriseManaged({
      client: { clientId: "app", clientSecret: "s" },
      identityProvider,
      idToken: () => "id-token",
    });
    const result = await attempt(target, { oauth: { grant, scopes: ["a"] } });
    expect(result.error).toBeUndefined();
    expect(result.visits).toEqual([]);
    const [exchange, bearer] = target.issuer.to("/token");
    expect(exchange !== undefined && isExchange(exchange)).toBe(true);
    expect(Object.fromEntries(exchange?.form ?? [])).toMatchObject({
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      audience: target.issuer.issuer,
      resource: target.url,
      subject_token: "id-token",
      scope: "a",
    });
    expect(Object.fromEntries(bearer?.form ?? [])).toMatchObject({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: "id-jag",
      resource: target.url,
    });
  });

  it.each<[string, Reply]>([
    ["refuses", [400, { error: "access_denied" }]],
    ["answers nothing", [200, {}]],
    ["answers with an unknown type", [200, { access_token: "canary", token_type: "strange" }]],
  ])("asks the server for nothing when the identity provider %s", async (_name, reply) => {
    const target = await ClientTarget.start({}, { intercept: tokens(reply) });
    const identityProvider = {
      clientId: "at-idp",
      issuer: "https://idp.example",
      tokenEndpoint: `${target.issuer.origin}/token`,
    };
    const grant = enterpriseManaged({ client: { clientId: "app" }, identityProvider, idToken: "canary" });
    const result = await attempt(target, { oauth: { grant } });
    expectRefusal(result, "issued no token");
    expect(String(result.error)).not.toContain("canary");
    expect(target.issuer.to("/token")).toHaveLength(1);
  });

  it("SEC-03: contacts no identity provider at an address of the cloud", async () => {
    const target = await ClientTarget.start();
    const identityProvider = {
      clientId: "i",
      issuer: "https://idp.example",
      tokenEndpoint: "http://169.254.169.254/token",
    };
    const grant = enterpriseManaged({ client: { clientId: "app" }, identityProvider, idToken: "x" });
    const result = await attempt(target, { oauth: { grant } });
    expect(String(result.error)).toMatch("is at a link-local address, so it is not contacted");
    expectNothingElsewhere(target, result);
  });

  it("shows the token of a workload, fresh each time", async () => {
    const target = await ClientTarget.start({}, { intercept: tokens(GOOD) });
    let count = 0;
    const grant = workloadIdentity({ client: { clientId: "pod" }, assertion: async () => `assertion-${++count}` });
    for (const wanted of ["assertion-1", "assertion-2"]) {
      expect((await attempt(target, { oauth: { grant } })).error).toBeUndefined();
      expect(target.issuer.to("/token").at(-1)?.form.get("assertion")).toBe(wanted);
    }
  });
});

describe("proof of possession", () => {
  it("uses the nonce of both servers, and keeps its key for the next connection", async () => {
    let nonces = 0;
    const target = await ClientTarget.start(
      {
        challenge: ({ headers }) => (headers.authorization === undefined ? "DPoP" : 'DPoP error="use_dpop_nonce"'),
        intercept({ headers, url = "" }, response) {
          if (url.startsWith("/.well-known/") || headers.authorization === undefined) return false;
          const { nonce } = decodeJwt(String(headers["dpop"]));
          response.setHeader("dpop-nonce", "rs-nonce");
          if (nonce === "rs-nonce") return false;
          nonces++;
          response.writeHead(401, { "www-authenticate": 'DPoP error="use_dpop_nonce"' }).end();
          return true;
        },
      },
      {
        rotates: true,
        intercept({ path, headers }, response) {
          if (path !== "/token" || decodeJwt(String(headers["dpop"])).nonce === "as-nonce") return false;
          response.writeHead(400, { "content-type": "application/json", "dpop-nonce": "as-nonce" });
          response.end('{"error":"use_dpop_nonce"}');
          return true;
        },
      },
    );
    const store = memoryTokenStore();
    const keys = new Set<string>();
    for (let round = 0; round < 2; round++) {
      expect((await attempt(target, { oauth: { store } })).error).toBeUndefined();
    }
    const proofs = target.requests.flatMap(({ headers }) =>
      headers["dpop"] === undefined ? [] : [String(headers["dpop"])],
    );
    for (const proof of proofs) {
      const { jwk, typ } = decodeProtectedHeader(proof);
      expect(typ).toBe("dpop+jwt");
      if (jwk !== undefined) keys.add(await calculateJwkThumbprint(jwk));
      expect(decodeJwt(proof)).toMatchObject({ htu: target.url, htm: "POST", ath: expect.any(String) });
    }
    expect(keys.size).toBe(1);
    expect(new Set(proofs.map((proof) => decodeJwt(proof).jti)).size).toBe(proofs.length);
    expect(nonces).toBe(2);
    expect(target.issuer.to("/token")).toHaveLength(2);
    expect(JSON.stringify(target.requests)).not.toContain('"d":');
  });

  it("does not accept a token without a key, where the program wants one", async () => {
    const target = await ClientTarget.start({}, { intercept: tokens(GOOD) });
    const result = await attempt(target, { oauth: { dpop: true } });
    expectRefusal(result, "issued a token that is not bound to a key");
    expect(target.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  it("is never offered, where the program wants none", async () => {
    const target = await ClientTarget.start({
      metadata: { dpop_bound_access_tokens_required: true },
      challenge: "DPoP",
    });
    expect((await attempt(target, { oauth: { dpop: false } })).error).toBeUndefined();
    expect(target.issuer.to("/token")[0]?.headers["dpop"]).toBeUndefined();
  });
});
