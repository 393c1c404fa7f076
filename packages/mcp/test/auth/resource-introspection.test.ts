import { InvalidToken, type ResourceServerOptions } from "@parley/mcp/auth";
import { describe, expect, it } from "vitest";
import { ISSUER, type Json, RESOURCE, SECOND, TestResource, told } from "./resource-fixture.js";

const introspection = { endpoint: `${ISSUER}/introspect`, client: { clientId: "shop", clientSecret: "s3cret" } };
const ANSWER = { active: true, aud: RESOURCE, sub: "ada", client_id: "app", scope: "read", exp: SECOND + 300 };

function asking(answer: () => Response, options: Partial<ResourceServerOptions> = {}): TestResource {
  const resource = new TestResource({ introspection, ...options });
  resource.reply = answer;
  return resource;
}

const json = (changes: Json) => () => Response.json({ ...ANSWER, ...changes });

describe("tokens that the issuer is asked about, hardening 6.1.5", () => {
  it.each<[string, () => Response, number]>([
    ["an active one", json({}), 200],
    ["one without an end", json({ exp: undefined }), 200],
    ["one for several audiences", json({ aud: ["x", RESOURCE] }), 200],
    ["one that is not active", json({ active: false }), 401],
    ["active as a text", json({ active: "true" }), 401],
    ["active as a number", json({ active: 1 }), 401],
    ["active left out", json({ active: undefined }), 401],
    ["another audience", json({ aud: "https://other.example" }), 401],
    ["an audience that begins like ours", json({ aud: `${RESOURCE}/x` }), 401],
    ["no audience", json({ aud: undefined }), 401],
    ["another issuer", json({ iss: "https://evil.example" }), 401],
    ["an issuer that is a number", json({ iss: 5 }), 401],
    ["an issuer that is a list", json({ iss: [ISSUER] }), 401],
    ["an issuer that is empty", json({ iss: "" }), 401],
    ["an issuer of null", json({ iss: null }), 200],
    ["one that has ended", json({ exp: SECOND }), 401],
    ["an end as a text", json({ exp: "never" }), 401],
    ["one that has not begun", json({ nbf: SECOND + 1 }), 401],
    ["nobody", json({ sub: undefined, client_id: undefined }), 401],
    ["an array", () => Response.json([]), 401],
    ["null", () => Response.json(null), 503],
    ["no JSON", () => new Response("secret-canary"), 503],
    ["HTTP 500", () => new Response("secret-canary", { status: 500 }), 503],
    ["HTTP 401", () => new Response("secret-canary", { status: 401 }), 503],
    ["a redirect", () => Response.redirect(`${ISSUER}/other`, 307), 503],
  ])("AUTHS-04: %s", async (_name, answer, status) => {
    const resource = asking(answer);
    const seen = await resource.bearer("opaque");
    expect(seen.status).toBe(status);
    expect(seen.body + resource.warnings.join()).not.toMatch(/canary|opaque|s3cret/);
  });

  it("are asked about once a minute, and not beyond their end", async () => {
    const resource = asking(json({ exp: SECOND + 90 }));
    for (let count = 0; count < 5; count++) expect((await resource.bearer("opaque")).status).toBe(200);
    expect(resource.fetched).toHaveLength(1);
    resource.now += 61_000;
    expect((await resource.bearer("opaque")).status).toBe(200);
    expect(resource.fetched).toHaveLength(2);
    resource.now += 29_000;
    expect((await resource.bearer("opaque")).status).toBe(401);
  });

  it("are asked about once for all who come with one at the same time", async () => {
    const resource = asking(json({}));
    const all = await Promise.all(Array.from({ length: 50 }, () => resource.bearer("opaque")));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
    expect(resource.fetched).toHaveLength(1);
  });

  it("are asked about once a minute also if they are refused, each for itself", async () => {
    const resource = asking(json({ active: false }));
    for (let count = 0; count < 200; count++) expect((await resource.bearer("opaque")).status).toBe(401);
    expect(resource.fetched).toHaveLength(1);
    expect((await resource.bearer("another")).status).toBe(401);
    expect(resource.fetched).toHaveLength(2);
    resource.now += 60_000;
    resource.reply = json({});
    expect((await resource.bearer("opaque")).status).toBe(200);
    expect(resource.fetched).toHaveLength(3);
  });

  it("are asked about again at once if the question failed, or if they begin later", async () => {
    for (const first of [() => new Response(null, { status: 500 }), json({ nbf: SECOND + 1 })]) {
      const resource = asking(first);
      expect((await resource.bearer("opaque")).status).not.toBe(200);
      resource.reply = json({});
      expect((await resource.bearer("opaque")).status).toBe(200);
    }
  });

  it("wait for an endpoint that does not answer no longer than `timeoutMs`", async () => {
    const resource = asking(json({}), { introspection: { ...introspection, timeoutMs: 1_000 } });
    resource.reply = () => new Promise<Response>(() => {});
    expect((await resource.bearer("opaque")).status).toBe(503);
    expect(resource.warnings).toEqual([expect.stringContaining("did not answer within 1000 ms")]);
    expect((await asking(json({}), {}).bearer("opaque")).status).toBe(200);
    const usual = asking(json({}));
    usual.reply = () => new Promise<Response>(() => {});
    expect((await usual.bearer("opaque")).status).toBe(503);
    expect(usual.warnings).toEqual([expect.stringContaining("did not answer within 5000 ms")]);
  });

  it("are refused a minute after they were withdrawn", async () => {
    const resource = asking(json({}));
    expect((await resource.bearer("opaque")).status).toBe(200);
    resource.reply = json({ active: false });
    resource.now += 60_000;
    expect((await resource.bearer("opaque")).status).toBe(401);
  });

  it("go to the configured address only, with the name of this server", async () => {
    let sent: RequestInit | undefined;
    const resource = new TestResource({ introspection });
    resource.reply = (_url, init) => {
      sent = init;
      return json({})();
    };
    await resource.bearer("opaque");
    expect(resource.fetched).toEqual([introspection.endpoint]);
    expect(new Headers(sent?.headers).get("authorization")).toMatch(/^Basic /);
    expect(String(sent?.body)).toContain("token=opaque");
  });
});

describe("tokens that the application verifies itself", () => {
  const verified = { issuer: ISSUER, subject: "ada", audience: [RESOURCE], scopes: [], expiresAt: 1.9e12, claims: {} };

  it.each<[string, ResourceServerOptions["verify"], number]>([
    ["a promise", async () => verified, 200],
    ["a value", () => verified, 200],
    ["a refusal", () => Promise.reject(new InvalidToken("canary")), 401],
    ["one that has ended", () => ({ ...verified, expiresAt: 1 }), 401],
    ["an end that is no number", () => ({ ...verified, expiresAt: Number.NaN }), 401],
    ["nobody", () => ({ ...verified, subject: undefined }), 401],
    ["a failure", () => Promise.reject(new Error("down")), 503],
    ["nothing", () => undefined as never, 503],
  ])("%s", async (_name, verify, status) => {
    const seen = await new TestResource({ verify }).bearer("opaque");
    expect(seen.status).toBe(status);
    expect(seen.body + seen.challenge).not.toContain("canary");
    if (status === 200) expect(told(seen)["subject"]).toBe("ada");
  });
});
