import { isThenable } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type {
  AuthenticationRefusal,
  AuthenticationRequest,
  Principal,
  ServedDocument,
  ServerAuthorization,
} from "../../http/authentication.js";
import type { Platform } from "../../platform/platform.js";
import { challengeText, scopeText } from "../discovery/challenge.js";
import { DpopNonces } from "./dpop-nonce.js";
import { DpopProofs, jktOf, NonceNeeded, PROOF_ALGORITHMS } from "./dpop-proof.js";
import { type KnownToken, TokenCache } from "./token-cache.js";
import { InvalidToken, type TokenVerifier, type VerifiedToken } from "./verified-token.js";

/** The options of `resourceServer` with their defaults filled in. */
export interface ProtectedResourceParts {
  readonly resource: string;
  readonly issuers: readonly string[];
  readonly verify: TokenVerifier;
  readonly scopes: readonly string[];
  readonly scopesSupported: readonly string[];
  readonly impliedScopes: Readonly<Record<string, readonly string[]>>;
  readonly requireDpop: boolean;
  /** Present if proofs must repeat a nonce. */
  readonly dpopNonce: { readonly secret?: string | readonly string[] | undefined } | undefined;
  readonly exposeToken: boolean;
  readonly name: string | undefined;
  readonly documentation: string | undefined;
  readonly platform: Platform;
}

/** A token as a request carries it. */
interface Presented {
  /** The whole value of the header. */
  readonly credentials: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly token: string;
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const MAX_TOKEN_LENGTH = 16 * 1024;
const LACKS_SCOPE = "the token lacks a scope";
const CREDENTIALS = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Decides by access tokens who may call, and tells clients where to get one.
 *
 * Spec: Authorization, "Access Token Usage", https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#access-token-usage
 */
export class ProtectedResource implements ServerAuthorization {
  readonly #parts: ProtectedResourceParts;
  readonly #cache: TokenCache;
  readonly #proofs: DpopProofs;
  readonly #nonces: DpopNonces | undefined;
  readonly #origin: string;
  readonly resource: string;
  readonly paths: ReadonlySet<string>;
  readonly #metadataUrl: string;
  readonly #document: string;

  constructor(parts: ProtectedResourceParts) {
    this.#parts = parts;
    this.#cache = new TokenCache(parts.platform);
    const { platform, dpopNonce } = parts;
    this.#nonces = dpopNonce && new DpopNonces(platform, dpopNonce.secret);
    this.#proofs = new DpopProofs(platform, this.#nonces);
    const { origin, pathname } = new URL(parts.resource);
    this.#origin = origin;
    const own = `${WELL_KNOWN}${pathname === "/" ? "" : pathname}`;
    this.resource = parts.resource;
    this.paths = new Set([own, WELL_KNOWN]);
    this.#metadataUrl = `${origin}${own}`;
    this.#document = JSON.stringify(metadataOf(parts));
  }

  /** Serves the metadata, to pages of any origin, at both of its addresses. Nothing of the request goes into it. */
  respond({ method }: AuthenticationRequest): ServedDocument {
    const shared = { "access-control-allow-origin": "*", "access-control-allow-headers": "mcp-protocol-version" };
    if (method === "OPTIONS")
      return { status: 204, headers: { ...shared, "access-control-allow-methods": "GET" }, body: "" };
    if (method !== "GET" && method !== "HEAD") return { status: 405, headers: { allow: "GET" }, body: "" };
    const headers = { ...shared, "content-type": "application/json", "cache-control": "public, max-age=300" };
    return { status: 200, headers, body: method === "HEAD" ? "" : this.#document };
  }

  /** Throws nothing that a sender could cause: what cannot be verified is refused, what cannot be found out is 503. */
  authenticate(
    request: AuthenticationRequest,
  ): Principal | AuthenticationRefusal | Promise<Principal | AuthenticationRefusal> {
    const header = request.header("authorization");
    const problem = misplaced(request);
    if (problem !== undefined) return this.#malformed(problem);
    if (header === undefined) return this.#refusal();
    const known = this.#cache.get(header);
    if (known !== undefined && jktOf(known.verified) === undefined) return known.answer;
    const presented = presentedIn(header);
    if (presented === undefined) return this.#malformed("the Authorization header must be one Bearer or DPoP token");
    return this.#verify(request, presented, known).catch((error: unknown) => this.#failed(error, presented));
  }

  /** The headers for a caller that lacks scopes: all that the operation needs, also those that every request needs. */
  challenge(scopes: readonly string[]): Readonly<Record<string, string>> {
    return this.#challenge({
      error: "insufficient_scope",
      error_description: LACKS_SCOPE,
      scopes: [...new Set([...this.#parts.scopes, ...scopes])],
    });
  }

  async #verify(
    request: AuthenticationRequest,
    { credentials, scheme, token }: Presented,
    known: KnownToken | undefined,
  ): Promise<Principal | AuthenticationRefusal> {
    if (token.length > MAX_TOKEN_LENGTH) throw new InvalidToken("too long");
    let verified = known?.verified;
    if (verified === undefined) {
      const found = this.#parts.verify(token);
      verified = isThenable(found) ? await found : found;
      if (!(verified.expiresAt > this.#parts.platform.now())) throw new InvalidToken("expired");
    }
    const isBound = jktOf(verified) !== undefined;
    if (isBound !== (scheme === "DPoP") || (this.#parts.requireDpop && !isBound)) {
      throw new InvalidToken("the scheme does not fit the token");
    }
    if (isBound) {
      const { method = "GET", path = "" } = request;
      const urls = [this.resource, `${this.#origin}${path}`];
      await this.#proofs.check({ method, urls, proof: request.header("dpop") ?? "", token }, verified);
    }
    const answer = known?.answer ?? this.#admit(verified, token);
    if (known === undefined && verified.isRemembered !== false) this.#cache.set(credentials, { verified, answer });
    return answer;
  }

  #admit(verified: VerifiedToken, token: string): Principal | AuthenticationRefusal {
    const { issuer, subject, clientId, expiresAt, claims, onRevoked } = verified;
    // Without either, everybody would be the same person.
    if (subject === undefined && clientId === undefined) return this.#refusal("invalid_token");
    const scopes = this.#granted(verified.scopes);
    const missing = this.#parts.scopes.filter((scope) => !scopes.has(scope));
    if (missing.length > 0) return { status: 403, message: LACKS_SCOPE, headers: this.challenge([]) };
    // Every request with this token gets the same object.
    return Object.freeze({
      key: JSON.stringify([issuer, subject ?? null, clientId ?? null]),
      subject,
      clientId,
      scopes: Object.freeze([...scopes]),
      expiresAt,
      claims: Object.freeze(this.#parts.exposeToken ? { ...claims, token } : { ...claims }),
      ...(onRevoked === undefined ? {} : { onRevoked }),
    });
  }

  #granted(scopes: readonly string[]): Set<string> {
    const granted = new Set(scopes);
    // A set gives out what is added while it is walked, so that implied scopes may imply others.
    for (const scope of granted) {
      const implied = Object.hasOwn(this.#parts.impliedScopes, scope) ? this.#parts.impliedScopes[scope] : undefined;
      for (const one of implied ?? []) granted.add(one);
    }
    return granted;
  }

  #failed(error: unknown, { scheme }: Presented): AuthenticationRefusal {
    if (error instanceof InvalidToken) return this.#refusal("invalid_token", scheme);
    if (error instanceof NonceNeeded) {
      const { status, message, headers } = this.#refusal("use_dpop_nonce", scheme);
      return { status, message, headers: { ...headers, "dpop-nonce": this.#nonces?.current() ?? "" } };
    }
    this.#parts.platform.warn(`a token could not be verified: ${thrownMessage(error)}`);
    return { status: 503, message: "the token cannot be verified now", headers: { "retry-after": "5" } };
  }

  #malformed(message: string): AuthenticationRefusal {
    return { status: 400, message, headers: this.#challenge({ error: "invalid_request" }) };
  }

  #refusal(error?: string, scheme?: Presented["scheme"]): AuthenticationRefusal {
    const message = error === undefined ? "a token is needed" : "the token is not accepted";
    return { status: 401, message, headers: this.#challenge({ error, scheme, scopes: this.#parts.scopes }) };
  }

  #challenge({ scheme, scopes = [], ...params }: ChallengeParts): Readonly<Record<string, string>> {
    const usesDpop = this.#parts.requireDpop || scheme === "DPoP";
    const text = challengeText(usesDpop ? "DPoP" : "Bearer", {
      ...params,
      scope: scopeText(scopes),
      resource_metadata: this.#metadataUrl,
      algs: usesDpop ? PROOF_ALGORITHMS.join(" ") : undefined,
    });
    return { "www-authenticate": text };
  }
}

/** What a challenge says. */
interface ChallengeParts {
  readonly error?: string | undefined;
  readonly error_description?: string | undefined;
  readonly scheme?: Presented["scheme"] | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** What is wrong with where a token is; RFC 6750, 2: a request sends it in one way, once. Addresses end in logs. */
function misplaced(request: AuthenticationRequest): string | undefined {
  const { path = "" } = request;
  if (path.includes("?") && /[?&]access_token=/.test(path)) {
    return "a token belongs into the Authorization header, not into the address";
  }
  return (request.headerCount?.("authorization") ?? 0) > 1
    ? "the request has more than one Authorization header"
    : undefined;
}

function presentedIn(credentials: string): Presented | undefined {
  const [, scheme = "", token] = CREDENTIALS.exec(credentials) ?? [];
  if (token === undefined) return undefined;
  return { credentials, scheme: scheme.toLowerCase() === "dpop" ? "DPoP" : "Bearer", token };
}

function metadataOf(parts: ProtectedResourceParts): Record<string, unknown> {
  const scopes = parts.scopesSupported.filter((scope) => scope !== "offline_access");
  return {
    resource: parts.resource,
    authorization_servers: parts.issuers,
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
    ...(parts.name === undefined ? {} : { resource_name: parts.name }),
    ...(parts.documentation === undefined ? {} : { resource_documentation: parts.documentation }),
    ...(parts.requireDpop ? { dpop_signing_alg_values_supported: PROOF_ALGORITHMS } : {}),
    ...(parts.requireDpop ? { dpop_bound_access_tokens_required: true } : {}),
  };
}
