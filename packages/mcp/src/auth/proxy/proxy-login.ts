import type { AuthenticationRequest, ServedDocument } from "../../http/authentication.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { StorageError, StorageFailure } from "../../storage/storage.js";
import type { ProxyClients } from "./proxy-clients.js";
import type { FirstUse, ProxyGrants, SealedJson } from "./proxy-grants.js";
import { consentPage, errorPage, hasRepeatedParameter, pageReply, redirectReply } from "./proxy-reply.js";
import { isDocumentId, type RedirectRules } from "./redirect-rules.js";
import type { Upstream, UpstreamLogin } from "./upstream.js";

/** The user of a login at the provider, as `identify` determines it. */
export interface ProxyIdentity {
  /** A stable identifier of the user: the same text for the same user. */
  readonly subject: string;
  /** Claims to add to `ctx.auth.claims`. Default: none. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** Scopes that this user may grant. Default: all requested ones. */
  readonly scopes?: readonly string[] | undefined;
}

/** Options for `ProxyLogin`. */
interface ProxyLoginOptions {
  readonly issuer: string;
  readonly resource: string;
  readonly service: string;
  readonly scopes: readonly string[];
  readonly consentUrl: string;
  readonly clients: ProxyClients;
  readonly redirects: RedirectRules;
  readonly grants: ProxyGrants;
  readonly isFirstUse: FirstUse;
  readonly sealed: SealedJson;
  readonly upstream: Upstream;
  readonly platform: Platform;
  identify(login: UpstreamLogin): Promise<ProxyIdentity>;
}

/** A login in progress, from the consent page to the provider's redirect. */
interface PendingLogin {
  /**
   * The client's key from `clientKey`. The client's id could be too long for the address of the provider's login page,
   * whose `state` contains this login.
   */
  readonly client: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly state: string;
  readonly scopes: readonly string[];
  /**
   * Digest of the cookie. A redirect from the provider is accepted only in the browser in which the user consented.
   */
  readonly browser: string;
}

const PENDING_MS = 600_000;
const CHALLENGE = /^[A-Za-z0-9\-_]{43}$/;
const MAX_STATE_LENGTH = 2_048;
/** Length of the cookie's value: 132 bits. */
const COOKIE_LENGTH = 22;

/**
 * The pages between a client's request and its code: consent, the provider's login, and the redirect to the client. The
 * user must consent to every login, because the provider knows one application only and would not ask again for a
 * second client.
 *
 * Spec: Security Best Practices, "Confused Deputy Problem",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices#confused-deputy-problem
 */
export class ProxyLogin {
  readonly #options: ProxyLoginOptions;
  readonly #cookieName: string;

  constructor(options: ProxyLoginOptions) {
    this.#options = options;
    // The prefix binds the cookie to this host. Browsers accept it over https only.
    this.#cookieName = options.issuer.startsWith("https:") ? "__Host-parley-login" : "parley-login";
  }

  /** Validates the authorization request and shows the consent page. */
  async authorize(query: URLSearchParams): Promise<ServedDocument> {
    const { clients, redirects, grants, sealed, scopes: offered, resource } = this.#options;
    const text = (name: string) => query.get(name) ?? "";
    const [clientId, redirectUri, state] = [text("client_id"), text("redirect_uri"), text("state")];
    if (hasRepeatedParameter(query)) return refusalPage("The application sent a parameter twice.");
    const client = await clients.find(clientId);
    if (typeof client === "string") return refusalPage(client);
    if (!redirects.fits(client.redirectUris, redirectUri))
      return refusalPage("The application did not register the address that it wants to send you to.");
    const invalid = (error: string) => this.#invalidRequest(redirectUri, error, state);
    if (state.length > MAX_STATE_LENGTH || text("response_type") !== "code") return invalid("invalid_request");
    const challenge = text("code_challenge");
    if (text("code_challenge_method") !== "S256" || !CHALLENGE.test(challenge)) return invalid("invalid_request");
    if ((query.get("resource") ?? resource) !== resource) return invalid("invalid_target");
    const scopes = (query.get("scope") ?? offered.join(" ")).split(" ").filter((scope) => scope !== "");
    if (scopes.some((scope) => !offered.includes(scope))) return invalid("invalid_scope");
    const cookie = grants.random().slice(0, COOKIE_LENGTH);
    const browser = grants.digest(cookie);
    const pending: PendingLogin = {
      client: grants.clientKey(clientId),
      redirectUri,
      challenge,
      state,
      scopes,
      browser,
    };
    const page = consentPage({
      service: this.#options.service,
      clientName: client.name,
      document: isDocumentId(clientId) ? clientId : undefined,
      redirectUri,
      scopes,
      action: new URL(this.#options.consentUrl).pathname,
      request: await sealed.seal("consent", pending, PENDING_MS),
    });
    return pageReply(200, page, { "set-cookie": this.#cookie(browser, cookie, PENDING_MS / 1_000) });
  }

  /** Handles the user's answer: redirects to the client with a refusal, or to the provider. */
  async consent(request: AuthenticationRequest, form: URLSearchParams): Promise<ServedDocument> {
    const { issuer, sealed, upstream, grants, isFirstUse } = this.#options;
    const origin = request.header("origin");
    const pending = await sealed.open<PendingLogin>("consent", form.get("request") ?? "");
    const isOwn =
      pending !== undefined && this.#isBrowserOf(pending, request) && (origin === undefined || origin === issuer);
    if (!isOwn)
      return refusalPage(
        "This answer does not belong to a consent page in this browser. Start again in the application.",
      );
    // A refusal ends the login by deleting the cookie. It needs no mark in the storage, which strangers could fill with
    // refusals.
    if (form.get("answer") !== "allow") return this.#redirectBack(pending, { error: "access_denied" });
    if (!(await isFirstUse(grants.digest(`consent ${pending.browser}`), PENDING_MS)))
      return refusalPage("This consent page was already answered. Start again in the application.");
    const verifier = grants.random();
    const state = await sealed.seal("login", { ...pending, verifier }, PENDING_MS);
    try {
      return redirectReply(await upstream.loginUrl(state, verifier));
    } catch (error) {
      this.#warn(error);
      return this.#redirectBack(pending, { error: "temporarily_unavailable" });
    }
  }

  /** Handles the provider's redirect: creates the grant and sends the code to the client. */
  async callback(request: AuthenticationRequest, query: URLSearchParams): Promise<ServedDocument> {
    const { clients, sealed, upstream, grants, isFirstUse, identify } = this.#options;
    const state = query.get("state") ?? "";
    const pending = hasRepeatedParameter(query)
      ? undefined
      : await sealed.open<PendingLogin & { verifier: string }>("login", state);
    if (pending === undefined || !this.#isBrowserOf(pending, request)) {
      return refusalPage(
        "This login was not started in this browser, or it took too long. Start again in the application.",
      );
    }
    if (!(await isFirstUse(grants.digest(`login ${pending.browser}`), PENDING_MS)))
      return refusalPage("This login is already complete.");
    const back = (parameters: Readonly<Record<string, string>>) => this.#redirectBack(pending, parameters);
    try {
      const login = await upstream.finish(query, state, pending.verifier);
      const { subject, claims = {}, scopes: allowed } = await identify(login);
      if (typeof subject !== "string" || subject === "") return back({ error: "access_denied" });
      const scopes = pending.scopes.filter((scope) => allowed === undefined || allowed.includes(scope));
      const { client, redirectUri, challenge } = pending;
      clients.trust(client);
      const grantId = await grants.create({ client, subject, claims, scopes, upstream: login.tokens, turn: 0 });
      return back({ code: await grants.createCode({ grantId, client, redirectUri, challenge }) });
    } catch (error) {
      this.#warn(error);
      return back({
        error:
          error instanceof StorageFailure || error instanceof StorageError
            ? "temporarily_unavailable"
            : "access_denied",
      });
    }
  }

  /**
   * Responds to an invalid request. Redirects only to the user's own machine. Any other address may belong to an
   * attacker who registered a client, and this server would redirect users there without a click.
   */
  #invalidRequest(redirectUri: string, error: string, state: string): ServedDocument {
    return redirectUri.startsWith("http:")
      ? redirectReply(this.#redirectUrl(redirectUri, { error, state }))
      : refusalPage(`The application sent an invalid request (${error}).`);
  }

  #warn(error: unknown): void {
    // Errors of other libraries may carry responses of the provider, so print only their name.
    const reason = McpError.is(error) ? error.message : error instanceof Error ? error.name : typeof error;
    this.#options.platform.warn(`a login at the provider failed: ${reason}`);
  }

  #redirectBack(
    { redirectUri, state, browser }: PendingLogin,
    parameters: Readonly<Record<string, string>>,
  ): ServedDocument {
    const address = this.#redirectUrl(redirectUri, { ...parameters, state });
    return redirectReply(address, { "set-cookie": this.#cookie(browser, "", 0) });
  }

  #redirectUrl(redirectUri: string, parameters: Readonly<Record<string, string>>): string {
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries({ ...parameters, iss: this.#options.issuer })) {
      if (value !== "") url.searchParams.set(name, value);
    }
    return url.href;
  }

  /**
   * Returns the name of a login's cookie. Each login has its own cookie, so that two tabs do not interfere. The number
   * of cookies needs no limit here, because browsers limit it.
   */
  #cookieOf(browser: string): string {
    return `${this.#cookieName}-${browser.slice(0, 8)}`;
  }

  #cookie(browser: string, value: string, maxAgeS: number): string {
    const secure = this.#cookieName.startsWith("__Host-") ? "; Secure" : "";
    return `${this.#cookieOf(browser)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeS}${secure}`;
  }

  #isBrowserOf({ browser }: PendingLogin, request: AuthenticationRequest): boolean {
    const name = `${this.#cookieOf(browser)}=`;
    const pairs = (request.header("cookie") ?? "").split(";").map((pair) => pair.trim());
    const own = pairs.filter((pair) => pair.startsWith(name));
    // If there are two cookies of this name, another party has set one of them, on another path or a parent domain.
    // Neither is then accepted.
    return own.length === 1 && this.#options.grants.digest(own[0]?.slice(name.length) ?? "") === browser;
  }
}

/** Reports a problem to the user where a redirect would be unsafe. */
function refusalPage(message: string): ServedDocument {
  return pageReply(400, errorPage(message));
}
