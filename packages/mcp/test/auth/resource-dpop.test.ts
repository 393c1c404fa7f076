import { createHash, randomUUID } from "node:crypto";
import { Server } from "@parley/mcp";
import { memoryStorage } from "@parley/mcp/storage";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { OLD_TEST_SECRET, TEST_SECRET } from "../test-secrets.js";
import { forge, type Json, RESOURCE, SECOND, TestResource } from "./resource-fixture.js";

interface HeldKey {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
  readonly jkt: string;
}

async function heldKey(): Promise<HeldKey> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  return { privateKey, jwk, jkt: await calculateJwkThumbprint(jwk) };
}

let own: HeldKey;
let other: HeldKey;
let token: string;
beforeAll(async () => {
  own = await heldKey();
  other = await heldKey();
  token = forge({ payload: { cnf: { jkt: own.jkt } } });
});

const ath = (text: string) => createHash("sha256").update(text).digest("base64url");

/** A proof that is good but for the changes. */
function proof(changes: Json = {}, header: Json = {}, key = own): Promise<string> {
  const claims = { htm: "POST", htu: RESOURCE, ath: ath(token), jti: randomUUID(), iat: SECOND, ...changes };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: key.jwk, ...header })
    .sign(key.privateKey);
}

const send = (resource: TestResource, dpop: string, authorization = `DPoP ${token}`) =>
  resource.ask(authorization, dpop === "" ? {} : { dpop });

const BAD: Record<string, () => string | Promise<string>> = {
  "no proof": () => "",
  "a proof that is no JWT": () => "proof",
  "two proofs": async () => `${await proof()}, ${await proof()}`,
  "a proof of another key": () => proof({}, {}, other),
  "a proof of another key that names the right one": async () => proof({}, { jwk: own.jwk }, other),
  "the wrong method": () => proof({ htm: "GET" }),
  "the method in small letters": () => proof({ htm: "post" }),
  "the wrong address": () => proof({ htu: "https://shop.example/other" }),
  "an address of another host": () => proof({ htu: "https://evil.example/mcp" }),
  "an address that is no text": () => proof({ htu: [RESOURCE] }),
  "no address": () => proof({ htu: undefined }),
  "the digest of another token": () => proof({ ath: ath("other") }),
  "no digest of the token": () => proof({ ath: undefined }),
  "a proof of 301 seconds ago": () => proof({ iat: SECOND - 301 }),
  "a proof of the future": () => proof({ iat: SECOND + 301 }),
  "no time": () => proof({ iat: undefined }),
  "no id": () => proof({ jti: undefined }),
  "an empty id": () => proof({ jti: "" }),
  "an id without end": () => proof({ jti: "x".repeat(257) }),
  "the wrong type": () => proof({}, { typ: "jwt" }),
  "no key": () => proof({}, { jwk: undefined }),
  "a private key in the header": async () => proof({}, { jwk: await exportJWK(own.privateKey) }),
  "a symmetric key": () => proof({}, { jwk: { kty: "oct", k: "c2VjcmV0" } }),
  "a proof that is too long": () => proof({ filler: "x".repeat(8_192) }),
};

describe("tokens that are bound to a key (RFC 9449)", () => {
  const resource = new TestResource();

  it.each(Object.entries(BAD))("AUTHS-04: a bound token is refused with %s", async (_name, make) => {
    const { status, challenge } = await send(resource, await make());
    expect(status).toBe(401);
    expect(challenge).toMatch(/^DPoP error="invalid_token", .*algs="ES256 /);
  });

  it("a bound token is worth nothing as a bearer token, with or without a proof", async () => {
    expect((await send(resource, "", `Bearer ${token}`)).status).toBe(401);
    expect((await send(resource, await proof(), `Bearer ${token}`)).status).toBe(401);
  });

  it("a token that is not bound cannot be sent as a bound one", async () => {
    const loose = forge();
    expect((await send(resource, await proof({ ath: ath(loose) }), `DPoP ${loose}`)).status).toBe(401);
  });

  it("a proof is good once, also for a token that is remembered", async () => {
    const one = await proof();
    expect((await send(resource, one)).status).toBe(200);
    expect((await send(resource, one)).status).toBe(401);
    expect((await send(resource, await proof())).status).toBe(200);
    expect((await send(resource, "")).status).toBe(401);
  });

  it("clocks may be off by less than five minutes, and the scheme may be in any letters", async () => {
    expect((await send(resource, await proof({ iat: SECOND - 299 }))).status).toBe(200);
    expect((await send(resource, await proof({ iat: SECOND + 299 }), `dpop ${token}`)).status).toBe(200);
  });

  it("a server that requires it refuses every other token, and says so", async () => {
    const strict = new TestResource({ requireDpop: true });
    const { status, challenge } = await strict.bearer(forge());
    expect([status, challenge?.startsWith('DPoP error="invalid_token"')]).toEqual([401, true]);
    const { body } = await strict.send({ url: "https://shop.example/.well-known/oauth-protected-resource/mcp" });
    expect(JSON.parse(body)).toMatchObject({ dpop_bound_access_tokens_required: true });
  });
});

describe("a token that is bound in another way", () => {
  it.each<[string, unknown, number]>([
    ["a thumbprint that is a number", { jkt: 5 }, 401],
    ["a thumbprint that is a list", { jkt: ["x"] }, 401],
    ["a thumbprint of null", { jkt: null }, 401],
    ["an empty thumbprint", { jkt: "" }, 401],
    ["a certificate", { "x5t#S256": "abc" }, 401],
    ["a key", { jwk: { kty: "EC" } }, 401],
    ["the name of a key", { kid: "k" }, 401],
    ["nothing", {}, 401],
    ["a text", "x", 401],
    ["a list", [], 401],
    ["null, which is none", null, 200],
  ])("is never served as a bearer token: %s", async (_name, cnf, status) => {
    const reasons: string[] = [];
    const resource = new TestResource({ onRefused: ({ reason }) => reasons.push(reason) });
    expect((await resource.bearer(forge({ payload: { cnf } }))).status).toBe(status);
    expect(reasons).toEqual(status === 200 ? [] : ["unsupported_binding"]);
  });

  it("is not served with a proof either, if the proof covers only one of its bindings", async () => {
    token = forge({ payload: { cnf: { jkt: own.jkt, "x5t#S256": "abc" } } });
    expect((await send(new TestResource(), await proof())).status).toBe(401);
    token = forge({ payload: { cnf: { jkt: own.jkt } } });
  });
});

describe("a bound token that lacks a scope", () => {
  it("is told so in its own scheme, for a scope of every request and for one of a tool", async () => {
    const server = new Server({ name: "s", version: "1" }).tool("who", { scopes: ["pay"] }, () => "");
    for (const resource of [new TestResource({ scopes: ["read"] }), new TestResource({}, server)]) {
      for (let count = 0; count < 2; count++) {
        const { status, challenge } = await send(resource, await proof());
        expect(status).toBe(403);
        expect(challenge).toMatch(/^DPoP error="insufficient_scope", .*algs="ES256 /);
      }
      expect((await resource.bearer(forge())).challenge).toMatch(/^Bearer error="insufficient_scope"/);
    }
  });
});

describe("many proofs", () => {
  const others = () => forge({ payload: { sub: "eve", cnf: { jkt: other.jkt } } });
  const sendAs = async (resource: TestResource, text: string, iat = SECOND) => {
    const dpop = await proof({ ath: ath(text), iat }, {}, other);
    return resource.ask(`DPoP ${text}`, { dpop });
  };

  it("of one key beyond its limit are refused with 429 for a while, and no other key with them", async () => {
    const reasons: string[] = [];
    const resource = new TestResource({ maxProofsPerKey: 3, onRefused: ({ reason }) => reasons.push(reason) });
    const first = await proof();
    expect((await send(resource, first)).status).toBe(200);
    for (let count = 0; count < 2; count++) expect((await send(resource, await proof())).status).toBe(200);
    const refused = await send(resource, await proof());
    expect([refused.status, refused.challenge, refused.headers.get("retry-after")]).toEqual([429, null, "301"]);
    expect((await sendAs(resource, others())).status).toBe(200);
    expect((await send(resource, first)).status).toBe(401);
    expect(reasons).toEqual(["too_many_proofs", "dpop_replayed"]);
    resource.now += 301_000;
    token = forge({ payload: { cnf: { jkt: own.jkt }, exp: SECOND + 3_600 } });
    expect((await send(resource, await proof({ iat: SECOND + 301 }))).status).toBe(200);
    token = forge({ payload: { cnf: { jkt: own.jkt } } });
  });

  it("on several nodes: each is good once where they share a storage", async () => {
    const storage = memoryStorage();
    const nodes = [new TestResource({ storage }), new TestResource({ storage })];
    const one = await proof();
    const all = await Promise.all(nodes.map(async (node) => (await send(node, one)).status));
    expect(all.sort()).toEqual([200, 401]);
    for (const node of nodes) expect((await send(node, one)).status).toBe(401);
    expect((await send(new TestResource(), one)).status).toBe(200);
  });

  it("whose shared storage is full are refused with 503", async () => {
    const storage = memoryStorage({ limits: { maxKeys: 1 } });
    await storage.kv.set("full", "");
    expect((await send(new TestResource({ storage }), await proof())).status).toBe(503);
  });
});

describe("a nonce of the server", () => {
  const nonceOf = (headers: Headers) => headers.get("dpop-nonce") ?? "";

  it("is asked for, accepted for two periods, and then another is asked for", async () => {
    const resource = new TestResource({ dpopNonce: true });
    const refused = await send(resource, await proof());
    expect([refused.status, refused.challenge?.startsWith('DPoP error="use_dpop_nonce"')]).toEqual([401, true]);
    const nonce = nonceOf(refused.headers);
    expect((await send(resource, await proof({ nonce }))).status).toBe(200);
    token = forge({ payload: { cnf: { jkt: own.jkt }, exp: SECOND + 3_600 } });
    resource.now += 299_000;
    expect((await send(resource, await proof({ nonce, iat: SECOND + 299 }))).status).toBe(200);
    resource.now += 301_000;
    const late = await send(resource, await proof({ nonce, iat: SECOND + 600 }));
    expect(late.status).toBe(401);
    expect(nonceOf(late.headers)).not.toBe(nonce);
  });

  it.each(["", "x", "MQ.AAAA", 5, null])("is not %j", async (nonce) => {
    const resource = new TestResource({ dpopNonce: true });
    const { challenge } = await send(resource, await proof({ nonce }));
    expect(challenge).toContain('error="use_dpop_nonce"');
  });

  it("is given to nobody who does not hold the key", async () => {
    const resource = new TestResource({ dpopNonce: true });
    const { challenge, headers } = await send(resource, await proof({}, {}, other));
    expect(challenge).toContain('error="invalid_token"');
    expect(headers.has("dpop-nonce")).toBe(false);
  });

  it("is the same on servers with the same secret, and on no others", async () => {
    const make = (secret: string) => new TestResource({ dpopNonce: { secret } });
    const nonce = nonceOf((await send(make(TEST_SECRET), await proof())).headers);
    expect((await send(make(TEST_SECRET), await proof({ nonce }))).status).toBe(200);
    expect((await send(make(OLD_TEST_SECRET), await proof({ nonce }))).status).toBe(401);
  });
});
