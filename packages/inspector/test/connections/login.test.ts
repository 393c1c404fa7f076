import { Server } from "@parley/mcp";
import { memoryTokenStore, resourceServer } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { ClientTarget } from "../../../mcp/test/auth/client-target.js";
import { type IssuerBehaviour, TestIssuer } from "../../../mcp/test/auth/test-issuer.js";
import { freePort } from "../../../mcp/test/free-port.js";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { type DrivenEngine, driveEngine, ERAS } from "../engine/opened-engine.js";

/** A protected server, and the issuer whose tokens it accepts. */
async function protectedServer(behaviour: IssuerBehaviour = {}, scopes: readonly string[] = ["shop:read"]) {
  const issuer = await TestIssuer.start(behaviour);
  onTestFinished(() => issuer.close());
  const port = await freePort();
  const server = new Server({ name: "shop", version: "1" })
    .tool("who", (_, ctx) => JSON.stringify(ctx.auth?.subject))
    .tool("buy", { scopes: ["shop:buy"] }, () => "bought");
  const auth = resourceServer({ resource: `http://127.0.0.1:${port}/mcp`, issuer: issuer.issuer, scopes });
  const handle = await serveHttp(server, { port, auth });
  onTestFinished(() => handle.close());
  return { issuer, url: handle.url };
}

/** A user who visits the page that is shown, and agrees. */
async function agree({ login }: ConnectionInfo): Promise<void> {
  const response = await fetch(login?.visit ?? "");
  expect(await response.text()).toMatch(/./);
}

/** Every secret that was given to anybody. */
function secretsOf(issuer: TestIssuer): string[] {
  const forms = issuer.requests.flatMap(({ path, form }) => (path === "/token" ? [...form] : []));
  return forms.flatMap(([name, value]) => (/^(code|code_verifier|refresh_token)$/.test(name) ? [value] : []));
}

async function everythingShown({ engine, act, entries }: DrivenEngine): Promise<string> {
  const details = await Promise.all(entries().map(({ seq }) => act("entry", { seq })));
  return JSON.stringify([engine.state(), details]);
}

describe.each(ERAS)("a login in %s", (revision) => {
  it("shows the page to visit, every step, and the scopes that were granted", async () => {
    const { issuer, url } = await protectedServer();
    const driven = driveEngine({ revision });
    const { act, reaches } = driven;
    const { connection } = await act("connectUrl", { url, revision });
    const waiting = await reaches(connection, "login");
    expect(new URL(waiting.login?.visit ?? "").origin).toBe(issuer.origin);
    expect(waiting.login?.visit).toContain("code_challenge_method=S256");
    await agree(waiting);
    const { login } = await reaches(connection, "ready");
    expect(login?.visit).toBeUndefined();
    expect(login?.scopes).toEqual(["shop:read"]);
    expect(login?.steps.map(({ step, ok }) => `${step} ${ok}`)).toEqual([
      "challenge true",
      "discovery true",
      "discovery true",
      "registration true",
      "login true",
      "token true",
    ]);
    expect(login?.steps[0]?.outcome).toMatch(/HTTP 401: Bearer .*resource_metadata/);
    expect(login?.steps[4]?.outcome).toBe("the login returned a code");
    expect(login?.steps[5]?.outcome).toMatch(/a token for shop:read/);
    for (const { step, seq } of login?.steps ?? []) {
      if (step === "login") continue;
      const { http, summary } = await act("entry", { seq: seq ?? 0 });
      expect([summary.kind, http?.status === undefined]).toEqual(["http", false]);
    }
  });

  it("shows no code, no verifier and no token", async () => {
    const { issuer, url } = await protectedServer({ rotates: true });
    const driven = driveEngine();
    const { act, reaches, entries, when } = driven;
    const { connection } = await act("connectUrl", { url, revision });
    await agree(await reaches(connection, "login"));
    await reaches(connection, "ready");
    const { call } = await act("call", { connection, request: { kind: "tool", name: "who", arguments: {} } });
    await when(({ calls }) => calls.some(({ id, status }) => id === call && status === "done"));
    const shown = await everythingShown(driven);
    const secrets = secretsOf(issuer);
    expect(secrets.length).toBeGreaterThanOrEqual(2);
    for (const secret of secrets) expect(shown).not.toContain(secret);
    expect(shown).not.toMatch(/eyJ[\w-]{8,}\./);
    const token = entries().find(({ label }) => label.includes("/token"));
    const { http } = await act("entry", { seq: token?.seq ?? 0 });
    expect(http?.requestBody).toMatch(/grant_type=authorization_code/);
    expect(http?.requestBody).toMatch(/code=\[redacted\]/);
    expect(JSON.parse(http?.responseBody ?? "")).toMatchObject({ access_token: "[redacted]", token_type: "Bearer" });
    const asked = entries().findLast(({ kind, label }) => kind === "request" && label === "tools/call");
    const { http: sent } = await act("entry", { seq: asked?.seq ?? 0 });
    expect(sent?.requestHeaders["authorization"]).toBe("Bearer [redacted]");
  });

  it("waits for the user once more when a call needs more scopes", async () => {
    const { url } = await protectedServer();
    const { act, reaches, when } = driveEngine();
    const { connection } = await act("connectUrl", { url, revision });
    await agree(await reaches(connection, "login"));
    await reaches(connection, "ready");
    const { call } = await act("call", { connection, request: { kind: "tool", name: "buy", arguments: {} } });
    await agree(await reaches(connection, "login"));
    await when(({ calls }) => calls.some(({ id, status }) => id === call && status === "done"));
    const { login } = await reaches(connection, "ready");
    expect(login?.scopes).toEqual(["shop:read", "shop:buy"]);
  });
});

describe("a login", () => {
  it("happens once for all connections to a server, until the user logs out", async () => {
    const { issuer, url } = await protectedServer();
    const { act, reaches } = driveEngine();
    const { connection } = await act("connectUrl", { url });
    await agree(await reaches(connection, "login"));
    await reaches(connection, "ready");
    const another = await act("connectUrl", { url });
    expect((await reaches(another.connection, "ready")).login).toBeUndefined();
    expect(issuer.to("/authorize")).toHaveLength(1);
    await act("logout", { connection });
    await agree(await reaches(connection, "login"));
    await reaches(connection, "ready");
    expect(issuer.to("/authorize")).toHaveLength(2);
  });

  it("ends with the session, which is closed by the token before that is forgotten", async () => {
    const target = await ClientTarget.start();
    const { act, reaches } = driveEngine();
    const { connection } = await act("connectUrl", { url: target.url, revision: "2025-11-25" });
    await agree(await reaches(connection, "login"));
    await reaches(connection, "ready");
    await act("logout", { connection });
    await reaches(connection, "login");
    const ends = target.requests.filter(({ method }) => method === "DELETE");
    expect(ends.map(({ headers }) => headers.authorization?.split(" ")[0])).toEqual(["Bearer"]);
    expect(target.issuer.to("/revoke")).toHaveLength(1);
    expect(target.issuer.to("/register")).toHaveLength(2);
  });

  it("uses the tokens that the terminal keeps", async () => {
    const { issuer, url } = await protectedServer();
    const tokens = memoryTokenStore();
    const first = driveEngine({ tokens });
    const { connection } = await first.act("connectUrl", { url });
    await agree(await first.reaches(connection, "login"));
    await first.reaches(connection, "ready");
    const second = driveEngine({ tokens });
    await second.act("connectUrl", { url });
    await second.reaches("c1", "ready");
    expect(issuer.to("/authorize")).toHaveLength(1);
  });

  it("renews a token that has ended, and shows it", async () => {
    const { url } = await protectedServer({ expiresIn: 1, rotates: true });
    const { act, reaches, when } = driveEngine();
    const { connection } = await act("connectUrl", { url });
    await agree(await reaches(connection, "login"));
    await reaches(connection, "ready");
    // The token is old from the start: it is renewed before the next request.
    const { call } = await act("call", { connection, request: { kind: "tool", name: "who", arguments: {} } });
    await when(({ calls }) => calls.some(({ id, status }) => id === call && status === "done"));
    await when(({ connections }) => connections[0]?.login?.steps.some(({ step, ok }) => step === "refresh" && ok));
  });

  it("that is refused says every step", async () => {
    const { url } = await protectedServer({ metadata: { issuer: "https://elsewhere.example" } });
    const { act, reaches } = driveEngine();
    const { connection } = await act("connectUrl", { url });
    const { problem, login } = await reaches(connection, "failed");
    expect(problem).toMatchObject({ kind: "authorization_failed", data: { steps: expect.arrayContaining([]) } });
    expect(problem?.fix).toMatch(/./);
    expect(login?.steps.map(({ step }) => step)).toContain("discovery");
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"])(
    "never shows %s as its page",
    async (page) => {
      const { url } = await protectedServer({ metadata: { authorization_endpoint: page } });
      const { engine, act, reaches } = driveEngine();
      const visits = new Set<string | undefined>();
      engine.onChange(() => visits.add(engine.state().connections[0]?.login?.visit));
      const { connection } = await act("connectUrl", { url });
      expect((await reaches(connection, "failed")).problem?.kind).toBe("authorization_failed");
      expect([...visits]).toEqual([undefined]);
    },
  );

  it("in which the server refuses the user shows that", async () => {
    const { url } = await protectedServer({ redirect: { error: "access_denied", code: undefined } });
    const { act, reaches } = driveEngine();
    const { connection } = await act("connectUrl", { url });
    await fetch((await reaches(connection, "login")).login?.visit ?? "");
    const { problem, login } = await reaches(connection, "failed");
    expect(problem?.kind).toBe("authorization_failed");
    expect(login?.steps.find(({ step }) => step === "login")).toMatchObject({ ok: false });
    expect(login?.visit).toBeUndefined();
  });

  it("that nobody waits for any more is given up when the connection is closed", async () => {
    const { url } = await protectedServer();
    const { act, reaches, engine } = driveEngine();
    const { connection } = await act("connectUrl", { url });
    const { login } = await reaches(connection, "login");
    const redirect = new URL(login?.visit ?? "").searchParams.get("redirect_uri") ?? "";
    expect(redirect).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//);
    await act("disconnect", { connection });
    expect(engine.state().connections[0]).toMatchObject({ status: "closed" });
    await expect(fetch(redirect)).rejects.toThrow();
  });

  it("does not begin for an address that is given credentials", async () => {
    const { issuer, url } = await protectedServer();
    const { act, reaches } = driveEngine();
    const { connection } = await act("connectUrl", { url, headers: { Authorization: "Bearer wrong-token" } });
    const { problem, login } = await reaches(connection, "failed");
    expect([problem?.kind, login]).toEqual(["auth_required", undefined]);
    await expect(act("logout", { connection })).rejects.toMatchObject({ kind: "invalid_params" });
    expect(issuer.requests).toEqual([]);
  });
});
