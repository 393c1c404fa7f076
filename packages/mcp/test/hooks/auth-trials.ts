import type { Principal } from "@parley/mcp";
import {
  bearerToken,
  deviceLogin,
  enterpriseManaged,
  memoryTokenStore,
  type OAuthOptions,
  oauth,
  oauthProxy,
  type ResourceServerOptions,
  redirectLogin,
  resourceServer,
  tokenExchange,
  workloadIdentity,
} from "@parley/mcp/auth";
import { browserLogin, terminalLogin } from "@parley/mcp/login";
import type { ServeHttpOptions } from "@parley/mcp/node";
import { channelPair } from "@parley/mcp/testing";
import { serveChannel } from "@parley/mcp/transport";
import { agreeTo } from "../auth/agreeing-browser.js";
import { TestIssuer } from "../auth/test-issuer.js";
import { freePort } from "../free-port.js";
import { modern } from "../http/modern.js";
import { add, emptyServer, type Failing, outcome, overHttp, plainServer, type Trial, withClient } from "./trial.js";

/** A protected server, while `work` runs. */
async function protectedServer(
  work: (url: string, issuer: TestIssuer) => Promise<string>,
  options: Partial<ResourceServerOptions> = {},
): Promise<string> {
  const issuer = await TestIssuer.start({
    metadata: { device_authorization_endpoint: undefined },
    intercept: ({ path }, response) => {
      if (path !== "/device") return false;
      const code = { device_code: "d", user_code: "U", verification_uri: "https://a.example/", expires_in: 60 };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(code));
      return true;
    },
  });
  issuer.behaviour.metadata = { device_authorization_endpoint: `${issuer.origin}/device` };
  const port = await freePort();
  const auth = resourceServer({ resource: `http://127.0.0.1:${port}/mcp`, issuer: issuer.issuer, ...options });
  try {
    return await overHttp({ port, auth }, (url) => work(url, issuer));
  } finally {
    issuer.close();
  }
}

const loggingIn =
  (options: (fail: Failing, issuer: TestIssuer) => OAuthOptions): Trial =>
  (fail) =>
    protectedServer((url, issuer) => withClient(url, { auth: oauth(options(fail, issuer)) }, add));

const storing = (member: "get" | "set" | "lock"): Trial =>
  loggingIn((fail, issuer) => ({ login: issuer.login(), store: { ...memoryTokenStore(), [member]: fail } }));

const guarding =
  (member: "authenticate" | "challenge" | "respond", path = "/mcp"): Trial =>
  (fail) => {
    const auth = {
      resource: "http://127.0.0.1/mcp",
      paths: new Set(["/about"]),
      authenticate: () => ({ key: "ada", scopes: [] }),
      challenge: () => ({}),
      respond: () => ({ status: 200, headers: {}, body: "" }),
      [member]: fail,
    };
    const server = emptyServer().tool("t", { scopes: ["write"] }, () => "");
    return overHttp(
      { auth },
      async (url) =>
        path === "/mcp"
          ? withClient(url, {}, (client) => client.callTool("t", {}))
          : `status ${(await fetch(new URL(path, url))).status}`,
      server,
    );
  };

function loginAndAdd(url: string): Promise<string> {
  const redirectUri = "http://127.0.0.1:1/callback";
  const login = redirectLogin({ redirectUri, visit: (page) => agreeTo(page, redirectUri) });
  return withClient(url, { auth: oauth({ login }) }, add);
}

/** How a page refuses an application that is described by a document. */
async function refusedDocument(url: string): Promise<string> {
  const query = new URLSearchParams({ client_id: "https://app.example/client.json" });
  const response = await fetch(new URL(`/oauth/authorize?${query}`, url));
  const page = await response.text();
  return response.status === 400 && page.includes("does not accept") ? "fine" : `status ${response.status}: ${page}`;
}

const proxying =
  (member: "identify" | "allowRedirect" | "onRefused" | "clientDocuments", use = loginAndAdd): Trial =>
  async (fail) => {
    const issuer = await TestIssuer.start();
    const port = await freePort();
    const auth = oauthProxy({
      resource: `http://127.0.0.1:${port}/mcp`,
      secret: "a secret of more than thirty-two characters",
      upstream: { issuer: issuer.issuer, client: { clientId: "app", clientSecret: "s" } },
      identify: () => ({ subject: "ada" }),
      [member]: fail,
    });
    try {
      return await overHttp({ port, auth }, use);
    } finally {
      issuer.close();
    }
  };

/** How the registration of a client is refused. */
async function refusedRegistration(url: string): Promise<string> {
  const body = JSON.stringify({ redirect_uris: ["http://127.0.0.1:1/callback"] });
  const response = await fetch(new URL("/oauth/register", url), { method: "POST", body });
  const text = await response.text();
  return response.status === 400 && text.includes("invalid_redirect_uri")
    ? "fine"
    : `status ${response.status}: ${text}`;
}

const CLIENT = { clientId: "c", clientSecret: "s" };

const exchanging = (subjectToken: Failing) =>
  tokenExchange({ issuer: "http://127.0.0.1:1", client: CLIENT, audience: "api", subjectToken });

/** What a tool's caller gets of an exchange that failed: an error without the message of the function. */
async function exchangingInTool(fail: Failing): Promise<string> {
  const server = emptyServer().tool("pay", () => exchanging(fail)({ key: "ada" }));
  let got = "";
  const ended = await withClient(server, {}, async (client) => {
    const result = await client.tryCall("pay", {});
    got = JSON.stringify(result.ok ? result : [result.error.message, result.error.data]);
  });
  return got.includes("`subjectToken` of tokenExchange failed") && !got.includes("boom")
    ? ended
    : `the caller got ${got}`;
}

/** A connection with credentials that cannot be watched, or that are revoked: it closes, and its end is complete. */
const closing =
  (onRevoked: (fail: Failing) => Principal["onRevoked"]): Trial =>
  async (fail) => {
    const server = plainServer();
    let ended = 0;
    server.observe({ sessionClosed: () => void ended++ });
    const principal = { key: "ada", onRevoked: onRevoked(fail) };
    await serveChannel(server, channelPair()[0], { principal }).closed;
    return ended === 1 ? "fine" : `${ended} sessions closed`;
  };

/** An event stream with such credentials ends, while requests that need none are answered. */
async function streaming(options: ServeHttpOptions): Promise<string> {
  return overHttp(options, async (url) => {
    const send = ({ headers, body }: ReturnType<typeof modern>) =>
      fetch(url, { method: "POST", headers: { ...headers, authorization: "Bearer t" }, body });
    const stream = await send(modern("subscriptions/listen", { notifications: { toolsListChanged: true } }));
    const isStream = stream.headers.get("content-type") === "text/event-stream";
    await stream.text().catch(() => {});
    const { status } = await send(modern("tools/list"));
    return isStream && status === 200 ? "fine" : `status ${stream.status}, then ${status}`;
  });
}

const revokedAtOnce =
  (unwatch: Failing): Principal["onRevoked"] =>
  (revoked) => {
    revoked();
    return unwatch;
  };

/** Functions of programs that protect a server whose failure is reported, and takes nothing else with it. */
export const AUTH_HOOK_TRIALS: Readonly<Record<string, Trial>> = {
  "ResourceServerOptions.onRefused": (onRefused) =>
    protectedServer((url, issuer) => withClient(url, { auth: oauth({ login: issuer.login() }) }, add), { onRefused }),
  "OAuthProxyOptions.onRefused": proxying("onRefused"),
  // Nothing is admitted that the operator did not admit.
  "OAuthProxyOptions.allowRedirect, report": proxying("allowRedirect", refusedRegistration),
  "OAuthProxyOptions.clientDocuments": proxying("clientDocuments", refusedDocument),
  "TokenExchangeOptions.subjectToken, in a tool": exchangingInTool,
  "Principal.onRevoked": closing((fail) => fail),
  "Principal.onRevoked, removal": closing(revokedAtOnce),
  "Principal.onRevoked, stream": (onRevoked) => streaming({ authenticate: () => ({ key: "ada", onRevoked }) }),
  "Principal.onRevoked, removal from a stream": (fail) =>
    streaming({ authenticate: () => ({ key: "ada", onRevoked: revokedAtOnce(fail) }) }),
  "ResourceServerOptions.verify, onRevoked": async (onRevoked) => {
    const port = await freePort();
    const resource = `http://127.0.0.1:${port}/mcp`;
    const issuer = "http://127.0.0.1:1";
    const expiresAt = Date.now() + 3_600_000;
    const token = { issuer, subject: "ada", audience: [resource], scopes: [], expiresAt, claims: {}, onRevoked };
    return streaming({ port, auth: resourceServer({ resource, issuer, verify: () => token }) });
  },
};

/** Functions of programs that log in or protect a server: whoever waits gets an error, and nothing hangs. */
export const AUTH_TRIALS: Readonly<Record<string, readonly [trial: Trial, ended: string]>> = {
  "RequestAuthorization.authorize": [
    async (fail) => {
      const ended = await overHttp({}, (url) => withClient(url, { auth: { authorize: fail } }, add));
      // A throw is the application's own error; a promise in place of a sender fails what is sent.
      return ended === "bare Error: boom" ? "error connection_closed" : ended;
    },
    "error connection_closed",
  ],
  "RequestAuthorization.authorize, sender": [
    (fail) => overHttp({}, (url) => withClient(url, { auth: { authorize: () => fail } }, add)),
    "error connection_closed",
  ],
  "bearerToken(token)": [
    (fail) => overHttp({}, (url) => withClient(url, { auth: bearerToken(fail) }, add)),
    "error authorization_failed",
  ],
  "OAuthOptions.chooseServer": [
    loggingIn((fail, issuer) => ({ login: issuer.login(), chooseServer: fail })),
    "error authorization_failed",
  ],
  "OAuthOptions.chooseClient": [
    loggingIn((fail, issuer) => ({ login: issuer.login(), registration: false, chooseClient: fail })),
    "error authorization_failed",
  ],
  "OAuthOptions.login.begin": [
    loggingIn((fail) => ({ login: { kind: "redirect", applicationType: "native", begin: fail } })),
    "error authorization_failed",
  ],
  "OAuthOptions.login.show": [
    loggingIn((fail) => ({ login: { kind: "device", show: fail } })),
    "error authorization_failed",
  ],
  "deviceLogin(show)": [loggingIn((fail) => ({ login: deviceLogin(fail) })), "error authorization_failed"],
  "RedirectLoginOptions.visit": [
    loggingIn((fail) => ({ login: redirectLogin({ redirectUri: "http://127.0.0.1:1/callback", visit: fail }) })),
    "error authorization_failed",
  ],
  "BrowserLoginOptions.open": [
    loggingIn((fail) => ({ login: browserLogin({ open: fail }) })),
    "error authorization_failed",
  ],
  "TerminalLoginOptions.ask": [
    loggingIn((fail) => ({ login: terminalLogin({ port: 0, ask: fail, output: { write() {} } }) })),
    "error authorization_failed",
  ],
  "TerminalLoginOptions.output.write": [
    loggingIn((fail) => ({ login: terminalLogin({ port: 0, ask: async () => "", output: { write: fail } }) })),
    "error authorization_failed",
  ],
  "Grant.parameters": [
    loggingIn((fail) => ({ grant: { client: CLIENT, grantType: "own", parameters: fail } })),
    "error authorization_failed",
  ],
  "WorkloadIdentityOptions.assertion": [
    loggingIn((fail) => ({ grant: workloadIdentity({ client: CLIENT, assertion: fail }) })),
    "error authorization_failed",
  ],
  "EnterpriseManagedOptions.idToken": [
    loggingIn((fail, { issuer }) => {
      const identityProvider = { ...CLIENT, issuer, tokenEndpoint: `${issuer}/token` };
      return { grant: enterpriseManaged({ client: CLIENT, identityProvider, idToken: fail }) };
    }),
    "error authorization_failed",
  ],
  "TokenExchangeOptions.subjectToken": [
    (subjectToken) => outcome(() => exchanging(subjectToken)({ key: "ada" })),
    "error authorization_failed",
  ],
  "TokenStore.get": [storing("get"), "error authorization_failed"],
  "TokenStore.set": [storing("set"), "error authorization_failed"],
  "TokenStore.lock": [storing("lock"), "error authorization_failed"],
  "TokenStore.delete": [
    (fail) =>
      protectedServer(async (url, issuer) => {
        const auth = oauth({ login: issuer.login(), store: { ...memoryTokenStore(), delete: fail } });
        await withClient(url, { auth }, add);
        return outcome(() => auth.logout(url));
      }),
    "error authorization_failed",
  ],
  "ResourceServerOptions.verify": [
    async (fail) => {
      const port = await freePort();
      const resource = `http://127.0.0.1:${port}/mcp`;
      const auth = resourceServer({ resource, issuer: "http://127.0.0.1:1", verify: fail });
      return overHttp({ port, auth }, (url) => withClient(url, { auth: bearerToken("t") }, add));
    },
    "error transport_error",
  ],
  "ServerAuthorization.authenticate": [guarding("authenticate"), "error transport_error"],
  "ServerAuthorization.challenge": [guarding("challenge"), "error insufficient_scope"],
  "ServerAuthorization.respond": [guarding("respond", "/about"), "status 500"],
  "OAuthProxyOptions.identify": [proxying("identify"), "error authorization_failed"],
  "OAuthProxyOptions.allowRedirect": [proxying("allowRedirect"), "error authorization_failed"],
};
