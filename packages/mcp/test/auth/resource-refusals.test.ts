import { readFileSync } from "node:fs";
import { Server } from "@parley/mcp";
import { InvalidToken, type ResourceServerOptions, resourceServer, type TokenRefusal } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { prometheusMetrics } from "@parley/mcp/telemetry";
import { describe, expect, it } from "vitest";
import { freePort } from "../free-port.js";
import {
  CLAIMS,
  type Forged,
  forge,
  ISSUER,
  message,
  PAIRS,
  REFUSED,
  RESOURCE,
  SECOND,
  TestResource,
} from "./resource-fixture.js";
import { TestIssuer } from "./test-issuer.js";

/** A server whose refusals the test sees. */
function watched(options: Partial<ResourceServerOptions> = {}) {
  const refusals: TokenRefusal[] = [];
  const onRefused = (refusal: TokenRefusal) => refusals.push(refusal);
  return { refusals, resource: new TestResource({ onRefused, ...options }) };
}

function circle(): object {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

const CASES: [reason: string, token: Forged, more: Partial<TokenRefusal>][] = [
  ["wrong_audience", { payload: { aud: "https://other.example/mcp" } }, { aud: "https://other.example/mcp" }],
  ["wrong_audience", { payload: { aud: `${RESOURCE}/` } }, { expected: [RESOURCE], got: `${RESOURCE}/` }],
  ["wrong_audience", { payload: { aud: ["a", "b"] } }, { got: ["a", "b"], aud: ["a", "b"] }],
  ["wrong_audience", { payload: { aud: undefined } }, { expected: [RESOURCE] }],
  ["wrong_issuer", { payload: { iss: `${ISSUER}/` } }, { expected: [ISSUER], got: `${ISSUER}/`, iss: `${ISSUER}/` }],
  ["expired", { payload: { exp: SECOND - 61 } }, { got: String(SECOND - 61) }],
  ["expired", { payload: { exp: SECOND } }, { got: String(SECOND) }],
  ["not_yet_valid", { payload: { nbf: SECOND + 61 } }, { got: String(SECOND + 61) }],
  ["not_yet_valid", { payload: { iat: SECOND + 61 } }, { got: String(SECOND + 61) }],
  ["unknown_key", { header: { kid: "k9" } }, { kid: "k9", got: "k9" }],
  ["bad_signature", { key: PAIRS.other.privateKey }, { kid: "ec", alg: "ES256" }],
  ["wrong_algorithm", { header: { alg: "HS256" }, algorithm: "HS256", key: "x" }, { got: "HS256", alg: "HS256" }],
  ["wrong_type", { header: { typ: "logout+jwt" } }, { expected: "at+jwt", got: "logout+jwt" }],
  ["wrong_claim", { payload: { sub: undefined, client_id: undefined } }, { expected: ["sub", "client_id"] }],
  ["wrong_claim", { payload: { exp: "soon" } }, { got: "soon" }],
  ["malformed", { payload: "no JSON" }, {}],
];

describe("an operator learns why a token was refused, and its sender does not", () => {
  it.each(CASES)("%s: %j", async (reason, forged, more) => {
    const { refusals, resource } = watched();
    const token = forge(forged);
    const { status, challenge, body } = await resource.bearer(token);
    expect({ status, challenge, body }).toEqual(REFUSED);
    expect(refusals).toEqual([expect.objectContaining({ reason, status: 401, path: "/mcp", ...more })]);
    const parts = token.split(".").filter((part) => part !== "");
    for (const part of parts) expect(JSON.stringify(refusals)).not.toContain(part);
    expect(resource.warnings).toEqual([]);
  });

  it.each<[string, string | undefined, number]>([
    ["missing_token", undefined, 401],
    ["unsupported_scheme", "Basic YTpi", 401],
    ["malformed_request", "Bearer a b", 400],
    ["malformed", "Bearer canary", 401],
    ["dpop_required", `DPoP ${forge()}`, 401],
    ["dpop_required", `Bearer ${forge({ payload: { cnf: { jkt: "x" } } })}`, 401],
    ["dpop_invalid", `DPoP ${forge({ payload: { cnf: { jkt: "x" } } })}`, 401],
  ])("%s", async (reason, authorization, status) => {
    const { refusals, resource } = watched();
    expect((await resource.ask(authorization)).status).toBe(status);
    expect(refusals).toEqual([expect.objectContaining({ reason, status })]);
    expect(JSON.stringify(refusals)).not.toContain("canary");
  });

  it("missing_scope, each time, also for a token that is remembered", async () => {
    const { refusals, resource } = watched({ scopes: ["read", "write"] });
    for (let count = 0; count < 2; count++) await resource.bearer(forge({ payload: { scope: "write" } }));
    const refusal = { reason: "missing_scope", status: 403, expected: ["read"], got: ["write"], iss: ISSUER };
    expect(refusals).toEqual([expect.objectContaining(refusal), expect.objectContaining(refusal)]);
  });

  it.each<[string, unknown, Partial<TokenRefusal>]>([
    ["inactive", { active: false }, {}],
    ["wrong_audience", { active: true, aud: "x" }, { expected: [RESOURCE], got: ["x"] }],
    ["wrong_issuer", { active: true, iss: 5, aud: RESOURCE }, { expected: ISSUER, got: "5" }],
  ])("of introspection: %s", async (reason, answer, more) => {
    const introspection = { endpoint: `${ISSUER}/introspect`, client: { clientId: "shop", clientSecret: "s3cret" } };
    const { refusals, resource } = watched({ introspection });
    resource.reply = () => Response.json(answer);
    await resource.bearer("canary");
    expect(refusals).toEqual([expect.objectContaining({ reason, status: 401, ...more })]);
    expect(JSON.stringify(refusals)).not.toMatch(/canary|s3cret/);
  });

  it("of a `verify` of its own: what it says, else that it rejected", async () => {
    const error = new InvalidToken("unknown", { reason: "revoked", expected: "a", got: "b" });
    for (const [thrown, more] of [
      [error, { reason: "revoked", message: "unknown", expected: "a", got: "b" }],
      [new InvalidToken("unknown"), { reason: "rejected" }],
      [new Error("out of order"), { reason: "unverifiable", status: 503 }],
    ] as const) {
      const { refusals, resource } = watched({ verify: () => Promise.reject(thrown) });
      await resource.bearer("x");
      expect(refusals).toEqual([expect.objectContaining(more)]);
    }
  });

  it("AUTHS-04: claims that JSON cannot write again are refused with 401 like any others", async () => {
    const { refusals, resource } = watched();
    const deep = `{"iss":${"[".repeat(5_900)}${"]".repeat(5_900)}}`;
    const { status, challenge, body } = await resource.bearer(forge({ payload: deep }));
    expect({ status, challenge, body }).toEqual(REFUSED);
    expect(refusals).toEqual([expect.objectContaining({ status: 401, iss: expect.any(String) })]);
  });

  it.each<[string, unknown, string]>([
    ["a bigint", 10n, "bigint"],
    ["a circle", circle(), "object"],
    ["a list with a bigint", [1, 10n], "1,bigint"],
    ["a `toJSON` that throws", { toJSON: () => expect.unreachable() }, "object"],
    ["a symbol", Symbol("x"), "symbol"],
  ])("of a `verify` that names %s: the type of it", async (_name, got, shown) => {
    const { refusals, resource } = watched({
      verify: () => Promise.reject(new InvalidToken("x", { got: got as string })),
    });
    const { status, challenge, body } = await resource.bearer("x");
    expect({ status, challenge, body }).toEqual(REFUSED);
    expect(String(refusals[0]?.got)).toBe(shown);
  });

  it("is bounded whatever a token claims, and a hook that throws changes nothing", async () => {
    const { refusals, resource } = watched();
    await resource.bearer(forge({ payload: { aud: Array.from({ length: 50 }, () => "x".repeat(300)) } }));
    expect(refusals[0]?.aud).toHaveLength(10);
    expect(JSON.stringify(refusals).length).toBeLessThan(6_000);
    const failing = new TestResource({
      onRefused() {
        throw new Error("broken");
      },
    });
    const { status, challenge, body } = await failing.bearer("x");
    expect({ status, challenge, body }).toEqual(REFUSED);
    expect(failing.warnings).toEqual([expect.stringContaining("`onRefused` failed: broken")]);
  });
});

const LIST = {
  headers: {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
  },
  body: JSON.stringify(message("tools/list", {})),
};

/** A token of this second, for a server whose clock is the real one. */
const of = (payload: object) => forge({ payload: { ...CLAIMS, ...payload } });
const request = (token: string, remoteAddress: string | undefined) => ({
  method: "POST",
  path: "/mcp",
  header: (name: string) => (name === "authorization" ? `Bearer ${token}` : undefined),
  headers: () => ({}),
  remoteAddress,
});

describe("without a hook", () => {
  it("refusals of callers on this machine are printed, those of others are not", async () => {
    const resource = new TestResource();
    const token = of({ aud: "https://x.example/\u001b[2J\nforged" });
    await resource.auth.authenticate(request(token, "198.51.100.7"));
    await resource.auth.authenticate(request(token, undefined));
    expect(resource.warnings).toEqual([]);
    await resource.auth.authenticate(request(token, "127.0.0.1"));
    await resource.auth.authenticate(request(token, "::1"));
    expect(resource.warnings).toHaveLength(2);
    const [line = ""] = resource.warnings;
    expect(line).toContain(`a token was refused, wrong_audience: `);
    expect(line).toContain(`expected ["${RESOURCE}"], got "https://x.example/`);
    expect(line).toContain("Set `audience`");
    expect([line.includes("\n"), line.includes("\u001b")]).toEqual([false, false]);
  });

  it("at most ten are printed in a minute, and what belongs to every login is not", async () => {
    const resource = new TestResource();
    const local = (token: string) => resource.auth.authenticate(request(token, "127.0.0.1"));
    resource.auth.authenticate({ ...request("", "127.0.0.1"), header: () => undefined });
    for (let count = 0; count < 50; count++) await local(of({ aud: `https://${count}.example` }));
    expect(resource.warnings).toHaveLength(10);
    expect(resource.warnings[9]).toContain("Further refusals are not printed for a minute");
    resource.now += 60_000;
    await local(of({ aud: "https://x.example" }));
    expect(resource.warnings).toHaveLength(11);
  });
});

describe("metrics", () => {
  it("count refused senders by reason, over HTTP and for an `authenticate` of one's own", async () => {
    const metrics = prometheusMetrics();
    const server = new Server({ name: "shop", version: "1" });
    server.observe(metrics);
    const resource = new TestResource({ onRefused: () => {} }, server);
    await resource.ask(undefined);
    await resource.bearer(of({ aud: "https://x.example" }));
    await resource.bearer(of({ aud: "https://y.example" }));
    await resource.bearer(of({}));
    const reasons = [undefined, { status: 403, reason: "blocked" }, { status: 429 }] as const;
    let at = 0;
    const handle = await serveHttp(server, { port: 0, authenticate: () => reasons[at++] });
    for (const _reason of reasons) await fetch(handle.url, { method: "POST" });
    await handle.close();
    const lines = metrics.text().split("\n");
    expect(lines.filter((line) => line.startsWith("mcp_server_senders_refused_total")).sort()).toEqual([
      'mcp_server_senders_refused_total{reason="blocked"} 1',
      'mcp_server_senders_refused_total{reason="http_401"} 1',
      'mcp_server_senders_refused_total{reason="http_429"} 1',
      'mcp_server_senders_refused_total{reason="missing_token"} 1',
      'mcp_server_senders_refused_total{reason="wrong_audience"} 2',
    ]);
  });
});

describe("the guide", () => {
  const guide = readFileSync(new URL("../../../../docs/protecting-a-server.md", import.meta.url), "utf8");

  it("explains every reason", () => {
    const source = readFileSync(new URL("../../src/auth/resource/verified-token.ts", import.meta.url), "utf8");
    const reasons = [...source.matchAll(/^ {2}\| "(\w+)"/gm)].map(([, reason]) => `\`${reason}\``);
    expect(reasons.length).toBeGreaterThan(20);
    const rows = guide.slice(guide.indexOf("## Why a token was refused"), guide.indexOf("## Providers"));
    expect(reasons.filter((reason) => !rows.includes(reason))).toEqual([]);
  });

  it.each(["Auth0", "Entra ID", "Keycloak", "Okta", "WorkOS AuthKit", "Supabase", "Clerk", "Cognito"])(
    "says what tokens of a provider have as issuer and audience: %s",
    (provider) => {
      const row = guide.split("\n").find((line) => line.startsWith(`| ${provider} |`)) ?? "";
      expect(row.split(" | ")[1]).toMatch(/https:\/\//);
      expect(row.split(" | ")[2]).not.toBe("");
    },
  );
});

describe("a token for another audience (the referee's scenario auth-token-audience)", () => {
  it("AUTHS-04: is refused with 401 although its issuer has made it, and one for this server is served", async () => {
    const issuer = await TestIssuer.start();
    const port = await freePort();
    const resource = `http://127.0.0.1:${port}/mcp`;
    const reasons: string[] = [];
    const onRefused = ({ reason }: TokenRefusal) => reasons.push(reason);
    const auth = resourceServer({ resource, issuer: issuer.issuer, onRefused });
    const handle = await serveHttp(
      new Server({ name: "shop", version: "1" }).tool("x", () => ""),
      { port, auth },
    );
    const exp = Math.floor(Date.now() / 1_000) + 3_600;
    const ask = async (aud: string) => {
      const authorization = `Bearer ${await issuer.token({ aud, sub: "ada", exp })}`;
      return fetch(handle.url, { method: "POST", headers: { ...LIST.headers, authorization }, body: LIST.body });
    };
    for (const aud of ["https://other.example/mcp", `${resource}/`, issuer.issuer]) {
      const answer = await ask(aud);
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toContain('error="invalid_token"');
    }
    expect((await ask(resource)).status).toBe(200);
    expect(reasons).toEqual(["wrong_audience", "wrong_audience", "wrong_audience"]);
    await handle.close();
    issuer.close();
  });
});
