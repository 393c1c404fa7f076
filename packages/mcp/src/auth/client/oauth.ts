import { isThenable } from "../../encoding/maybe-promise.js";
import type { CancelRequest, Sender, SendRequest, SendResponse } from "../../http/http.js";
import type { RequestAuthorization } from "../../http/request-authorization.js";
import { withoutCredential } from "../../http/without-credential.js";
import { McpError } from "../../protocol/error.js";
import { oauthChallenge } from "../discovery/challenge.js";
import { hookResult } from "../discovery/steps.js";
import { formProblem } from "../url/url-policy.js";
import type { Grant } from "./grant.js";
import { bindingsOf } from "./identity.js";
import type { Login } from "./login.js";
import type { OAuthClient } from "./oauth-client.js";
import { OAuthSession, type RefusedRequest } from "./oauth-session.js";
import type { OAuthSettings } from "./obtain-token.js";
import type { TokenWaiter } from "./renewal.js";
import { memoryTokenStore, namedStore, StoredTokens, type TokenStore } from "./token-store.js";

/** Options for `oauth`. */
export interface OAuthOptions {
  /** How a user logs in. Default: no login, so only a stored token or `grant` works. */
  login?: Login | undefined;
  /** How a program gets a token without a user. Takes precedence over `login`. */
  grant?: Grant | undefined;
  /**
   * Clients that were registered with authorization servers beforehand. If any are passed, only these are used, and a
   * server that requires tokens of another issuer is refused.
   */
  client?: OAuthClient | readonly OAuthClient[] | undefined;
  /**
   * The https address of this client's metadata document. It is the client id for authorization servers that support
   * such documents.
   */
  clientMetadataUrl?: string | undefined;
  /**
   * Further metadata for dynamic registration, such as `client_name`. `false` disables registration. Default: `{}`.
   */
  registration?: Readonly<Record<string, unknown>> | false | undefined;
  /** Asks the user for a registered client if every other way to obtain one has failed. */
  chooseClient?: ((issuer: string) => Promise<OAuthClient | undefined>) | undefined;
  /**
   * Chooses among the authorization servers that a server lists. Default: the first one with a client in these options
   * or a stored token, else the first one whose metadata can be read.
   */
  chooseServer?: ((issuers: readonly string[]) => string | undefined) | undefined;
  /** Stores registrations and tokens. Default: the memory of this process. */
  store?: TokenStore | undefined;
  /** Scopes to request if the server's challenge names none. Default: those that the server lists. */
  scopes?: readonly string[] | undefined;
  /**
   * Scopes that every token is requested with, in addition to those that the server names. A stored token that lacks
   * one of them is replaced before the first request. Default: none.
   */
  requiredScopes?: readonly string[] | undefined;
  /**
   * Requests `offline_access` if the authorization server lists it. Default: true, so that users need not log in again
   * when a token expires.
   */
  offlineAccess?: boolean | undefined;
  /** Binds tokens to a key (DPoP): always, never, or if the server requests it. Default: `"auto"`. */
  dpop?: boolean | "auto" | undefined;
  /**
   * Allows authorization servers at private, link-local and loopback addresses. Default: false, which allows such an
   * address only if the MCP server's own address is of the same kind.
   */
  allowPrivateNetwork?: boolean | undefined;
}

/** The credentials of a client. Pass it to `connect` as `auth`. One value can serve any number of connections. */
export interface OAuth extends RequestAuthorization {
  /**
   * Deletes the tokens for a server. Also revokes them if the authorization server supports that and `connect` was
   * called for this address. Rejects if the store fails. A failed revocation is not reported.
   */
  logout(url: string | URL): Promise<void>;
}

/**
 * Authorizes requests by OAuth 2.1 as the specification describes it: discovery, registration, login or grant, refresh
 * and step-up, each when the server requires it.
 *
 * If a token is about to expire or is refused, all requests wait for one shared renewal. Refused requests are then sent
 * again. An error of kind `authorization_failed` lists every step that was tried.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/logging-in.md | Logging in}
 */
export function oauth(options: OAuthOptions = {}): OAuth {
  const settings = settingsOf(options);
  const sessions = new Map<string, OAuthSession>();
  return {
    authorize(sender, { url, platform }) {
      const { href } = new URL(url);
      const known = sessions.get(href);
      const session = known ?? new OAuthSession(url, settings, sender, platform);
      if (known === undefined) sessions.set(href, session);
      return authorizedSender(sender, session, url);
    },
    async logout(url) {
      const { href } = new URL(url);
      // Without a connection the tokens cannot be revoked, only deleted from the store.
      await (sessions.get(href)?.logout() ?? new StoredTokens(settings.store, href).clear());
    },
  };
}

/**
 * Authorizes requests by a token from another source. A function is called for each request.
 *
 * @example
 * ```ts
 * import { connect } from "@parley/mcp";
 * import { bearerToken } from "@parley/mcp/auth";
 *
 * const client = await connect("https://example.com/mcp", { auth: bearerToken(() => process.env.API_TOKEN ?? "") });
 * ```
 */
export function bearerToken(token: string | (() => string | Promise<string>)): RequestAuthorization {
  return {
    authorize: (sender, { url }) => {
      const { origin } = new URL(url);
      return (request, onResponse, onError) => {
        if (new URL(request.url).origin !== origin) return sender(request, onResponse, onError);
        const send = (value: string) =>
          sender(
            {
              ...request,
              headers: [...withoutHeader(request.headers, "authorization"), "authorization", `Bearer ${value}`],
            },
            (response) => onResponse(withoutCredential(response, value)),
            onError,
          );
        if (typeof token === "string") return send(token);
        let cancel: ((reason: Error) => void) | undefined;
        let cancelled: Error | undefined;
        hookResult("token", token)
          .then((value) => {
            if (cancelled === undefined) cancel = send(value);
          })
          .catch(onError);
        return (reason) => {
          cancelled ??= reason;
          if (cancel === undefined) onError(reason);
          else cancel(reason);
        };
      };
    },
  };
}

function settingsOf(options: OAuthOptions): OAuthSettings {
  const { client, clientMetadataUrl } = options;
  if (clientMetadataUrl !== undefined) checkDocumentUrl(clientMetadataUrl);
  // Safe: a value that is neither undefined nor a list is one client.
  const clients = client === undefined ? [] : Array.isArray(client) ? client : [client as OAuthClient];
  const { store: given = memoryTokenStore() } = options;
  const store = namedStore(given);
  return {
    login: options.login,
    grant: options.grant,
    identity: {
      clients,
      clientMetadataUrl,
      registration: options.registration ?? {},
      chooseClient: options.chooseClient,
    },
    store,
    bindings: bindingsOf(given, store),
    scopes: options.scopes,
    requiredScopes: options.requiredScopes ?? [],
    offlineAccess: options.offlineAccess ?? true,
    dpop: options.dpop ?? "auto",
    allowPrivateNetwork: options.allowPrivateNetwork ?? false,
    chooseServer: options.chooseServer,
  };
}

/**
 * Throws unless the address can be a client id.
 *
 * Spec: Authorization, "Client ID Metadata Documents",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-id-metadata-documents
 */
function checkDocumentUrl(url: string): void {
  const problem = formProblem(url) ?? (url.startsWith("https://") ? undefined : "does not use https");
  const isExact = problem === undefined && new URL(url).href === url && new URL(url).pathname !== "/";
  if (isExact) return;
  throw new McpError("misuse", `\`clientMetadataUrl\` ${problem ?? "needs a path, spelled without dot segments"}`, {
    fix: "Pass the https address of the document, character for character as its `client_id` spells it.",
  });
}

/**
 * Maximum number of retries of one request after a 401, after a 403 for missing scopes, and after a nonce challenge.
 * After the last retry, the caller gets the response.
 */
const MAX_RENEWALS = 2;
const MAX_STEP_UPS = 2;
const MAX_NONCES = 2;

/**
 * Sends requests with the token of a session, and sends a request again after a challenge. The server did not run a
 * request that it answered with 401 or 403, so sending it again is safe.
 *
 * Requests to another origin carry no token, so that a redirect cannot leak it.
 */
function authorizedSender(sender: Sender, session: OAuthSession, server: string): Sender {
  const { origin } = new URL(server);
  return (request, onResponse, onError) => {
    if (new URL(request.url).origin !== origin) return sender(request, onResponse, onError);
    const authorized = new AuthorizedRequest(sender, session, request, onResponse, onError);
    authorized.start();
    return (reason) => authorized.cancel(reason);
  };
}

/** One request, sent as often as authorization requires. */
class AuthorizedRequest implements TokenWaiter {
  readonly #sender: Sender;
  readonly #session: OAuthSession;
  readonly #request: SendRequest;
  readonly #onResponse: (response: SendResponse) => void;
  readonly #onError: (error: unknown) => void;
  #cancelSend: CancelRequest | undefined;
  #cancelled = false;
  #renewals = 0;
  #stepUps = 0;
  #nonces = 0;

  constructor(
    sender: Sender,
    session: OAuthSession,
    request: SendRequest,
    onResponse: (response: SendResponse) => void,
    onError: (error: unknown) => void,
  ) {
    this.#sender = sender;
    this.#session = session;
    this.#request = request;
    this.#onResponse = onResponse;
    this.#onError = onError;
  }

  get isCancelled(): boolean {
    return this.#cancelled;
  }

  holdDeadlines(): () => void {
    return this.#request.onUserWait?.() ?? (() => {});
  }

  /** Sends at once if a bearer token is ready, which saves a turn of the event loop. */
  start(): void {
    if (this.#cancelled) return;
    const { ready } = this.#session;
    if (ready !== undefined) return this.#send(["authorization", `Bearer ${ready.accessToken}`], ready.accessToken);
    const { method, url } = this.#request;
    this.#session.headersFor(method, url, this).then(
      ({ headers, token }) => this.#send(headers, token),
      (error: unknown) => this.#fail(error),
    );
  }

  cancel(reason: Error): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    // If no other request waits for the token, `leave` aborts the login.
    this.#session.leave(this, reason);
    if (this.#cancelSend === undefined) this.#onError(reason);
    else this.#cancelSend(reason);
  }

  #send(headers: readonly string[], token: string | undefined): void {
    if (this.#cancelled) return;
    const own = withoutHeader(this.#request.headers, "authorization");
    this.#cancelSend = this.#sender(
      { ...this.#request, headers: [...own, ...headers] },
      (response) => this.#received(withoutCredential(response, token), token),
      this.#onError,
    );
  }

  #received(response: SendResponse, token: string | undefined): void {
    const nonce = response.header("dpop-nonce");
    const isNew = nonce !== undefined && this.#session.rememberNonce(this.#request.url, nonce);
    if (response.status !== 401 && response.status !== 403) return this.#onResponse(response);
    const challenge = oauthChallenge(response.header("www-authenticate"));
    const code = challenge?.params.get("error");
    if (isNew && code === "use_dpop_nonce" && this.#nonces++ < MAX_NONCES) return this.#retry(response, undefined);
    const refused: RefusedRequest = { status: response.status, challenge, used: token };
    // A DELETE only ends a session. The server drops the session later anyway, so a login is not worthwhile.
    if (this.#request.method === "DELETE" || !this.#mayRenew(refused, code)) return this.#onResponse(response);
    this.#retry(response, this.#session.renew(refused, this));
  }

  #mayRenew(refused: RefusedRequest, code: string | undefined): boolean {
    if (refused.status === 401) {
      // The newest token was refused. Another login would give the same result.
      if (this.#renewals > 0 && this.#session.isNewest(refused.used)) return false;
      return this.#renewals++ < MAX_RENEWALS;
    }
    if (code !== "insufficient_scope" || !this.#session.mayStepUp(refused)) return false;
    return this.#stepUps++ < MAX_STEP_UPS;
  }

  #retry(response: SendResponse, first: Promise<void> | undefined): void {
    response.cancel();
    this.#cancelSend = undefined;
    if (!isThenable(first)) return this.start();
    first.then(
      () => this.start(),
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    if (!this.#cancelled) this.#onError(error);
  }
}

/** Removes a header from a flat list of alternating names and values. */
function withoutHeader(headers: readonly string[], name: string): string[] {
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] !== name) kept.push(headers[at] ?? "", headers[at + 1] ?? "");
  }
  return kept;
}
