import { type Client, connect, Server } from "@parley/mcp";
import { type OAuth, oauth, oauthProxy } from "@parley/mcp/auth";
import { browserLogin } from "@parley/mcp/login";
import { serveHttp } from "@parley/mcp/node";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../free-port.js";
import { BACK, canLogIn, logIn, newUser, startBrowser, startProvider } from "./provider-process.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

let browser: Browser;
beforeAll(async () => {
  if (canLogIn) browser = await startBrowser();
});
afterAll(() => browser?.close());

/** A server behind the proxy; the provider knows the proxy as its only application. */
async function setting(accessTokenMs?: number) {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const provider = await startProvider({
    accessTokenTTL: 300,
    clients: [{ client_id: "the-one-app", client_secret: "s3cret", redirect_uris: [`${origin}/oauth/callback`] }],
  });
  cleanups.push(() => provider.stop());
  const auth = oauthProxy({
    resource: `${origin}/mcp`,
    secret: "a secret of more than thirty-two characters",
    scopes: ["basic", "shop:buy"],
    requiredScopes: ["basic"],
    accessTokenMs,
    upstream: {
      issuer: provider.issuer,
      client: { clientId: "the-one-app", clientSecret: "s3cret" },
      scopes: ["openid"],
    },
  });
  const server = new Server({ name: "shop", version: "1" })
    .tool("who", (_args, ctx) => String(ctx.auth?.subject))
    .tool("buy", { scopes: ["shop:buy"] }, () => "bought")
    .tool("upstream", async (_args, ctx) => typeof (ctx.auth && (await auth.upstreamToken(ctx.auth))));
  const handle = await serveHttp(server, { port, auth });
  cleanups.push(() => handle.close());
  return { provider, url: handle.url, page: await newUser(browser), seen: [] as Promise<string[]>[] };
}

/** Logs in with the page of the user. */
function authBy(page: Page, seen: Promise<string[]>[]): OAuth {
  const open = async (url: string) => {
    // The program goes on when it has the code, which may be before the page of the last login has come.
    await seen.at(-1);
    seen.push(logIn(page, url));
    await seen.at(-1);
  };
  return oauth({ login: browserLogin({ open }), registration: { client_name: "e2e" } });
}

async function connected(url: string, revision: "2026-07-28" | "2025-11-25", auth: OAuth): Promise<Client> {
  const client = await connect(url, { revisions: [revision], auth });
  cleanups.push(() => client.close());
  return client;
}

const ASKED = expect.stringMatching(/^Allow access to 127\.0\.0\.1:\d+\?$/);

describe.runIf(canLogIn).each(["2026-07-28", "2025-11-25"] as const)(
  "a client, the proxy and oidc-provider, by Chromium, %s",
  (revision) => {
    it("SEC-07: asks the user for consent before the provider's login, and for each client again", async () => {
      const { provider, url, page, seen } = await setting();
      const client = await connected(url, revision, authBy(page, seen));
      expect(await client.call("who")).toBe("ada");
      expect(await client.call("upstream")).toBe("string");
      const second = await connected(url, revision, authBy(page, seen));
      expect(await second.call("who")).toBe("ada");
      const [first = [], other] = await Promise.all(seen);
      expect(first).toEqual([ASKED, "Sign-in", "Authorize", BACK]);
      // The provider knows the browser and its one application by now, and asks nothing.
      expect(other).toEqual([ASKED, BACK]);
      expect(await provider.events("registration_create.success")).toEqual([]);
    });

    it("refreshes, steps up and logs out with tokens of the proxy", async () => {
      // So short that the client renews them before each use.
      const { url, page, seen } = await setting(5_000);
      const auth = authBy(page, seen);
      const client = await connected(url, revision, auth);
      expect(await client.call("who")).toBe("ada");
      expect(await client.call("who")).toBe("ada");
      expect(seen).toHaveLength(1);
      expect(await client.call("buy")).toBe("bought");
      const before = seen.length;
      await auth.logout(url);
      expect(await client.call("who")).toBe("ada");
      expect(seen).toHaveLength(before + 1);
    });
  },
);
