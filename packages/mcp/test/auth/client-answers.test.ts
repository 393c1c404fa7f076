import { inspect } from "node:util";
import { memoryTokenStore } from "@parley/mcp/auth";
import { describe, expect, it } from "vitest";
import { HOSTILE_REGISTRATIONS, HOSTILE_TOKENS, type HostileAnswer } from "./client-attacks/hostile-answers.js";
import { OTHER_ISSUERS } from "./client-attacks/hostile-issuers.js";
import { attempt, ClientTarget, expectNothingElsewhere, expectRefusal } from "./client-target.js";
import type { IssuerBehaviour } from "./test-issuer.js";

/** An issuer that answers at one endpoint with this. */
function answering(
  at: string,
  { body, status = 200, type = "application/json", headers }: HostileAnswer,
): IssuerBehaviour {
  return {
    intercept({ path }, response) {
      if (path !== at) return false;
      response.writeHead(status, { "content-type": type, ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
      return true;
    },
  };
}

describe("the answer to a login", () => {
  const rows = [true, false].flatMap((announced) => [
    { announced, name: "no issuer", iss: undefined, isGood: !announced },
    { announced, name: "the right issuer", iss: "right", isGood: true },
    { announced, name: "an empty issuer", iss: "", isGood: false },
    ...OTHER_ISSUERS.map(({ name, of }) => ({ announced, name: `an issuer with ${name}`, iss: of, isGood: false })),
  ]);
  it.each(rows)(
    "AUTHC-19, AUTHC-20: announced $announced, with $name: good $isGood",
    async ({ announced, iss, isGood }) => {
      const target = await ClientTarget.start(
        {},
        { metadata: { authorization_response_iss_parameter_supported: announced } },
      );
      const right = target.issuer.issuer;
      const value = typeof iss === "function" ? String(iss(right)) : iss === "right" ? right : iss;
      target.issuer.behaviour.redirect = { iss: value };
      const result = await attempt(target);
      expect(result.visits).toHaveLength(1);
      if (isGood) expect(result.error).toBeUndefined();
      else {
        expectRefusal(result, "the login failed");
        expect(target.issuer.to("/token")).toEqual([]);
      }
    },
  );

  it.each(OTHER_ISSUERS)("AUTHC-21: an error of an issuer with $name is neither shown nor believed", async ({ of }) => {
    const target = await ClientTarget.start();
    const iss = String(of(target.issuer.issuer));
    target.issuer.behaviour.redirect = {
      iss,
      code: undefined,
      error: "access_denied",
      error_description: "visit evil",
      error_uri: "https://evil.example",
    };
    const result = await attempt(target);
    expectRefusal(result, "the login failed");
    expect(inspect(result.error)).not.toMatch(/access_denied|visit evil|evil\.example\/?"/);
  });

  it.each<[string, (back: URL) => URL | string, string | RegExp]>([
    ["no state", (back) => without(back, "state"), /"state" missing/],
    ["an empty state", (back) => having(back, "state", ""), /"state"/],
    ["another state", (back) => having(back, "state", "x"), /unexpected "state"/],
    ["a state in another case", (back) => having(back, "state", (old) => old.toUpperCase()), /unexpected "state"/],
    ["a state with a space", (back) => having(back, "state", (old) => `${old} `), /unexpected "state"/],
    ["two states", (back) => `${back.href}&state=x`, /"state"/],
    ["the state twice", (back) => `${back.href}&state=${back.searchParams.get("state")}`, /"state"/],
    ["two issuers", (back) => `${back.href}&iss=https://evil.example`, /"iss"/],
    ["no code", (back) => without(back, "code"), "the response has no code"],
    ["an empty code", (back) => having(back, "code", ""), "the response has no code"],
    ["a token", (back) => `${back.href}&token=canary`, "implicit and hybrid flows are not supported"],
    ["an id_token", (back) => `${back.href}&id_token=canary`, "implicit and hybrid flows are not supported"],
    ["a response as a JWT", (back) => `${back.href}&response=canary`, "JARM"],
    ["nothing", () => "", /"iss" \(issuer\) missing/],
    ["no address", () => "cancelled by the user", /"iss" \(issuer\) missing/],
    ["parameters in the fragment", (back) => back.href.replace("?", "#"), /"iss" \(issuer\) missing/],
  ])("AUTHC-15, AUTHC-18: with %s", async (_name, redirect, message) => {
    const target = await ClientTarget.start();
    const result = await attempt(target, { redirect });
    expectRefusal(result, "the login failed");
    expectRefusal(result, message);
    expect(target.issuer.to("/token")).toEqual([]);
    expect(inspect(result.error)).not.toContain("canary");
  });

  it("AUTHC-15: with a refusal, whose text cannot write to a terminal", async () => {
    const target = await ClientTarget.start(
      {},
      { redirect: { code: undefined, error: "access_denied", error_description: "no\u001b[2J\nway" } },
    );
    const result = await attempt(target);
    expectRefusal(result, "refused with access_denied: no\\u001b[2J\\nway");
    expect(target.issuer.to("/token")).toEqual([]);
  });
});

const having = (back: URL, name: string, value: string | ((old: string) => string)) => {
  const url = new URL(back);
  url.searchParams.set(name, typeof value === "string" ? value : value(url.searchParams.get(name) ?? ""));
  return url;
};
const without = (back: URL, name: string) => {
  const url = new URL(back);
  url.searchParams.delete(name);
  return url;
};

describe("the answer of a token endpoint", () => {
  it.each(HOSTILE_TOKENS)("with $name is refused, and nothing of it is shown", async (answer) => {
    const target = await ClientTarget.start({}, answering("/token", answer));
    const store = memoryTokenStore();
    const result = await attempt(target, { oauth: { store } });
    expectRefusal(result, answer.message);
    expect(inspect(result.error, { depth: 10 })).not.toContain("canary");
    expect(target.issuer.to("/token")).toHaveLength(1);
    expect(target.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    expect(await store.get(`issuer of ${target.url}`)).toBeUndefined();
  });

  const identity = (header: object, claims: object) =>
    [header, claims, {}].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const claims = { sub: "x", aud: "x", exp: 9e9, iat: 1 };
  it.each<[string, Record<string, unknown>]>([
    ["members that are null", { expires_in: null, refresh_token: null, scope: null, id_token: null, extra: null }],
    ["an empty refresh_token", { refresh_token: "" }],
    ["an empty scope", { scope: "" }],
    ...["ES256", "ES384", "EdDSA", "HS256", "none"].map((alg): [string, Record<string, unknown>] => [
      `an id_token of ${alg} by another issuer`,
      { id_token: identity({ alg }, { ...claims, iss: "https://tenant.example" }) },
    ]),
    ["an id_token that is encrypted", { id_token: "a.b.c.d.e" }],
    ["an id_token that is no token", { id_token: "no token" }],
    ["an id_token that is a number", { id_token: 1 }],
  ])("with %s is accepted, and what is not used is ignored", async (_name, members) => {
    const body = { access_token: "t", token_type: "bearer", ...members };
    const target = await ClientTarget.start({}, answering("/token", { name: "", body, message: "" }));
    const store = memoryTokenStore();
    expect((await attempt(target, { oauth: { store } })).error).toBeUndefined();
    const record = JSON.parse(String(await store.get(`tokens ${target.issuer.issuer} ${target.url}`)));
    expect(record).not.toHaveProperty("refreshToken");
    expect(record).not.toHaveProperty("expiresAt");
  });

  it.each([1e308, 1e21, Number.MAX_SAFE_INTEGER, "3600", 0.5])("with expires_in %s is accepted", async (lifetime) => {
    const body = { access_token: "t", token_type: "bearer", expires_in: lifetime };
    const target = await ClientTarget.start({}, answering("/token", { name: "", body, message: "" }));
    const store = memoryTokenStore();
    expect((await attempt(target, { oauth: { store } })).error).toBeUndefined();
    const record = JSON.parse(String(await store.get(`tokens ${target.issuer.issuer} ${target.url}`)));
    expect(Number.isFinite(record.expiresAt)).toBe(true);
    // Kept, it still works: the second connection asks nobody.
    if (lifetime !== 0.5) expect((await attempt(target, { oauth: { store } })).visits).toEqual([]);
  });

  it("redirects are not followed with a code in hand", async () => {
    const answer = { name: "", body: {}, status: 307, headers: { location: "https://evil.example/" }, message: "" };
    const target = await ClientTarget.start({}, answering("/token", answer));
    const result = await attempt(target);
    expect(String(result.error)).toMatch("redirects a POST, which is never followed");
    expectNothingElsewhere(target, result);
  });
});

describe("the answer to a registration", () => {
  it.each(HOSTILE_REGISTRATIONS)("AUTHC-31: with $name ends the attempt before the user is asked", async (answer) => {
    const target = await ClientTarget.start({}, answering("/register", answer));
    const result = await attempt(target);
    expectRefusal(result, "refused to register this client");
    expectRefusal(result, answer.message);
    expect(result.visits).toEqual([]);
    expectNothingElsewhere(target, result);
  });

  it("AUTHC-22: a secret for a client without authentication is not used", async () => {
    const body = { client_id: "c", client_secret: "canary-secret", token_endpoint_auth_method: "none" };
    const target = await ClientTarget.start({}, answering("/register", { name: "", body, status: 201, message: "" }));
    const store = memoryTokenStore();
    expect((await attempt(target, { oauth: { store } })).error).toBeUndefined();
    expect(target.issuer.to("/token")[0]?.form.has("client_secret")).toBe(false);
    expect(target.issuer.to("/token")[0]?.headers.authorization).toBeUndefined();
    expect(await store.get(`client ${target.issuer.issuer}`)).not.toContain("canary");
  });

  it("other redirect addresses and endpoints in the answer are not used", async () => {
    const body = {
      client_id: "c",
      redirect_uris: ["https://evil.example/"],
      registration_client_uri: "http://169.254.169.254/",
      token_endpoint: "https://evil.example/",
    };
    const target = await ClientTarget.start({}, answering("/register", { name: "", body, status: 201, message: "" }));
    const result = await attempt(target);
    expect(result.error).toBeUndefined();
    expect(new URL(result.visits[0] ?? "").searchParams.get("redirect_uri")).toBe("http://127.0.0.1:1/callback");
    expectNothingElsewhere(target, result);
  });
});
