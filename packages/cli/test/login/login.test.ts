import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@parley/mcp";
import { resourceServer } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type IssuerBehaviour, type IssuerRequest, TestIssuer } from "../../../mcp/test/auth/test-issuer.js";
import { freePort } from "../../../mcp/test/free-port.js";
import { InspectingParley } from "../inspect/inspecting-parley.js";
import { runParley } from "../kit/run-parley.js";

const cleanups: (() => unknown)[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-login-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Answers the requests of programs for tokens, which the issuer itself does not know. */
function grantsPrograms(issuer: TestIssuer, url: string, request: IssuerRequest, response: ServerResponse): boolean {
  if (request.path !== "/token" || request.form.get("grant_type") !== "client_credentials") return false;
  const scope = request.form.get("scope") ?? "";
  void issuer.token({ aud: url, client_id: "ci", scope, sub: "ci" }).then((access_token) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ access_token, token_type: "Bearer", expires_in: 300, scope }));
  });
  return true;
}

async function protectedServer(behaviour: IssuerBehaviour = {}) {
  const issuer = await TestIssuer.start(behaviour);
  cleanups.push(() => issuer.close());
  const port = await freePort();
  const server = new Server({ name: "shop", version: "1" })
    .tool("who", (_args, ctx) => String(ctx.auth?.subject))
    .tool("admin", { scopes: ["reports:admin"] }, (_args, ctx) => String(ctx.auth?.scopes?.join(" ")));
  const auth = resourceServer({ resource: `http://127.0.0.1:${port}/mcp`, issuer: issuer.issuer });
  const handle = await serveHttp(server, { port, auth });
  cleanups.push(() => handle.close());
  return { issuer, url: handle.url };
}

/** The user: visits the address that the command shows, and is sent back to the command. */
function visitor() {
  let seen = "";
  const visits: Promise<unknown>[] = [];
  const onStderr = (text: string) => {
    seen += text;
    const [address] = /http:\/\/\S+\/authorize\?\S+/.exec(seen) ?? [];
    if (address !== undefined && visits.length === 0) visits.push(fetch(address).then((page) => page.text()));
  };
  return { onStderr, visits };
}

async function logIn(url: string, ...more: string[]) {
  const { onStderr, visits } = visitor();
  const args = ["login", url, "--no-browser", "--port", String(await freePort()), ...more];
  const ended = await runParley(args, { env: { PARLEY_HOME: folder }, onStderr });
  await Promise.all(visits);
  return ended;
}

describe("parley login and logout", () => {
  it("keeps a login that later commands use, in a file that only its owner can read", async () => {
    const { url } = await protectedServer();
    const env = { PARLEY_HOME: folder };
    const before = await runParley(["ping", url, "-n", "1"], { env });
    expect(before.code).toBe(4);
    expect(before.stderr).toContain(`fix:   Run \`parley login ${url}\``);

    const { code, stdout } = await logIn(url);
    expect(stdout).toContain("Logged in to shop.");
    expect(code).toBe(0);
    expect(statSync(join(folder, "tokens.json")).mode & 0o777).toBe(0o600);
    expect((await runParley(["ping", url, "-n", "1"], { env })).code).toBe(0);
  });

  it.each(["2026-07-28", "2025-11-25"])(
    "names the scope that a login lacks, and asks for it beside those it has, %s",
    async (revision) => {
      const { issuer, url } = await protectedServer();
      const env = { PARLEY_HOME: folder };
      await logIn(url, "--scope", "reports:read");
      const refused = await runParley(["call", url, "admin", "--revision", revision], { env });
      expect(refused.stderr).toBe(
        `error: the tool "admin" requires the scope reports:admin\nfix:   Run \`parley login ${url} --scope reports:admin\`.\n`,
      );
      expect(refused.code).toBe(4);

      const again = await logIn(url, "--scope", "reports:admin");
      expect(again.stdout).toContain("Logged in to shop.");
      expect(issuer.to("/authorize").map(({ form }) => form.get("scope"))).toEqual([
        "reports:read",
        "reports:read reports:admin",
      ]);
      const admitted = await runParley(["call", url, "admin", "--revision", revision], { env });
      expect(admitted).toMatchObject({ code: 0, stdout: "reports:read reports:admin\n" });
      const same = await logIn(url, "--scope", "reports:admin");
      expect(same.stdout).toContain("without a new login");
    },
  );

  it("keeps a login with a client of one's own for the inspector, too", async () => {
    const { issuer, url } = await protectedServer();
    expect((await logIn(url, "--client-id", "registered-by-hand")).code).toBe(0);
    await using parley = await InspectingParley.start([url], { cwd: folder, env: { PARLEY_HOME: folder } });
    const { connections } = await parley.connected(1);
    expect(connections[0]?.server?.name).toBe("shop");
    expect(issuer.to("/authorize").map(({ form }) => form.get("client_id"))).toEqual(["registered-by-hand"]);
  });

  it("forgets a login, and all of them", async () => {
    const { url } = await protectedServer();
    const env = { PARLEY_HOME: folder };
    await logIn(url);
    expect((await runParley(["logout", url], { env })).stdout).toContain("Logged out");
    expect(readFileSync(join(folder, "tokens.json"), "utf8")).not.toContain("refresh_token");
    expect((await runParley(["ping", url, "-n", "1"], { env })).code).toBe(4);
    const again = await runParley(["logout", url], { env });
    expect(again).toMatchObject({ code: 0, stdout: `You were not logged in to ${url}.\n` });
    expect((await runParley(["logout", "--all", "--json"], { env })).code).toBe(0);
    expect(existsSync(join(folder, "tokens.json"))).toBe(false);
  });

  it("says that there was no login, also of a server that is away", async () => {
    const { code, stdout } = await runParley(["logout", "http://127.0.0.1:1/mcp"], { env: { PARLEY_HOME: folder } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "You were not logged in to http://127.0.0.1:1/mcp.\n" });
  });

  it.each(["2026-07-28", "2025-11-25"])("is not needed by a program with a client of its own, %s", async (revision) => {
    const { issuer, url } = await protectedServer({
      metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] },
      intercept: (request, response) => grantsPrograms(issuer, url, request, response),
    });
    const env = { PARLEY_HOME: folder, SECRET: "a-secret-of-a-program" };
    const grant = ["--grant", "client-credentials", "--client-id", "ci", "--client-secret-env", "SECRET"];
    const refused = await runParley(["call", url, "admin", "--revision", revision, ...grant], { env });
    expect(refused.stdout).toBe("reports:admin\n");
    expect(refused.code).toBe(0);
    const scoped = [...grant, "--scope", "reports:read"];
    expect((await runParley(["list", url, "tools", ...scoped], { env })).stdout).toContain("admin");
    const { code, stdout } = await runParley(["doctor", url, ...grant], { env });
    expect(stdout).toContain("the token of --grant is accepted");
    expect(code).toBe(0);
    const asked = issuer.to("/token").map(({ form }) => form.get("grant_type"));
    expect(new Set(asked)).toEqual(new Set(["client_credentials"]));
    expect(existsSync(join(folder, "tokens.json"))).toBe(false);
  });

  it("says that a server asks for no login", async () => {
    const handle = await serveHttp(new Server({ name: "open", version: "1" }), { port: 0 });
    cleanups.push(() => handle.close());
    const { code, stdout } = await runParley(["login", handle.url, "--no-browser"], { env: { PARLEY_HOME: folder } });
    expect(stdout).toContain("open accepted this command");
    expect(code).toBe(0);
  });

  it.each([
    [["login"], "which server?", 2],
    [["login", "--", "node"], "node is not a URL", 2],
    [["login", "http://127.0.0.1:1/mcp", "--port", "99999"], "99999 is out of range for --port", 2],
    [["login", "http://127.0.0.1:1/mcp", "--client-secret-env", "X"], "--client-secret-env needs --client-id", 2],
    [["login", "http://127.0.0.1:1/mcp", "--client-id", "a", "--client-secret-env", "X"], "X is not set", 4],
    [["login", "http://127.0.0.1:1/mcp", "--no-browser"], "127.0.0.1:1", 3],
    [
      ["ping", "http://127.0.0.1:1/mcp", "--grant", "client-credentials"],
      "--grant client-credentials needs a client and its secret",
      2,
    ],
    [
      ["ping", "--grant", "client-credentials", "--", "node"],
      "--grant works only with a server at a URL, and node is not one",
      2,
    ],
  ])("%j fails with its cause and a fix", async (args, cause, expected) => {
    const { code, stderr } = await runParley(args, { env: { PARLEY_HOME: folder } });
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(expected);
  });
});
