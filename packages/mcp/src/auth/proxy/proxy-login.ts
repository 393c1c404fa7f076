import type { AuthenticationRequest, ServedDocument } from "../../http/authentication.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { StorageError, StorageFailure } from "../../storage/storage.js";
import type { ProxyClients } from "./proxy-clients.js";
import type { FirstUse, ProxyGrants, SealedJson } from "./proxy-grants.js";
import { consentPage, errorPage, hasRepeatedParameter, pageReply, redirectReply } from "./proxy-reply.js";
import { isDocumentId, type RedirectRules } from "./redirect-rules.js";
import type { Upstream, UpstreamLogin } from "./upstream.js";

/** The user of a login at the provider, as the application decides. */
export interface ProxyIdentity {
  /** The user; the same text for the same user. */
  readonly subject: string;
  /** Becomes part of `ctx.auth.claims`. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** Scopes that this user may grant. Default: all that were asked for. */
  readonly scopes?: readonly string[] | undefined;
}

interface ProxyLoginParts {
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

/** A request for access, from the first page to the provider's answer. */
interface Pending {
  /** The client, as `clientKey` names it: its id could be too long for the provider's address. */
  readonly client: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly state: string;
  readonly scopes: readonly string[];
  /** Digest of the cookie: the browser that agreed is the one that comes back. */
  readonly browser: string;
}

const PENDING_MS = 600_000;
const CHALLENGE = /^[A-Za-z0-9\-_]{43}$/;
const MAX_STATE = 2_048;
/** 132 bits. */
const COOKIE_LENGTH = 22;

/**
 * The pages between a client's request and its code: consent first, then the provider's login, then back to the client. The user's
 * consent is asked for every time, because the provider, which knows one application only, would not ask for the second client.
 *
 * Spec: Security Best Practices, "Confused Deputy Problem",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices#confused-deputy-problem
 */
export class ProxyLogin {
  readonly #parts: ProxyLoginParts;
  readonly #cookieName: string;

  constructor(parts: ProxyLoginParts) {
    this.#parts = parts;
    // The prefix binds the cookie to this host; browsers accept it over https only.
    this.#cookieName = parts.issuer.startsWith("https:") ? "__Host-parley-login" : "parley-login";
  }

  /** The first page: checks the request, and asks for consent. */
  async authorize(query: URLSearchParams): Promise<ServedDocument> {
    const { clients, redirects, grants, sealed, scopes: offered, resource } = this.#parts;
    const text = (name: string) => query.get(name) ?? "";
    const [clientId, redirectUri, state] = [text("client_id"), text("redirect_uri"), text("state")];
    if (hasRepeatedParameter(query)) return refusedPage("The application sent a parameter twice.");
    const client = await clients.find(clientId);
    if (typeof client === "string") return refusedPage(client);
    if (!redirects.fits(client.redirectUris, redirectUri))
      return refusedPage("The application did not register the address it wants you to be sent to.");
    const back = (error: string) => this.#mistake(redirectUri, error, state);
    if (state.length > MAX_STATE || text("response_type") !== "code") return back("invalid_request");
    const challenge = text("code_challenge");
    if (text("code_challenge_method") !== "S256" || !CHALLENGE.test(challenge)) return back("invalid_request");
    if ((query.get("resource") ?? resource) !== resource) return back("invalid_target");
    const scopes = (query.get("scope") ?? offered.join(" ")).split(" ").filter((scope) => scope !== "");
    if (scopes.some((scope) => !offered.includes(scope))) return back("invalid_scope");
    const cookie = grants.random().slice(0, COOKIE_LENGTH);
    const browser = grants.digest(cookie);
    const pending: Pending = { client: grants.clientKey(clientId), redirectUri, challenge, state, scopes, browser };
    const page = consentPage({
      service: this.#parts.service,
      clientName: client.name,
      document: isDocumentId(clientId) ? clientId : undefined,
      redirectUri,
      scopes,
      action: new URL(this.#parts.consentUrl).pathname,
      request: await sealed.seal("consent", pending, PENDING_MS),
    });
    return pageReply(200, page, { "set-cookie": this.#cookie(browser, cookie, PENDING_MS / 1_000) });
  }

  /** The user's answer: back with a refusal, or on to the provider. */
  async consent(request: AuthenticationRequest, form: URLSearchParams): Promise<ServedDocument> {
    const { issuer, sealed, upstream, grants, isFirstUse } = this.#parts;
    const origin = request.header("origin");
    const pending = await sealed.open<Pending>("consent", form.get("request") ?? "");
    const isOwn =
      pending !== undefined && this.#isBrowserOf(pending, request) && (origin === undefined || origin === issuer);
    if (!isOwn)
      return refusedPage(
        "This answer does not belong to a question that this page asked you. Begin again in the application.",
      );
    // A refusal ends the login by removing the cookie, and needs no mark: strangers can refuse as often as they like.
    if (form.get("answer") !== "allow") return this.#back(pending, { error: "access_denied" });
    if (!(await isFirstUse(grants.digest(`consent ${pending.browser}`), PENDING_MS)))
      return refusedPage("This question was answered before. Begin again in the application.");
    const verifier = grants.random();
    const state = await sealed.seal("login", { ...pending, verifier }, PENDING_MS);
    try {
      return redirectReply(await upstream.loginUrl(state, verifier));
    } catch (error) {
      this.#warn(error);
      return this.#back(pending, { error: "temporarily_unavailable" });
    }
  }

  /** The provider's answer: makes the grant, and sends the client its code. */
  async callback(request: AuthenticationRequest, query: URLSearchParams): Promise<ServedDocument> {
    const { clients, sealed, upstream, grants, isFirstUse, identify } = this.#parts;
    const state = query.get("state") ?? "";
    const pending = hasRepeatedParameter(query)
      ? undefined
      : await sealed.open<Pending & { verifier: string }>("login", state);
    if (pending === undefined || !this.#isBrowserOf(pending, request)) {
      return refusedPage("This login was not begun in this browser, or took too long. Begin again in the application.");
    }
    if (!(await isFirstUse(grants.digest(`login ${pending.browser}`), PENDING_MS)))
      return refusedPage("This login was finished before.");
    const back = (parameters: Readonly<Record<string, string>>) => this.#back(pending, parameters);
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
   * A request that is wrong goes back at once only to the user's own machine. Every client can register any other address, and could
   * let this server send users there without a click.
   */
  #mistake(redirectUri: string, error: string, state: string): ServedDocument {
    return redirectUri.startsWith("http:")
      ? redirectReply(this.#address(redirectUri, { error, state }))
      : refusedPage(`The application asked in a wrong way (${error}).`);
  }

  #warn(error: unknown): void {
    // Errors of other libraries carry what the provider sent; only their kind is safe to print.
    const reason = McpError.is(error) ? error.message : error instanceof Error ? error.name : typeof error;
    this.#parts.platform.warn(`a login at the provider failed: ${reason}`);
  }

  #back({ redirectUri, state, browser }: Pending, parameters: Readonly<Record<string, string>>): ServedDocument {
    const address = this.#address(redirectUri, { ...parameters, state });
    return redirectReply(address, { "set-cookie": this.#cookie(browser, "", 0) });
  }

  #address(redirectUri: string, parameters: Readonly<Record<string, string>>): string {
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries({ ...parameters, iss: this.#parts.issuer })) {
      if (value !== "") url.searchParams.set(name, value);
    }
    return url.href;
  }

  /** Each login has a cookie of its own, so that two tabs do not disturb each other; browsers bound how many they keep. */
  #cookieOf(browser: string): string {
    return `${this.#cookieName}-${browser.slice(0, 8)}`;
  }

  #cookie(browser: string, value: string, maxAgeS: number): string {
    const secure = this.#cookieName.startsWith("__Host-") ? "; Secure" : "";
    return `${this.#cookieOf(browser)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeS}${secure}`;
  }

  #isBrowserOf({ browser }: Pending, request: AuthenticationRequest): boolean {
    const name = `${this.#cookieOf(browser)}=`;
    const pairs = (request.header("cookie") ?? "").split(";").map((pair) => pair.trim());
    const own = pairs.filter((pair) => pair.startsWith(name));
    // A second cookie of the name was set by another party, on another path or a parent domain.
    return own.length === 1 && this.#parts.grants.digest(own[0]?.slice(name.length) ?? "") === browser;
  }
}

/** Reports a mistake to the user where a redirect would be unsafe. */
function refusedPage(message: string): ServedDocument {
  return pageReply(400, errorPage(message));
}
