import {
  bearerToken,
  deviceLogin,
  enterpriseManaged,
  memoryTokenStore,
  type OAuthOptions,
  oauth,
  oauthProxy,
  redirectLogin,
  resourceServer,
  workloadIdentity,
} from "@parley/mcp/auth";
import { browserLogin, terminalLogin } from "@parley/mcp/login";
import { agreeTo } from "../auth/agreeing-browser.js";
import { TestIssuer } from "../auth/test-issuer.js";
import { freePort } from "../free-port.js";
import { add, emptyServer, type Failing, outcome, overHttp, plainServer, type Trial, withClient } from "./trial.js";

/** A protected server, while `work` runs. */
async function protectedServer(work: (url: string, issuer: TestIssuer) => Promise<string>): Promise<string> {
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
  const auth = resourceServer({ resource: `http://127.0.0.1:${port}/mcp`, issuer: issuer.issuer });
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

const proxying =
  (member: "identify" | "allowRedirect"): Trial =>
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
    const redirectUri = "http://127.0.0.1:1/callback";
    const login = redirectLogin({ redirectUri, visit: (url) => agreeTo(url, redirectUri) });
    try {
      return await overHttp({ port, auth }, (url) => withClient(url, { auth: oauth({ login }) }, add), plainServer());
    } finally {
      issuer.close();
    }
  };

const CLIENT = { clientId: "c", clientSecret: "s" };

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
