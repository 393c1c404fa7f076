import { Server } from "@parley/mcp";
import { resourceServer } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { REVISIONS } from "@parley/mcp/protocol";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ClientTarget, type TargetBehaviour } from "../../../mcp/test/auth/client-target.js";
import { BACK, canLogIn, logIn, newUser, startProvider } from "../../../mcp/test/auth/provider-process.js";
import type { IssuerBehaviour } from "../../../mcp/test/auth/test-issuer.js";
import { freePort } from "../../../mcp/test/free-port.js";
import { ERAS } from "../engine/opened-engine.js";
import { barriers } from "../kit/barriers.js";
import { hasBrowser, type InspectedPage, openInspectedPage } from "../kit/inspected-page.js";
import { actInPage, goTo } from "../page/page-session.js";
import { connectionItems, connectToUrl, shownConnection } from "./connect-steps.js";

const SCOPES = "basic shop:buy";
const CLIENT_SECRET = "a-secret-of-the-registered-client";
const JSON_TYPE = { "content-type": "application/json" };

/** A server that wants a login, and an authorization server that gives short tokens, refresh tokens and a client secret. */
function protectedServer(): Promise<ClientTarget> {
  const intercept: IssuerBehaviour["intercept"] = ({ path }, response) => {
    if (path !== "/register") return false;
    const client = { client_id: "a-client", client_secret: CLIENT_SECRET, client_secret_expires_at: 0 };
    response
      .writeHead(201, JSON_TYPE)
      .end(JSON.stringify({ ...client, token_endpoint_auth_method: "client_secret_post", redirect_uris: [] }));
    return true;
  };
  const metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
  // So short that the client renews a token before each use.
  return ClientTarget.start(
    { challenge: `Bearer scope="${SCOPES}"` },
    { rotates: true, expiresIn: 5, intercept, metadata },
  );
}

describe.skipIf(!hasBrowser)("a login", () => {
  let opened: InspectedPage;
  let page: Page;
  /** Everything that must be seen nowhere. */
  const secrets = new Set<string>([CLIENT_SECRET]);
  /** Where tabs of logins went, which are no part of the page. */
  const visited: string[] = [];

  beforeAll(async () => {
    opened = await openInspectedPage({});
    page = opened.page;
  });
  afterAll(() => opened?.close());

  const login = () => page.getByRole("region", { name: "Login" });
  const stepItems = () => login().getByRole("list", { name: "Steps" }).getByRole("listitem");
  const steps = async () => (await stepItems().allInnerTexts()).map((text) => text.split("\n"));
  /** The steps with what came of each. */
  const endedSteps = async () => (await steps()).map(([mark, step, outcome]) => `${mark} ${step}: ${outcome}`);
  const openButton = () => login().getByRole("button", { name: "Open the login page" });

  /** Connects to a server, and shows what is known of it. */
  async function connectTo({ url }: { readonly url: string }, revision = REVISIONS.at(-1)): Promise<void> {
    await connectToUrl(page, url, { revision });
    await goTo(page, "Server");
  }

  /** The address of the login, as it is shown. */
  async function loginAddress(): Promise<URL> {
    const shown = await login()
      .getByText(/^http.*(response_type=code|request_uri=)/)
      .textContent();
    const address = new URL(shown ?? "");
    // A pushed request has its parameters, the redirect address among them, at the authorization server.
    const back = address.searchParams.get("redirect_uri");
    visited.push(address.origin, ...(back === null ? [] : [new URL(back).origin]));
    return address;
  }

  /** Opens the page of the login by its button, and waits until the user came back from it. */
  async function openLogin(): Promise<Page> {
    const back = (await loginAddress()).searchParams.get("redirect_uri") ?? "";
    const [tab] = await Promise.all([page.context().waitForEvent("page"), openButton().click()]);
    await tab.waitForURL(({ href }) => href.startsWith(back));
    await tab.getByText("You can close this page").waitFor();
    return tab;
  }

  function noteSecrets({ issuer, requests }: ClientTarget): void {
    for (const { form } of issuer.to("/token")) {
      for (const name of ["code", "code_verifier", "refresh_token"]) secrets.add(form.get(name) ?? CLIENT_SECRET);
    }
    for (const { headers } of requests) secrets.add(headers.authorization?.split(" ")[1] ?? CLIENT_SECRET);
  }

  describe.each(ERAS)("in %s", (revision) => {
    it("shows each step, opens nothing unasked, and leads to a connection", async () => {
      const target = await protectedServer();
      await connectTo(target, revision);
      await shownConnection(page, "waiting for login");
      expect(await login().getByRole("button", { name: "Log out" }).count()).toBe(0);
      const { origin, pathname, searchParams } = await loginAddress();
      await login().getByRole("list", { name: "Warnings" }).getByText("The host is this machine.").waitFor();
      expect(origin + pathname).toBe(`${target.issuer.origin}/authorize`);
      expect(searchParams.get("scope")).toContain(SCOPES);
      expect(target.issuer.to("/authorize")).toEqual([]);
      expect(await login().getByText("Scopes").textContent()).toMatch(/^Requested scopes: basic/);
      const marks = async () => (await steps()).map(([mark, step]) => `${mark} ${step?.split(" ")[0]}`);
      await expect.poll(marks).toEqual(["✓ challenge", "✓ discovery", "✓ discovery", "✓ registration", "… login"]);

      const tab = await openLogin();
      expect(await tab.evaluate(() => [window.opener, document.referrer])).toEqual([null, ""]);
      await tab.close();
      await shownConnection(page, `ready · ${revision}`);
      await openButton().waitFor({ state: "detached" });
      expect(target.issuer.to("/authorize")[0]?.headers.referer).toBeUndefined();
      for (const step of [
        `✓ login ${target.issuer.origin}/authorize: the login returned a code`,
        `✓ token POST ${target.issuer.origin}/token: HTTP 200: a token for ${SCOPES}`,
      ]) {
        await expect.poll(endedSteps).toContain(step);
      }
      await login()
        .getByText(/^Scopes: basic shop:buy/)
        .waitFor();
      noteSecrets(target);
    });

    it("is renewed without the user, and ended by the user", async () => {
      const target = await protectedServer();
      await connectTo(target, revision);
      await (await openLogin()).close();
      await shownConnection(page, "ready");
      await page.getByRole("button", { name: "Reconnect", exact: true }).click();
      // The steps of the connection before, with its login, are gone.
      const isRenewed = async () => {
        const names = (await steps()).map(([, step]) => step?.split(" ")[0]);
        return names.includes("refresh") && !names.includes("login");
      };
      await expect.poll(isRenewed).toBe(true);
      await shownConnection(page, "ready · ");
      expect(target.issuer.to("/authorize")).toHaveLength(1);

      await login().getByRole("button", { name: "Log out" }).click();
      await shownConnection(page, "waiting for login");
      const [{ form } = { form: new URLSearchParams() }] = target.issuer.to("/revoke");
      expect(form.get("token")).toMatch(/./);
      noteSecrets(target);
      const back = (await loginAddress()).searchParams.get("redirect_uri") ?? "";
      await page.getByRole("button", { name: "Disconnect" }).click();
      await shownConnection(page, "closed");
      expect(await openButton().count()).toBe(0);
      // The status is shown while what waited for the user is still being closed.
      await expect.poll(() => fetch(back).then(({ status }) => status, String)).toContain("fetch failed");
    });
  });

  it("is told of in views that need the server, which lead to it", async () => {
    const target = await protectedServer();
    await connectToUrl(page, target.url);
    await shownConnection(page, "waiting for login");
    for (const view of ["Use", "Model", "Eras"]) {
      await goTo(page, view);
      await page.getByText("The server is waiting for you to log in.").waitFor();
      await page.getByRole("button", { name: "Go to the login" }).click();
      await openButton().waitFor();
    }
    await loginAddress();
    expect(await barriers(page)).toEqual([]);
  });

  it("shows the whole exchange of a step in the timeline, without its secrets", async () => {
    const target = await protectedServer();
    await connectTo(target);
    await (await openLogin()).close();
    await shownConnection(page, "ready");
    const step = stepItems().filter({ hasText: /token POST/ });
    await step.getByRole("button", { name: /^#\d+ in the timeline$/ }).click();
    const entry = page.getByRole("main");
    await entry.getByText(`POST ${target.issuer.origin}/token: HTTP 200`).first().waitFor();
    await entry.getByRole("tab", { name: "Headers" }).click();
    for (const shown of ["grant_type=authorization_code", "code_verifier=[redacted]", '"access_token": "[redacted]"']) {
      await expect.poll(() => entry.textContent()).toContain(shown);
    }
    noteSecrets(target);
  });

  it("needs nothing that browsers would ask a server for, such as CORS", async () => {
    const target = await protectedServer();
    await connectTo(target);
    await (await openLogin()).close();
    await shownConnection(page, "ready");
    const answer = await fetch(`${target.origin}/.well-known/oauth-protected-resource`);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    expect(target.requests.some(({ method, headers }) => method === "OPTIONS" || "origin" in headers)).toBe(false);
  });

  const refuses = (path: string, status: number, body: object): IssuerBehaviour => ({
    intercept: (request, response) => {
      if (request.path !== path) return false;
      response.writeHead(status, JSON_TYPE).end(JSON.stringify(body));
      return true;
    },
  });
  const broken: [name: string, target: TargetBehaviour, issuer: IssuerBehaviour, step: RegExp, problem: RegExp][] = [
    [
      "without any metadata",
      {
        intercept: ({ url = "" }, response) => {
          if (url.includes("/.well-known/")) response.writeHead(404).end();
          return url.includes("/.well-known/");
        },
      },
      {},
      /^✕ discovery GET .*oauth-protected-resource.*: failed: HTTP 404$/,
      /refused to register/,
    ],
    [
      "with the metadata of another resource",
      { metadata: { resource: "https://other.example/mcp" } },
      {},
      /^✕ discovery GET .*oauth-protected-resource.*: failed: .*not accepted/,
      /other\.example/,
    ],
    [
      "with another issuer",
      {},
      { metadata: { issuer: "https://evil.example" } },
      /^✕ discovery GET .*oauth-authorization-server: failed: HTTP 200: issuer https:\/\/evil\.example, .*not accepted/,
      /names another issuer: "https:\/\/evil\.example"/,
    ],
    [
      "whose registration is refused",
      {},
      refuses("/register", 403, { error: "access_denied", error_description: "no new clients" }),
      /^✕ registration POST .*: failed: HTTP 403: access_denied: no new clients$/,
      /refused to register this client/,
    ],
  ];

  it.each(broken)("%s shows where it broke, and what to change", async (_, behaviour, issued, step, problem) => {
    const target = await ClientTarget.start(behaviour, issued);
    await connectTo(target);
    await shownConnection(page, "failed");
    await expectBroken(step, problem);
    expect(await openButton().count()).toBe(0);
  });

  const late: [name: string, issuer: IssuerBehaviour, step: RegExp, problem: RegExp][] = [
    [
      "that the user refuses",
      { redirect: { code: undefined, error: "access_denied" } },
      /^✕ login .*: failed: the login returned an error: access_denied$/,
      /access_denied/,
    ],
    [
      "whose code gives no token",
      refuses("/token", 400, { error: "invalid_grant", error_description: "the code is old" }),
      /^✕ token POST .*: failed: HTTP 400: invalid_grant: the code is old$/,
      /issued no token/,
    ],
  ];

  it.each(late)("%s shows that, and what to change", async (_, issued, step, problem) => {
    const target = await ClientTarget.start({}, issued);
    await connectTo(target);
    await (await openLogin()).close();
    await shownConnection(page, "failed");
    await expectBroken(step, problem);
    noteSecrets(target);
  });

  /** That the last step is the one that failed, and that the problem is told with a fix. */
  async function expectBroken(step: RegExp, problem: RegExp): Promise<void> {
    await expect.poll(endedSteps).toContainEqual(expect.stringMatching(step));
    expect((await endedSteps()).at(-1)).toMatch(/^✕/);
    const note = await page.getByRole("note", { name: "Problem" }).textContent();
    expect(note).toContain("authorization_failed");
    expect(note).toMatch(problem);
    expect(note).toMatch(/Fix: ./);
  }

  it.skipIf(!canLogIn)("at a real authorization server is one for all connections of the inspector", async () => {
    const provider = await startProvider();
    onTestFinished(() => provider.stop());
    const port = await freePort();
    const resource = `http://127.0.0.1:${port}/mcp`;
    const server = new Server({ name: "shop", version: "1" }).tool("who", (_args, ctx) => String(ctx.auth?.subject));
    const auth = resourceServer({ resource, issuer: provider.issuer, scopes: ["basic"] });
    const handle = await serveHttp(server, { port, auth });
    onTestFinished(() => handle.close());
    for (const [index, revision] of ERAS.entries()) {
      await connectTo(handle, revision);
      if (index === 0) {
        const user = await newUser(browserOf(page));
        expect(await logIn(user, (await loginAddress()).href)).toEqual(["Sign-in", "Authorize", BACK]);
        await login()
          .getByText(/^Scopes: .*basic/)
          .waitFor();
      }
      await shownConnection(page, `ready · ${revision}`);
    }
    expect(await provider.events("registration_create.success")).toHaveLength(1);
  });

  it("leaves no secret in the page, in what its API answers, or in what it saves", async () => {
    expect(secrets.size).toBeGreaterThan(20);
    const count = await connectionItems(page).count();
    const seen: string[] = [];
    for (let at = 0; at < count; at++) {
      await connectionItems(page).nth(at).click();
      await goTo(page, "Server");
      seen.push(await page.content());
    }
    await goTo(page, "Timeline");
    seen.push(await page.content());
    const stream = await page.evaluate(async () => {
      const token = sessionStorage.getItem("parley-inspector-token") ?? "";
      const response = await fetch("/api/events?from=0", { headers: { "x-parley-token": token } });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes('"type":"entries"')) text += (await reader?.read())?.value ?? "";
      await reader?.cancel();
      return text;
    });
    seen.push(stream);
    const [{ state }] = JSON.parse(`[${stream.split("\n", 1)[0]}]`) as [{ state: InspectorStateOutline }];
    const { first, next } = state.timeline;
    const all = Array.from({ length: next - first }, (_, at) => actInPage(page, "entry", { seq: first + at }));
    const kept = state.connections.map(({ id }) => actInPage(page, "exportSession", { connection: id }));
    const shared = actInPage(page, "share", {});
    seen.push(...(await Promise.all([...all, ...kept, shared])).map((answer) => JSON.stringify(answer)));
    for (const secret of secrets) expect(seen.filter((text) => text.includes(secret))).toEqual([]);
    // What they are looked for in has the exchanges in which they were.
    expect(seen.filter((text) => text.includes("[redacted]")).length).toBeGreaterThan(10);
  });

  it("was done by the inspector: the page asked nobody else, and has no errors", () => {
    const own = new URL(opened.inspector.url).origin;
    const others = opened.requests.map((url) => new URL(url).origin).filter((origin) => origin !== own);
    expect(others.filter((origin) => !visited.includes(origin))).toEqual([]);
    expect(opened.problems).toEqual([]);
  });
});

function browserOf(page: Page): Browser {
  const browser = page.context().browser();
  if (browser === null) throw new Error("the page is in no browser");
  return browser;
}

interface InspectorStateOutline {
  readonly timeline: { readonly first: number; readonly next: number };
  readonly connections: readonly { readonly id: string }[];
}
