import { describe, expect, it } from "vitest";
import {
  CLAIMS,
  encoded,
  type Forged,
  forge,
  HEADER,
  ISSUER,
  PAIRS,
  published,
  REFUSED,
  RESOURCE,
  SECOND,
  signature,
  TestResource,
  told,
} from "./resource-fixture.js";

const PUBLIC_PEM = PAIRS.rsa.publicKey.export({ type: "spki", format: "pem" }).toString();
const PUBLIC_DER = PAIRS.rsa.publicKey.export({ type: "spki", format: "der" }).toString("latin1");

/** A token without a signature, or with one that is no signature. */
const unsigned = (header: object, ending = "") => `${encoded({ ...HEADER, ...header })}.${encoded(CLAIMS)}.${ending}`;

/** A token whose three parts are given as they are sent. */
const parts = (...texts: string[]) => texts.join(".");
const good = forge();
const [goodHead = "", goodBody = "", goodSignature = ""] = good.split(".");

/** The last letter of a signature has four bits that mean nothing. */
const nextLetter = (letter = "A") => String.fromCharCode(letter.charCodeAt(0) + 1);

/** A good token but for its claims. */
const claims = (payload: object): string => forge({ payload: { ...payload } });
const header = (more: object, rest: Forged = {}): string => forge({ header: { ...more }, ...rest });

const ALGORITHMS: Record<string, string> = {
  "no algorithm: none": unsigned({ alg: "none" }),
  "no algorithm: None": unsigned({ alg: "None" }),
  "no algorithm: NONE": unsigned({ alg: "NONE" }),
  "no algorithm: nOnE": unsigned({ alg: "nOnE" }),
  "none, with the signature of a good token": unsigned({ alg: "none" }, goodSignature),
  "an algorithm that is empty": unsigned({ alg: "" }, goodSignature),
  "an algorithm that is no text": unsigned({ alg: 5 }, goodSignature),
  "an algorithm that is null": unsigned({ alg: null }, goodSignature),
  "an algorithm in small letters": header({ alg: "es256" }),
  "HS256 with the public key as PEM": header({ alg: "HS256", kid: "rsa" }, { algorithm: "HS256", key: PUBLIC_PEM }),
  "HS384 with the public key as PEM": header({ alg: "HS384", kid: "rsa" }, { algorithm: "HS384", key: PUBLIC_PEM }),
  "HS512 with the public key as PEM": header({ alg: "HS512", kid: "rsa" }, { algorithm: "HS512", key: PUBLIC_PEM }),
  "HS256 with the public key as DER": header({ alg: "HS256", kid: "rsa" }, { algorithm: "HS256", key: PUBLIC_DER }),
  "HS256 with a symmetric key that is published": header(
    { alg: "HS256", kid: "shared" },
    { algorithm: "HS256", key: "shared secret" },
  ),
  "ES256 with the id of an RSA key": header({ kid: "rsa" }),
  "RS256 with the id of an EC key": header({ alg: "RS256" }, { algorithm: "RS256", key: PAIRS.rsa.privateKey }),
  "PS256 with a key for RS256": header({ alg: "PS256", kid: "rsa" }, { algorithm: "PS256", key: PAIRS.rsa.privateKey }),
  "ES256 with a key on another curve": header({ kid: "p384" }, { algorithm: "ES384", key: PAIRS.ec384.privateKey }),
  "ES384 with a key on another curve": header({ alg: "ES384" }, { algorithm: "ES384", key: PAIRS.ec384.privateKey }),
  "an RSA key of 1024 bits": header({ alg: "RS256", kid: "weak" }, { algorithm: "RS256", key: PAIRS.weak.privateKey }),
  "a key for encryption": header({ kid: "enc" }),
  "a key whose operations have no verify": header({ kid: "ops" }),
  "a key that is published with its private part": header({ kid: "private" }),
  "a key that nobody published": header({}, { key: PAIRS.other.privateKey }),
  "no key id, where two keys fit": header({ kid: undefined }),
  "a signature of zeros": parts(goodHead, goodBody, Buffer.alloc(64).toString("base64url")),
  "a signature whose r is zero": parts(
    goodHead,
    goodBody,
    Buffer.concat([Buffer.alloc(32), Buffer.from(goodSignature, "base64url").subarray(32)]).toString("base64url"),
  ),
  "a signature whose s is zero": parts(
    goodHead,
    goodBody,
    Buffer.concat([Buffer.from(goodSignature, "base64url").subarray(0, 32), Buffer.alloc(32)]).toString("base64url"),
  ),
  "a signature that is empty": parts(goodHead, goodBody, ""),
  "a signature in DER": parts(
    goodHead,
    goodBody,
    Buffer.concat([Buffer.from([0x30, 0x44]), Buffer.alloc(68, 1)]).toString("base64url"),
  ),
  "a signature that is cut": parts(goodHead, goodBody, goodSignature.slice(0, 40)),
  "a payload that was changed": parts(goodHead, encoded({ ...CLAIMS, sub: "root" }), goodSignature),
  "a header that was changed": parts(encoded({ ...HEADER, typ: "JWT" }), goodBody, goodSignature),
};

const HEADERS: Record<string, string> = {
  "its own key in the header": header(
    { jwk: published(PAIRS.other.publicKey), kid: undefined },
    { key: PAIRS.other.privateKey },
  ),
  "its own key beside the id of a good one": header(
    { jwk: published(PAIRS.other.publicKey) },
    { key: PAIRS.other.privateKey },
  ),
  "an address of keys (jku)": header({ jku: "https://evil.example/jwks" }, { key: PAIRS.other.privateKey }),
  "an address of certificates (x5u)": header({ x5u: "https://evil.example/x" }, { key: PAIRS.other.privateKey }),
  "a certificate (x5c)": header({ x5c: ["MIIB"] }, { key: PAIRS.other.privateKey }),
  "an extension that must be understood": header({ crit: ["exp"], exp: 1 }),
  "an extension list that is empty": header({ crit: [] }),
  "an extension for unencoded payloads": header({ crit: ["b64"], b64: false }),
  "a key id that is a path": header({ kid: "../../../../dev/null" }),
  "a key id that is SQL": header({ kid: "' UNION SELECT 'key' --" }),
  "a key id that is __proto__": header({ kid: "__proto__" }),
  "a key id that is constructor": header({ kid: "constructor" }),
  "a key id that is an object": header({ kid: { toString: "ec" } }),
  "a key id with a line break": header({ kid: "ec\r\nx: y" }),
  "an algorithm twice, the last one none": parts(encoded('{"alg":"ES256","kid":"ec","alg":"none"}'), goodBody, ""),
  "the type of an identity logout": header({ typ: "logout+jwt" }),
  "the type of a proof": header({ typ: "dpop+jwt" }),
  "the type of a client's document": header({ typ: "client-authentication+jwt" }),
  "a type that is no text": header({ typ: 7 }),
  "a header that is no JSON": forge({ header: "{" }),
  "a header that is an array": forge({ header: "[]" }),
  "a header that is null": forge({ header: "null" }),
};

const FORMS: Record<string, string> = {
  "one part": goodHead,
  "two parts": parts(goodHead, goodBody),
  "four parts": parts(goodHead, goodBody, goodSignature, ""),
  "five parts, as encrypted tokens have": parts(
    encoded({ alg: "RSA-OAEP-256", enc: "A256GCM", kid: "rsa" }),
    ...["a", "b", "c", "d"].map(encoded),
  ),
  "an encrypted header in three parts": header({ enc: "A256GCM", alg: "dir" }),
  "a signature with spare bits set": `${good.slice(0, -1)}${nextLetter(good.at(-1))}`,
  "padding after the signature": `${good}==`,
  "a payload in plain Base64": parts(goodHead, `${goodBody.slice(0, -1)}+`, goodSignature),
  "a signature in plain Base64": parts(goodHead, goodBody, `${goodSignature.slice(0, -1)}/`),
  "a payload that is no JSON": forge({ payload: "{" }),
  "a payload that is an array": forge({ payload: "[]" }),
  "a payload that is a text": forge({ payload: '"x"' }),
  "a payload that is empty": parts(goodHead, "", goodSignature),
  "a token of a megabyte": claims({ filler: "x".repeat(1_000_000) }),
  "a token just above the limit": claims({ filler: "x".repeat(12_300) }),
  "no JWT at all": "secret",
};

const CLAIM_CASES: Record<string, string> = {
  "no issuer": claims({ iss: undefined }),
  "another issuer": claims({ iss: "https://evil.example" }),
  "the issuer with a slash": claims({ iss: `${ISSUER}/` }),
  "the issuer in capitals": claims({ iss: "https://LOGIN.example" }),
  "the issuer with its port": claims({ iss: `${ISSUER}:443` }),
  "the issuer as the beginning of another": claims({ iss: `${ISSUER}.evil.example` }),
  "the issuer in a list": claims({ iss: [ISSUER] }),
  "no audience": claims({ aud: undefined }),
  "an empty audience": claims({ aud: "" }),
  "an empty list of audiences": claims({ aud: [] }),
  "another audience": claims({ aud: "https://other.example/mcp" }),
  "an audience that begins like ours": claims({ aud: `${RESOURCE}/admin` }),
  "an audience that ours begins with": claims({ aud: "https://shop.example" }),
  "our audience with a slash": claims({ aud: `${RESOURCE}/` }),
  "our audience in capitals": claims({ aud: "https://shop.example/MCP" }),
  "our audience inside a longer text": claims({ aud: `x ${RESOURCE}` }),
  "our audience as the name of an object": claims({ aud: { [RESOURCE]: true } }),
  "our audience as the party that asked (azp)": claims({ aud: "app", azp: RESOURCE }),
  "our audience as a resource claim": claims({ aud: undefined, resource: RESOURCE }),
  "no end": claims({ exp: undefined }),
  "an end that is a text": claims({ exp: String(SECOND + 300) }),
  "an end that is null": claims({ exp: null }),
  "an end that is no date": claims({ exp: 1e300 }),
  "an end that is infinite": forge({
    payload: JSON.stringify({ ...CLAIMS, exp: 0 }).replace('"exp":0', '"exp":1e999'),
  }),
  "an end this second": claims({ exp: SECOND }),
  "an end a second ago": claims({ exp: SECOND - 1 }),
  "an end an hour ago": claims({ exp: SECOND - 3_600 }),
  "a begin in 61 seconds": claims({ nbf: SECOND + 61 }),
  "a begin that is a text": claims({ nbf: "0" }),
  "issued in 61 seconds": claims({ iat: SECOND + 61 }),
  "issued at a text": claims({ iat: "0" }),
  "neither subject nor client": claims({ sub: undefined, client_id: undefined }),
  "a subject that is empty, and no client": claims({ sub: "", client_id: undefined }),
  "a subject that is an object, and no client": claims({ sub: { a: 1 }, client_id: undefined }),
};

/** Keys of every kind that must not be used, beside the good ones. */
function withBadKeys(): TestResource {
  const resource = new TestResource();
  resource.keys.push(
    published(PAIRS.other.publicKey, { kid: "second", alg: "ES256" }),
    published(PAIRS.ec384.publicKey, { kid: "p384" }),
    published(PAIRS.weak.publicKey, { kid: "weak" }),
    published(PAIRS.ec.publicKey, { kid: "enc", use: "enc" }),
    published(PAIRS.ec.publicKey, { kid: "ops", key_ops: ["encrypt"] }),
    published(PAIRS.ec.privateKey, { kid: "private" }),
    { kty: "oct", k: encoded("shared secret"), kid: "shared", alg: "HS256" },
  );
  return resource;
}

const ALL = { ...ALGORITHMS, ...HEADERS, ...FORMS, ...CLAIM_CASES };

describe(`tokens that must not be accepted, ${Object.keys(ALL).length} kinds`, () => {
  const resource = withBadKeys();

  it.each(Object.entries(ALL))("AUTHS-04, AUTHS-05, hardening 6.1.1-3: %s", async (_name, token) => {
    const { status, challenge, body } = await resource.bearer(token);
    // Byte for byte the same for all: a forger must not learn which check a token failed.
    expect({ status, challenge, body }).toEqual(REFUSED);
  });

  it("leads to no request that a token names", () => {
    expect(resource.fetched.filter((url) => !url.startsWith(ISSUER))).toEqual([]);
  });

  it("writes nothing about them, least of all themselves", () => {
    expect(resource.warnings).toEqual([]);
  });
});

const ACCEPTED: Record<string, string> = {
  "a good token": good,
  RS256: header({ alg: "RS256", kid: "rsa" }, { algorithm: "RS256", key: PAIRS.rsa.privateKey }),
  EdDSA: header({ alg: "EdDSA", kid: "ed" }, { algorithm: "EdDSA", key: PAIRS.ed.privateKey }),
  ES384: header({ alg: "ES384", kid: "p384" }, { algorithm: "ES384", key: PAIRS.ec384.privateKey }),
  "the type JWT": header({ typ: "JWT" }),
  "the type application/at+jwt": header({ typ: "application/at+jwt" }),
  "no type": header({ typ: undefined }),
  "an address of keys that is ignored": header({ jku: "https://evil.example/jwks" }),
  "a member twice, of which the last counts": parts(
    ...(() => {
      const head = encoded('{"alg":"none","kid":"ec","alg":"ES256"}');
      return [head, goodBody, signature("ES256", `${head}.${goodBody}`, PAIRS.ec.privateKey).toString("base64url")];
    })(),
  ),
  "our audience among others": claims({ aud: ["https://other.example", RESOURCE] }),
  "an end with a fraction": claims({ exp: SECOND + 0.5 }),
  "a begin in 59 seconds": claims({ nbf: SECOND + 59 }),
  "issued in 59 seconds": claims({ iat: SECOND + 59 }),
  "no time of issue": claims({ iat: undefined }),
  "a subject without a client": claims({ client_id: undefined }),
  "a client without a subject": claims({ sub: undefined }),
};

describe("tokens that are accepted", () => {
  const resource = new TestResource();
  resource.keys.push(published(PAIRS.ec384.publicKey, { kid: "p384" }), published(PAIRS.ed.publicKey, { kid: "ed" }));

  it.each(Object.entries(ACCEPTED))("AUTHS-04: %s", async (_name, token) => {
    const seen = await resource.bearer(token);
    expect(seen.status).toBe(200);
    expect(told(seen)["key"]).toContain(ISSUER);
  });
});
