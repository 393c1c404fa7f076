import { type Client, connect, Server } from "@parley/mcp";
import { memoryTokenStore, type OAuth, type OAuthOptions, oauth, resourceServer } from "@parley/mcp/auth";
import { browserLogin } from "@parley/mcp/login";
import { serveHttp } from "@parley/mcp/node";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../free-port.js";
import { BACK, canLogIn, logIn, newUser, type Provider, startBrowser, startProvider } from "./provider-process.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

let browser: Browser;
beforeAll(async () => {
  if (canLogIn) browser = await startBrowser();
});
afterAll(() => browser?.close());

/** A server that accepts tokens of a real authorization server, a user in a real browser, and what the user saw. */
async function setting(provides: { accessTokenTTL?: number } = {}, protects: { requireDpop?: boolean } = {}) {
  const provider = await startProvider(provides);
  cleanups.push(() => provider.stop());
  const port = await freePort();
  const server = new Server({ name: "shop", version: "1" })
    .tool("who", (_args, ctx) => String(ctx.auth?.subject))
    .tool("scheme", (_args, ctx) => JSON.stringify(ctx.auth?.claims?.["cnf"] ?? null))
    .tool("buy", { scopes: ["shop:buy"] }, () => "bought");
  const resource = `http://127.0.0.1:${port}/mcp`;
  const auth = resourceServer({ resource, issuer: provider.issuer, scopes: ["basic"], clockSkewMs: 0, ...protects });
  const handle = await serveHttp(server, { port, auth });
  cleanups.push(() => handle.close());
  const page = await newUser(browser);
  return { provider, url: handle.url, page, seen: [] as Promise<string[]>[] };
}

/** Logs in with the page of the user. */
function authBy(page: Page, seen: Promise<string[]>[], options: OAuthOptions = {}): OAuth {
  const open = async (url: string) => {
    // The program goes on when it has the code, which may be before the page of the last login has come.
    await seen.at(-1);
    seen.push(logIn(page, url));
    await seen.at(-1);
  };
  const login = browserLogin({ open });
  return oauth({ login, registration: { client_name: "e2e" }, ...options });
}

async function connected(url: string, revision: "2026-07-28" | "2025-11-25", auth: OAuth): Promise<Client> {
  const client = await connect(url, { revisions: [revision], auth });
  cleanups.push(() => client.close());
  return client;
}

const tokenCalls = async (provider: Provider) => (await provider.events("grant.success")).map(({ grant }) => grant);

describe.runIf(canLogIn).each(["2026-07-28", "2025-11-25"] as const)(
  "a client and oidc-provider, by Chromium, %s",
  (revision) => {
    it("AUTHC-02, AUTHC-13, AUTHC-16, AUTHC-30: registers, lets the user log in, calls, and needs one login only", async () => {
      const { provider, url, page, seen } = await setting();
      const store = memoryTokenStore();
      const client = await connected(url, revision, authBy(page, seen, { store }));
      expect(await client.call("who")).toBe("ada");
      const again = await connected(url, revision, authBy(page, seen, { store }));
      expect(await again.call("who")).toBe("ada");
      expect(await Promise.all(seen)).toEqual([["Sign-in", "Authorize", BACK]]);
      expect(await provider.events("registration_create.success")).toHaveLength(1);
      expect(await tokenCalls(provider)).toEqual(["authorization_code"]);
    });

    it("AUTHC-25, AUTHS-06: asks the user again for the scope of a tool, and keeps what it has", async () => {
      const { provider, url, page, seen } = await setting();
      const client = await connected(url, revision, authBy(page, seen));
      expect(await client.call("buy")).toBe("bought");
      expect(await client.call("who")).toBe("ada");
      expect((await Promise.all(seen)).slice(1)).toEqual([["Authorize", BACK]]);
      const asked = (await provider.events("authorization.success")).map(({ scope }) => scope?.split(" ").sort());
      expect(asked).toEqual([
        ["basic", "offline_access"],
        ["basic", "offline_access", "shop:buy"],
      ]);
    });

    it("AUTHC-04: renews by rotating refresh tokens, of which none is used twice", async () => {
      // So short that the client renews it before each use.
      const { provider, url, page, seen } = await setting({ accessTokenTTL: 5 });
      const client = await connected(url, revision, authBy(page, seen));
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(Array.from({ length: 5 }, () => client.call("who")));
        expect(answers).toEqual(["ada", "ada", "ada", "ada", "ada"]);
      }
      const calls = await tokenCalls(provider);
      expect(calls[0]).toBe("authorization_code");
      expect(calls.slice(1).every((grant) => grant === "refresh_token")).toBe(true);
      expect(calls.length).toBeGreaterThanOrEqual(4);
      expect(await provider.events("grant.error")).toEqual([]);
      expect(seen).toHaveLength(1);
    });

    it("binds tokens to a key where the server wants it", async () => {
      const { url, page, seen } = await setting({}, { requireDpop: true });
      const client = await connected(url, revision, authBy(page, seen));
      expect(JSON.parse(String(await client.call("scheme")))).toEqual({ jkt: expect.any(String) });
      expect(await client.call("buy")).toBe("bought");
    });

    it("AUTHC-27: logs out: revokes at the authorization server, and asks the user to log in the next time", async () => {
      const { provider, url, page, seen } = await setting();
      const auth = authBy(page, seen);
      const client = await connected(url, revision, auth);
      expect(await client.call("who")).toBe("ada");
      await auth.logout(url);
      expect(await provider.events("grant.revoked")).not.toEqual([]);
      expect(await client.call("who")).toBe("ada");
      expect(seen).toHaveLength(2);
    });
  },
);
