import { connect, Server } from "@parley/mcp";
import { oauth, oauthProxy, redirectLogin } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../free-port.js";
import { agreeTo } from "./agreeing-browser.js";
import { TestIssuer } from "./test-issuer.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("a server behind the proxy", () => {
  it("lets clients log in at a provider that knows one application, with tokens of its own", async () => {
    const provider = await TestIssuer.start({ rotates: true });
    cleanups.push(() => provider.close());
    const port = await freePort();
    const resource = `http://127.0.0.1:${port}/mcp`;
    const auth = oauthProxy({
      resource,
      secret: "a secret of more than thirty-two characters",
      scopes: ["read"],
      upstream: { issuer: provider.issuer, client: { clientId: "the-one-app", clientSecret: "s3cret" } },
      identify: () => ({ subject: "ada" }),
    });
    const server = new Server({ name: "shop", version: "1" }).tool("who", async (_args, ctx) => {
      const token = ctx.auth === undefined ? undefined : await auth.upstreamToken(ctx.auth);
      return `${ctx.auth?.subject} ${ctx.auth?.scopes?.join()} ${token?.slice(0, 3)}`;
    });
    const handle = await serveHttp(server, { port, auth });
    cleanups.push(() => handle.close());
    const redirectUri = "http://127.0.0.1:1/callback";
    const login = redirectLogin({ redirectUri, visit: (url) => agreeTo(url, redirectUri) });
    const client = await connect(handle.url, { auth: oauth({ login }) });
    cleanups.push(() => client.close());
    expect(await client.call("who")).toBe("ada read eyJ");
    expect(provider.to("/register")).toEqual([]);
    expect(provider.to("/authorize")[0]?.form.get("client_id")).toBe("the-one-app");
  });
});
