import { toBase64Url } from "../../encoding/base64.js";
import { isThenable } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type {
  AuthenticationRefusal,
  AuthenticationRequest,
  Principal,
  ServedDocument,
  ServerAuthorization,
} from "../../http/authentication.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import type { Platform } from "../../platform/platform.js";
import type { Storage } from "../../storage/storage.js";
import { challengeText, scopeText } from "../discovery/challenge.js";
import {
  checkBinding,
  DpopNonces,
  DpopProofs,
  jktOf,
  NonceNeeded,
  PROOF_ALGORITHMS,
  SeenProofs,
  TooManyProofs,
} from "./dpop-proof.js";
import { type RefusalCause, RefusalReports, type TokenRefusal } from "./token-refusal.js";
import { InvalidToken, type TokenVerifier, type VerifiedToken } from "./verified-token.js";

/** The options of `resourceServer` with defaults applied. */
interface ProtectedResourceConfig {
  readonly resource: string;
  readonly issuers: readonly string[];
  readonly verify: TokenVerifier;
  readonly scopes: readonly string[];
  readonly scopesSupported: readonly string[];
  readonly impliedScopes: Readonly<Record<string, readonly string[]>>;
  readonly requireDpop: boolean;
  /** Set if proofs must contain a nonce. */
  readonly dpopNonce: { readonly secret?: string | readonly string[] | undefined } | undefined;
  readonly maxProofsPerKey: number;
  /** Storage in which nodes share used proofs. */
  readonly storage: Storage | undefined;
  readonly onRefused: ((refusal: TokenRefusal) => unknown) | undefined;
  readonly exposeToken: boolean;
  readonly name: string | undefined;
  readonly documentation: string | undefined;
  readonly platform: Platform;
}

/** The refusal of a request, with its cause for the operator. */
type ExplainedRefusal = AuthenticationRefusal & { readonly cause: RefusalCause };

const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const MAX_TOKEN_LENGTH = 16 * 1024;
const LACKS_SCOPE = "the token lacks a scope";

/**
 * Authenticates callers by access tokens, and publishes where clients can get them.
 *
 * Spec: Authorization, "Access Token Usage", https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#access-token-usage
 */
export class ProtectedResource implements ServerAuthorization {
  readonly #config: ProtectedResourceConfig;
  readonly #cache: TokenCache;
  readonly #proofs: DpopProofs;
  readonly #nonces: DpopNonces | undefined;
  readonly #reports: RefusalReports;
  readonly #origin: string;
  readonly resource: string;
  readonly paths: ReadonlySet<string>;
  readonly #metadataUrl: string;
  readonly #document: string;

  constructor(config: ProtectedResourceConfig) {
    this.#config = config;
    this.#cache = new TokenCache(config.platform);
    const { platform, dpopNonce, storage } = config;
    this.#nonces = dpopNonce && new DpopNonces(platform, dpopNonce.secret);
    this.#proofs = new DpopProofs(
      platform,
      this.#nonces,
      new SeenProofs(platform, config.maxProofsPerKey, storage?.kv),
    );
    this.#reports = new RefusalReports(platform, config.resource, config.onRefused);
    const { origin, pathname } = new URL(config.resource);
    this.#origin = origin;
    const own = `${WELL_KNOWN}${pathname === "/" ? "" : pathname}`;
    this.resource = config.resource;
    this.paths = new Set([own, WELL_KNOWN]);
    this.#metadataUrl = `${origin}${own}`;
    this.#document = JSON.stringify(metadataOf(config));
  }

  /**
   * Serves the metadata at both of its addresses, to pages of any origin. The document contains nothing from the
   * request.
   */
  respond({ method }: AuthenticationRequest): ServedDocument {
    const shared = { "access-control-allow-origin": "*", "access-control-allow-headers": "mcp-protocol-version" };
    if (method === "OPTIONS")
      return { status: 204, headers: { ...shared, "access-control-allow-methods": "GET" }, body: "" };
    if (method !== "GET" && method !== "HEAD") return { status: 405, headers: { allow: "GET" }, body: "" };
    const headers = { ...shared, "content-type": "application/json", "cache-control": "public, max-age=300" };
    return { status: 200, headers, body: method === "HEAD" ? "" : this.#document };
  }

  /**
   * Authenticates a request. Never throws because of a request: an invalid token is refused, and a request whose token
   * cannot be verified at the moment gets 503.
   */
  authenticate(
    request: AuthenticationRequest,
  ): Principal | AuthenticationRefusal | Promise<Principal | AuthenticationRefusal> {
    const header = request.header("authorization");
    const problem = placementProblem(request);
    if (problem !== undefined) return this.#refuse(request, this.#malformed(problem));
    if (header === undefined) return this.#refuse(request, this.#needed("missing_token", "the request has no token"));
    const known = this.#cache.get(header);
    if (known !== undefined && jktOf(known.verified) === undefined)
      return this.#answered(request, known.answer, header);
    const presented = presentedToken(header);
    if (presented !== undefined) {
      return this.#verify(request, presented, known)
        .catch((error: unknown) => this.#failed(error, presented))
        .then((answer) => this.#answered(request, answer, presented.credentials));
    }
    // RFC 6750, 3: an unsupported scheme counts as missing credentials, so that the client starts a login.
    const refused = SUPPORTED.test(header)
      ? this.#malformed("the Authorization header must be one Bearer or DPoP token")
      : this.#needed("unsupported_scheme", "the Authorization header has a scheme other than Bearer and DPoP");
    return this.#refuse(request, refused);
  }

  /**
   * Returns the headers for a caller that lacks scopes. The challenge names all scopes of the operation and those that
   * every request needs. Its scheme is DPoP if the token of `caller` is bound to a key or `requireDpop` is set, else
   * Bearer.
   */
  challenge(scopes: readonly string[], caller?: Principal): Readonly<Record<string, string>> {
    const isBound = caller?.claims !== undefined && jktOf({ claims: caller.claims }) !== undefined;
    return this.#lacking(scopes, isBound ? "DPoP" : "Bearer");
  }

  async #verify(
    request: AuthenticationRequest,
    { credentials, scheme, token }: PresentedToken,
    known: KnownToken | undefined,
  ): Promise<Principal | ExplainedRefusal> {
    if (token.length > MAX_TOKEN_LENGTH) throw new InvalidToken("the token is too long", { reason: "malformed" });
    let verified = known?.verified;
    if (verified === undefined) {
      const found = this.#config.verify(token);
      verified = isThenable(found) ? await found : found;
      checkExpiry(verified, this.#config.platform.now());
      checkBinding(verified);
    }
    const isBound = jktOf(verified) !== undefined;
    if (isBound !== (scheme === "DPoP") || (this.#config.requireDpop && !isBound)) {
      const expected = isBound ? "DPoP" : this.#config.requireDpop ? "a token that is bound to a key" : "Bearer";
      const details = { reason: "dpop_required", expected, got: isBound ? scheme : `${scheme}, not bound` } as const;
      throw new InvalidToken("the scheme does not match the token", details);
    }
    if (isBound) {
      const { method = "GET", path = "" } = request;
      const urls = [this.resource, `${this.#origin}${path}`];
      await this.#proofs.check({ method, urls, proof: request.header("dpop") ?? "", token }, verified);
    }
    const answer = known?.answer ?? this.#admit(verified, token, scheme);
    if (known === undefined && verified.isRemembered !== false) this.#cache.set(credentials, { verified, answer });
    return answer;
  }

  #admit(verified: VerifiedToken, token: string, scheme: PresentedToken["scheme"]): Principal | ExplainedRefusal {
    const { issuer, subject, clientId, expiresAt, claims, onRevoked } = verified;
    if (subject === undefined && clientId === undefined) {
      // Without a subject and a client, all callers with such tokens would share one identity.
      const details = { reason: "wrong_claim", expected: ["sub", "client_id"] } as const;
      throw new InvalidToken("the token names neither a subject nor a client", details);
    }
    const scopes = this.#granted(verified.scopes);
    const missing = this.#config.scopes.filter((scope) => !scopes.has(scope));
    if (missing.length > 0) {
      const cause = { reason: "missing_scope", message: LACKS_SCOPE, expected: missing, got: [...scopes] } as const;
      return { status: 403, message: LACKS_SCOPE, headers: this.#lacking([], scheme), cause };
    }
    // Frozen, because every request with this token gets the same object.
    return Object.freeze({
      key: JSON.stringify([issuer, subject ?? null, clientId ?? null]),
      subject,
      clientId,
      scopes: Object.freeze([...scopes]),
      expiresAt,
      claims: Object.freeze(this.#config.exposeToken ? { ...claims, token } : { ...claims }),
      ...(onRevoked === undefined ? {} : { onRevoked }),
    });
  }

  #granted(scopes: readonly string[]): Set<string> {
    const granted = new Set(scopes);
    // Iterating a set includes elements added meanwhile, so implied scopes can imply others.
    for (const scope of granted) {
      const implied = Object.hasOwn(this.#config.impliedScopes, scope) ? this.#config.impliedScopes[scope] : undefined;
      for (const one of implied ?? []) granted.add(one);
    }
    return granted;
  }

  #failed(error: unknown, { scheme }: PresentedToken): ExplainedRefusal {
    if (error instanceof InvalidToken) return this.#refused("invalid_token", scheme, error);
    if (error instanceof NonceNeeded) {
      const refused = this.#refused("use_dpop_nonce", scheme, { reason: "dpop_nonce", message: error.message });
      return { ...refused, headers: { ...refused.headers, "dpop-nonce": this.#nonces?.current() ?? "" } };
    }
    if (error instanceof TooManyProofs) {
      const headers = { "retry-after": String(Math.max(1, Math.ceil(error.retryAfterMs / 1_000))) };
      const { message } = error;
      return { status: 429, message: "try again later", headers, cause: { reason: "too_many_proofs", message } };
    }
    const message = `a token could not be verified: ${thrownMessage(error)}`;
    this.#config.platform.warn(message);
    const headers = { "retry-after": "5" };
    return {
      status: 503,
      message: "the token cannot be verified now",
      headers,
      cause: { reason: "unverifiable", message },
    };
  }

  #malformed(message: string): ExplainedRefusal {
    const cause = { reason: "malformed_request", message } as const;
    return { status: 400, message, headers: this.#challenge({ error: "invalid_request" }), cause };
  }

  #needed(reason: RefusalCause["reason"], message: string): ExplainedRefusal {
    const headers = this.#challenge({ scopes: this.#config.scopes });
    return { status: 401, message: "a token is needed", headers, cause: { reason, message } };
  }

  #refused(error: string, scheme: PresentedToken["scheme"], cause: RefusalCause): ExplainedRefusal {
    const headers = this.#challenge({ error, scheme, scopes: this.#config.scopes });
    return { status: 401, message: "the token is not accepted", headers, cause };
  }

  #answered(
    request: AuthenticationRequest,
    answer: Principal | ExplainedRefusal,
    header: string,
  ): Principal | AuthenticationRefusal {
    return "cause" in answer ? this.#refuse(request, answer, presentedToken(header)?.token) : answer;
  }

  /**
   * Reports a refusal and its cause to the operator. The returned refusal contains only the `reason` of the cause,
   * because the rest must not be sent to the client.
   */
  #refuse(
    request: AuthenticationRequest,
    { cause, ...refusal }: ExplainedRefusal,
    token?: string,
  ): AuthenticationRefusal {
    this.#reports.report(request, refusal.status, cause, token);
    return { ...refusal, reason: cause.reason };
  }

  #lacking(scopes: readonly string[], scheme: PresentedToken["scheme"]): Readonly<Record<string, string>> {
    return this.#challenge({
      error: "insufficient_scope",
      error_description: LACKS_SCOPE,
      scheme,
      scopes: [...new Set([...this.#config.scopes, ...scopes])],
    });
  }

  #challenge({
    scheme,
    scopes = [],
    ...params
  }: {
    error?: string;
    error_description?: string;
    scheme?: PresentedToken["scheme"];
    scopes?: readonly string[];
  }): Readonly<Record<string, string>> {
    const usesDpop = this.#config.requireDpop || scheme === "DPoP";
    const text = challengeText(usesDpop ? "DPoP" : "Bearer", {
      ...params,
      scope: scopeText(scopes),
      resource_metadata: this.#metadataUrl,
      algs: usesDpop ? PROOF_ALGORITHMS.join(" ") : undefined,
    });
    return { "www-authenticate": text };
  }
}

function checkExpiry({ expiresAt }: VerifiedToken, now: number): void {
  if (expiresAt > now) return;
  const details = { reason: "expired", expected: `later than ${now / 1_000}`, got: expiresAt / 1_000 } as const;
  throw new InvalidToken("the token has expired", details);
}

function metadataOf(config: ProtectedResourceConfig): Record<string, unknown> {
  const scopes = config.scopesSupported.filter((scope) => scope !== "offline_access");
  return {
    resource: config.resource,
    authorization_servers: config.issuers,
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
    ...(config.name === undefined ? {} : { resource_name: config.name }),
    ...(config.documentation === undefined ? {} : { resource_documentation: config.documentation }),
    ...(config.requireDpop ? { dpop_signing_alg_values_supported: PROOF_ALGORITHMS } : {}),
    ...(config.requireDpop ? { dpop_bound_access_tokens_required: true } : {}),
  };
}

/** A token as a request carries it. */
interface PresentedToken {
  /** The whole value of the header. */
  readonly credentials: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly token: string;
}

const SUPPORTED = /^(?:bearer|dpop)(?: |$)/i;
const CREDENTIALS = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Returns the problem if the token is in the address, which appears in logs, or if the request has more than one
 * `Authorization` header. RFC 6750, 2: a request carries its token in one way only.
 */
function placementProblem(request: AuthenticationRequest): string | undefined {
  const { path = "" } = request;
  if (path.includes("?") && /[?&]access_token=/.test(path)) {
    return "the token must be in the Authorization header, not in the address";
  }
  return (request.headerCount?.("authorization") ?? 0) > 1
    ? "the request has more than one Authorization header"
    : undefined;
}

/** Parses the value of an Authorization header. Undefined if it is not one token of a supported scheme. */
function presentedToken(credentials: string): PresentedToken | undefined {
  const [, scheme = "", token] = CREDENTIALS.exec(credentials) ?? [];
  if (token === undefined) return undefined;
  return { credentials, scheme: scheme.toLowerCase() === "dpop" ? "DPoP" : "Bearer", token };
}

const MAX_TOKENS = 10_000;
/**
 * Maximum number of recent entries of `TokenCache` that can also be found by the plain credentials, without a digest.
 * Computing a digest can take as long as handling a short tool call.
 */
const MAX_RECENT = 256;
/**
 * Maximum age of a cached entry. A token that the verifier would refuse now, such as a revoked one, is accepted for at
 * most this time.
 */
const MAX_AGE_MS = 60_000;

/** A verified token, and the answer for every request that carries it. */
interface KnownToken {
  readonly verified: VerifiedToken;
  readonly answer: Principal | ExplainedRefusal;
}

interface CacheEntry extends KnownToken {
  readonly until: number;
}

/** Caches verified credentials for a short time, by their digest. Recent ones are also stored in plain text. */
class TokenCache {
  readonly #platform: Platform;
  readonly #entries = new BoundedMap<string, CacheEntry>(MAX_TOKENS);
  readonly #recent = new BoundedMap<string, CacheEntry>(MAX_RECENT);

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  get(credentials: string): KnownToken | undefined {
    const entry = this.#recent.get(credentials) ?? this.#byDigest(credentials);
    if (entry === undefined) return undefined;
    if (entry.until > this.#platform.monotonic() && entry.verified.expiresAt > this.#platform.now()) return entry;
    this.#recent.delete(credentials);
    this.#entries.delete(this.#key(credentials));
    return undefined;
  }

  set(credentials: string, known: KnownToken): void {
    const entry = { ...known, until: this.#platform.monotonic() + MAX_AGE_MS };
    this.#entries.set(this.#key(credentials), entry);
    this.#recent.set(credentials, entry);
  }

  #byDigest(credentials: string): CacheEntry | undefined {
    // Compute no digest while the cache is empty, because no entry can be found.
    const entry = this.#entries.size === 0 ? undefined : this.#entries.get(this.#key(credentials));
    if (entry !== undefined) this.#recent.set(credentials, entry);
    return entry;
  }

  #key(credentials: string): string {
    return toBase64Url(this.#platform.sha256(new TextEncoder().encode(credentials)));
  }
}
