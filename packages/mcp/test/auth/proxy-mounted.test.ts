import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, Server } from "@parley/mcp";
import { oauth, oauthProxy, redirectLogin } from "@parley/mcp/auth";
import { fetchHandler } from "@parley/mcp/http";
import { nodeHandler } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../free-port.js";
import { loadPeer, peersInstalled } from "../mounts/peer-packages.js";
import { agreeTo } from "./agreeing-browser.js";
import { TestIssuer } from "./test-issuer.js";

interface ExpressLike {
  (): ((request: IncomingMessage, response: ServerResponse) => void) & { use(...handlers: unknown[]): void };
  json(): unknown;
  urlencoded(options: { extended: boolean }): unknown;
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function protectedServer(resource: string) {
  const provider = await TestIssuer.start();
  cleanups.push(() => provider.close());
  const auth = oauthProxy({
    resource,
    secret: "a secret of more than thirty-two characters",
    upstream: { issuer: provider.issuer, client: { clientId: "the-one-app" } },
    identify: () => ({ subject: "ada" }),
  });
  const server = new Server({ name: "shop", version: "1" }).tool("who", (_args, ctx) => String(ctx.auth?.subject));
  return { auth, server };
}

describe.skipIf(!peersInstalled)("a proxy behind a framework that parses forms", () => {
  it.each([false, true])("logs clients in behind express.urlencoded({ extended: %s })", async (extended) => {
    const port = await freePort();
    const { auth, server } = await protectedServer(`http://127.0.0.1:${port}/mcp`);
    const { default: make } = await loadPeer<{ default: ExpressLike }>("express");
    const app = make();
    app.use(make.json(), make.urlencoded({ extended }));
    const handler = nodeHandler(server, { auth });
    app.use(handler);
    const http = createServer(app);
    cleanups.push(() => {
      handler.close();
      http.closeAllConnections();
      http.close();
    });
    await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
    const redirectUri = "http://127.0.0.1:1/callback";
    const login = redirectLogin({ redirectUri, visit: (url) => agreeTo(url, redirectUri) });
    const client = await connect(auth.resource, { auth: oauth({ login }) });
    cleanups.push(() => client.close());
    expect(await client.call("who")).toBe("ada");
    // A field that came twice is seen as that.
    const body = "grant_type=refresh_token&refresh_token=a&refresh_token=b";
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const twice = await fetch(`http://127.0.0.1:${port}/oauth/token`, { method: "POST", headers, body });
    expect(await twice.json()).toMatchObject({ error: "invalid_request" });
  });
});

it("a form that a web-standard framework has parsed is read as one", async () => {
  const { auth, server } = await protectedServer("https://shop.example/mcp");
  const handler = fetchHandler(server, { auth });
  cleanups.push(() => handler.close());
  const send = async (parsedBody: unknown) => {
    const headers = { host: "shop.example", "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
    const request = new Request("https://shop.example/oauth/token", { method: "POST", headers });
    return (await handler(request, { parsedBody })).json();
  };
  expect(await send({ grant_type: "refresh_token", refresh_token: "made up" })).toMatchObject({
    error: "invalid_grant",
  });
  expect(await send({ grant_type: ["refresh_token", "password"] })).toMatchObject({ error: "invalid_request" });
  expect(await send({ grant_type: { nested: "refresh_token" } })).toMatchObject({ error: "unsupported_grant_type" });
});
