import { connect, McpError, Server } from "@parley/mcp";
import { oauth, resourceServer } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../free-port.js";
import { type IssuerBehaviour, TestIssuer } from "./test-issuer.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A protected server, and the issuer whose tokens it accepts. */
async function protectedServer(behaviour: IssuerBehaviour = {}, scopes: readonly string[] = []) {
  const issuer = await TestIssuer.start(behaviour);
  cleanups.push(() => issuer.close());
  const port = await freePort();
  const server = new Server({ name: "shop", version: "1" })
    .tool("who", (_args, ctx) => JSON.stringify({ subject: ctx.auth?.subject, scopes: ctx.auth?.scopes }))
    .tool("buy", { scopes: ["shop:buy"] }, () => "bought");
  const auth = resourceServer({ resource: `http://127.0.0.1:${port}/mcp`, issuer: issuer.issuer, scopes });
  const handle = await serveHttp(server, { port, auth });
  cleanups.push(() => handle.close());
  return { issuer, url: handle.url };
}

describe.each(["2026-07-28", "2025-11-25"] as const)("a client that logs in, %s", (revision) => {
  it("AUTHC-02, AUTHC-16, AUTHS-04: gets a token for the server, and sends it with every request", async () => {
    const { issuer, url } = await protectedServer();
    const client = await connect(url, { revisions: [revision], auth: oauth({ login: issuer.login() }) });
    cleanups.push(() => client.close());
    expect(JSON.parse(String(await client.call("who")))).toEqual({ subject: "ada", scopes: [] });
    expect(issuer.to("/authorize")).toHaveLength(1);
    expect(issuer.to("/authorize")[0]?.form.get("resource")).toBe(url);
    expect(issuer.to("/token")[0]?.form.get("resource")).toBe(url);
  });

  it("AUTHC-25, AUTHS-06: asks for more scopes when a tool needs them, and keeps those it has", async () => {
    const { issuer, url } = await protectedServer({}, ["basic"]);
    const client = await connect(url, { revisions: [revision], auth: oauth({ login: issuer.login() }) });
    cleanups.push(() => client.close());
    expect(await client.call("buy")).toBe("bought");
    expect(issuer.to("/authorize").map(({ form }) => form.get("scope"))).toEqual(["basic", "basic shop:buy"]);
  });

  it("says every step that it tried when there is no way to a token", async () => {
    const { url } = await protectedServer({ metadata: { issuer: "https://elsewhere.example" } });
    const error = await connect(url, { revisions: [revision], auth: oauth() }).catch((reason: unknown) => reason);
    expect(McpError.is(error) && error.kind).toBe("authorization_failed");
    expect(String(error)).toMatch(
      /names another issuer.*Tried: protected resource metadata .*: found; authorization server metadata .*: found/s,
    );
  });
});
