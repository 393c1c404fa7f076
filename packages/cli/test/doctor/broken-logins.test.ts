import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { type Examined, examine, serveRequests, statuses } from "./examine.js";

/** A protected server on this machine that is its own authorization server, and what is wrong with it. */
interface Protection {
  readonly challenge?: string | undefined;
  /** Changes to the metadata of the resource; `false` publishes none. */
  readonly resource?: Record<string, unknown> | false;
  /** Changes to the metadata of the authorization server; `false` publishes none. */
  readonly server?: Record<string, unknown> | false;
  readonly status?: number;
}

const RESOURCE = "/.well-known/oauth-protected-resource/mcp";

function send(response: ServerResponse, document: Record<string, unknown> | false): void {
  if (document === false) response.writeHead(404).end();
  else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
}

async function protect(protection: Protection): Promise<string> {
  const { challenge, resource = {}, server = {}, status = 401 } = protection;
  const origin = await serveRequests((request, response) => {
    if (request.url === RESOURCE) {
      return send(response, resource && { resource: `${origin}/mcp`, authorization_servers: [origin], ...resource });
    }
    if (request.url === "/.well-known/oauth-authorization-server") {
      return send(response, server && { ...metadata(origin), ...server });
    }
    if (request.url !== "/mcp") return void response.writeHead(404).end();
    const header = challenge?.replace("ORIGIN", origin);
    response.writeHead(status, header === undefined ? {} : { "www-authenticate": header }).end();
  });
  return origin;
}

function metadata(origin: string): Record<string, unknown> {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
  };
}

const GOOD = `Bearer resource_metadata="ORIGIN${RESOURCE}"`;

async function examineProtected(protection: Protection, ...args: string[]): Promise<Examined & { origin: string }> {
  const origin = await protect(protection);
  return { ...(await examine([`${origin}/mcp`, ...args])), origin };
}

describe("parley doctor of a server that wants a login", () => {
  it("says how to log in where everything is in place", async () => {
    const seen = await examineProtected({ challenge: GOOD });
    expect(seen.code).toBe(4);
    expect(seen.broken).toMatchObject({
      step: "auth",
      code: "login_needed",
      cause: `${seen.origin}/mcp requires a login, and its login metadata is complete`,
      fix: `Run \`parley login ${seen.origin}/mcp\`, or pass a token: --header "Authorization: Bearer …".`,
      tried: [
        `protected resource metadata ${seen.origin}${RESOURCE}: found`,
        `authorization server metadata ${seen.origin}/.well-known/oauth-authorization-server: found`,
      ],
    });
    expect(statuses(seen)).toMatchObject({ http: "ok", host: "ok", auth: "failed", handshake: "skipped" });
    expect(seen.warnings).not.toContain("no_challenge");
  });

  it("warns of a 401 without WWW-Authenticate", async () => {
    const seen = await examineProtected({});
    expect(seen).toMatchObject({ code: 4, broken: { code: "login_needed" } });
    expect(seen.warnings).toContain("no_challenge");
  });

  it.each([
    ["without a challenge", undefined, "its 401 has no WWW-Authenticate header, and it publishes no"],
    ["with a challenge", "Bearer", "does not say where: it publishes no"],
  ])("says that a server %s publishes nothing about its login", async (_how, challenge, cause) => {
    const { broken, code } = await examineProtected({ challenge, resource: false, server: false });
    expect(code).toBe(4);
    expect(broken).toMatchObject({
      step: "auth",
      code: "no_auth_metadata",
      cause: expect.stringContaining(cause),
      fix: expect.stringContaining("Publish /.well-known/oauth-protected-resource"),
    });
  });

  it.each<[string, Protection, string, string]>([
    [
      "wrong_resource",
      { resource: { resource: "http://inner:8080/mcp" } },
      "is for another resource",
      "Behind a proxy, set `publicUrl`",
    ],
    [
      "no_authorization_server",
      { resource: { authorization_servers: [] } },
      "names no authorization server",
      "List one",
    ],
    [
      "refused_address",
      { resource: { authorization_servers: ["http://169.254.169.254/"] } },
      "must not be contacted",
      "Use an https address",
    ],
    ["no_server_metadata", { server: false }, "publishes no metadata", "Check the issuer"],
    ["wrong_issuer", { server: { issuer: "https://other.example" } }, "names another issuer", "Correct `issuer`"],
    ["no_pkce", { server: { code_challenge_methods_supported: [] } }, "does not announce PKCE", "List S256"],
  ])("finds the broken link %s", async (expected, protection, cause, fix) => {
    const { broken, code } = await examineProtected({ challenge: GOOD, ...protection });
    expect(code).toBe(4);
    expect(broken).toMatchObject({
      step: "auth",
      code: expected,
      cause: expect.stringContaining(cause),
      fix: expect.stringContaining(fix),
    });
    expect(broken?.cause).not.toContain("Tried:");
    expect(broken?.tried).not.toEqual([]);
  });

  it("warns of an authorization server that registers nobody", async () => {
    const seen = await examineProtected({ challenge: GOOD, server: { registration_endpoint: null } });
    expect(seen).toMatchObject({ code: 4, broken: { code: "login_needed" } });
    expect(seen.warnings).toContain("no_registration");
  });

  it("says that a token is refused, in the words of the server", async () => {
    const challenge = `${GOOD}, error="invalid_token", error_description="it has expired"`;
    const { broken, code } = await examineProtected({ challenge }, "--header", "Authorization: Bearer secret-token");
    expect(code).toBe(4);
    expect(broken).toMatchObject({
      code: "token_refused",
      cause: expect.stringContaining("does not accept the token in the Authorization header: it has expired"),
      fix: expect.stringContaining("Pass a token that was issued for this server"),
    });
    expect(JSON.stringify(broken)).not.toContain("secret-token");
  });

  it("says that credentials of another kind are wanted", async () => {
    const { broken } = await examineProtected({ challenge: 'Basic realm="shop"', resource: false, server: false });
    expect(broken).toMatchObject({ code: "other_scheme", cause: expect.stringContaining('Basic realm="shop"') });
  });

  it.each([
    ["insufficient_scope", 'Bearer error="insufficient_scope", scope="shop:write"', "lack the scope shop:write"],
    ["forbidden", undefined, "refuses these requests (403)"],
  ])("tells a 403 for %s from one for the host", async (expected, challenge, cause) => {
    const { broken, code } = await examineProtected({ status: 403, challenge });
    expect(code).toBe(4);
    expect(broken).toMatchObject({ step: "auth", code: expected, cause: expect.stringContaining(cause) });
  });
});
