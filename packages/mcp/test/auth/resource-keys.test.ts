import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { forge, ISSUER, PAIRS, published, SECOND, TestResource } from "./resource-fixture.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LONG = SECOND + 1_000_000;

/** A token that was never seen before, so that it must be verified. */
const fresh = (kid = "ec", key = PAIRS.ec.privateKey) =>
  forge({ header: { kid }, payload: { jti: randomUUID(), exp: LONG }, key });

const statuses = (resource: TestResource, tokens: string[]) =>
  Promise.all(tokens.map(async (token) => (await resource.bearer(token)).status));

const SECOND_KEY = published(PAIRS.other.publicKey, { kid: "next", alg: "ES256" });

describe("the keys of an issuer, hardening 6.1.4", () => {
  it("are fetched once for many tokens at once", async () => {
    const resource = new TestResource();
    expect(
      new Set(
        await statuses(
          resource,
          Array.from({ length: 50 }, () => fresh()),
        ),
      ),
    ).toEqual(new Set([200]));
    expect(resource.keyFetches).toBe(1);
  });

  it("a thousand unknown key ids lead to two requests at most", async () => {
    const resource = new TestResource();
    const found = await statuses(
      resource,
      Array.from({ length: 1_000 }, () => fresh(randomUUID())),
    );
    expect(new Set(found)).toEqual(new Set([401]));
    expect(resource.keyFetches).toBeLessThanOrEqual(2);
  });

  it("a key that the issuer has just changed to is found at once", async () => {
    const resource = new TestResource();
    expect(await statuses(resource, [fresh()])).toEqual([200]);
    resource.keys = [SECOND_KEY];
    expect(await statuses(resource, [fresh("next", PAIRS.other.privateKey)])).toEqual([200]);
    expect(resource.keyFetches).toBe(2);
  });

  it("unknown key ids one after the other lead to few requests: three at once, then one in ten seconds", async () => {
    const resource = new TestResource();
    await resource.bearer(fresh());
    for (let count = 0; count < 100; count++) await resource.bearer(fresh(randomUUID()));
    expect(resource.keyFetches).toBe(4);
    resource.now += 9_000;
    await resource.bearer(fresh("new"));
    expect(resource.keyFetches).toBe(4);
    resource.now += 1_000;
    await resource.bearer(fresh("new"));
    await resource.bearer(fresh("new"));
    expect(resource.keyFetches).toBe(5);
  });

  it("a new key is found by all who come with it at once, and the old one stays for as long as it is published", async () => {
    const resource = new TestResource();
    await resource.bearer(fresh());
    resource.keys.push(SECOND_KEY);
    const tokens = Array.from({ length: 20 }, () => fresh("next", PAIRS.other.privateKey));
    expect(new Set(await statuses(resource, [...tokens, fresh()]))).toEqual(new Set([200]));
    expect(resource.keyFetches).toBe(2);
    resource.keys = [SECOND_KEY];
    resource.now += 11 * MINUTE;
    expect(await statuses(resource, [fresh(), fresh("next", PAIRS.other.privateKey)])).toEqual([401, 200]);
  });

  it.each([
    ["no header", undefined, 10 * MINUTE],
    ["max-age=300", "public, max-age=300", 5 * MINUTE],
    ["max-age=0", "max-age=0", MINUTE],
    ["max-age of a century", "max-age=3153600000", 24 * HOUR],
    ["no-store", "no-store", 10 * MINUTE],
    ["a broken header", "max-age=soon", 10 * MINUTE],
  ])("are kept for a bounded time: %s", async (_name, header, freshMs) => {
    const resource = new TestResource();
    resource.reply = (url) => {
      const response = resource.documents(url);
      if (header !== undefined) response.headers.set("cache-control", header);
      return response;
    };
    await resource.bearer(fresh());
    resource.now += freshMs - 1;
    await resource.bearer(fresh());
    expect(resource.keyFetches).toBe(1);
    resource.now += 1;
    await resource.bearer(fresh());
    expect(resource.keyFetches).toBe(2);
  });

  it("are used for an hour more if the issuer is down, then nobody is let in, and it recovers", async () => {
    const resource = new TestResource();
    await resource.bearer(fresh());
    resource.reply = () => new Response("down", { status: 500 });
    resource.now += 10 * MINUTE + HOUR - 1;
    expect(await statuses(resource, [fresh()])).toEqual([200]);
    resource.now += 1;
    expect(await statuses(resource, [fresh()])).toEqual([503]);
    resource.reply = (url) => resource.documents(url);
    resource.now += 30_000;
    expect(await statuses(resource, [fresh()])).toEqual([200]);
  });

  it("are not asked for again and again while the issuer is down", async () => {
    const resource = new TestResource({ issuer: [{ issuer: ISSUER, jwksUri: `${ISSUER}/jwks` }] });
    resource.reply = () => new Response("down", { status: 500 });
    for (let count = 0; count < 50; count++) expect(await statuses(resource, [fresh()])).toEqual([503]);
    expect(resource.fetched).toEqual([`${ISSUER}/jwks`]);
    resource.reply = (url) => resource.documents(url);
    resource.now += 5_000;
    expect(await statuses(resource, [fresh()])).toEqual([200]);
  });

  it("are found without metadata where their address is configured", async () => {
    const resource = new TestResource({ issuer: [{ issuer: ISSUER, jwksUri: `${ISSUER}/jwks` }] });
    expect(await statuses(resource, [fresh()])).toEqual([200]);
    expect(resource.fetched).toEqual([`${ISSUER}/jwks`]);
  });
});

const filler = (count: number) => Array.from({ length: count }, (_, at) => ({ ...SECOND_KEY, kid: `k${at}` }));
const jwks = (body: () => Response | Promise<Response>) => (resource: TestResource) => (url: string) =>
  url.endsWith("/jwks") ? body() : resource.documents(url);
const metadata = (document: object) => (resource: TestResource) => (url: string) =>
  url.endsWith("/jwks") ? resource.documents(url) : Response.json(document);

describe("documents of an issuer that cannot be used: nobody is let in", () => {
  it.each<[string, (resource: TestResource) => TestResource["reply"]]>([
    ["keys that do not come", jwks(() => new Promise<Response>(() => {}))],
    ["keys of more than 256 KiB", jwks(() => Response.json({ keys: [], filler: "x".repeat(256 * 1024) }))],
    ["more than 100 keys", jwks(() => Response.json({ keys: filler(101) }))],
    ["no JSON", jwks(() => new Response("<html>"))],
    ["an array", jwks(() => Response.json([]))],
    ["keys that are no list", jwks(() => Response.json({ keys: {} }))],
    ["HTTP 404", jwks(() => new Response(null, { status: 404 }))],
    ["HTTP 204", jwks(() => new Response(null, { status: 204 }))],
    ["a redirect to another host", jwks(() => Response.redirect("https://evil.example/jwks", 302))],
    ["a redirect to this machine", jwks(() => Response.redirect("http://127.0.0.1/jwks", 302))],
    ["a redirect without end", jwks(() => Response.redirect(`${ISSUER}/jwks`, 302))],
    ["a network that fails", jwks(() => Promise.reject(new TypeError("fetch failed")))],
    ["metadata of another issuer", metadata({ issuer: "https://evil.example", jwks_uri: `${ISSUER}/jwks` })],
    ["metadata without keys", metadata({ issuer: ISSUER })],
    [
      "metadata whose keys are at an address in plain text",
      metadata({ issuer: ISSUER, jwks_uri: "http://evil.example/jwks" }),
    ],
    ["metadata whose keys are in a file", metadata({ issuer: ISSUER, jwks_uri: "file:///etc/passwd" })],
  ])("%s", async (_name, reply) => {
    const resource = new TestResource();
    resource.reply = reply(resource);
    const { status, challenge, body } = await resource.bearer(fresh());
    expect([status, challenge]).toEqual([503, null]);
    expect(body).toContain("the token cannot be verified now");
    expect(resource.fetched.filter((url) => !url.startsWith(ISSUER))).toEqual([]);
  });

  it("a hundred keys are not too many, and a key that nobody can use does not spoil the rest", async () => {
    const resource = new TestResource();
    resource.keys.push(...filler(96), { kty: "new" }, { kty: "EC", kid: "broken", crv: "P-256" });
    expect(await statuses(resource, [fresh()])).toEqual([200]);
  });
});
