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
import { DpopProofs, jktOf } from "./dpop-proof.js";
import { TokenCache } from "./token-cache.js";
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
  readonly exposeToken: boolean;
  readonly name: string | undefined;
  readonly documentation: string | undefined;
  readonly platform: Platform;
}

/** A token as a request carries it. */
interface Presented {
  readonly scheme: "Bearer" | "DPoP";
  readonly token: string;
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";
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
  readonly resource: string;
  readonly paths: ReadonlySet<string>;
  readonly #metadataUrl: string;
  readonly #document: string;

  constructor(parts: ProtectedResourceParts) {
    this.#parts = parts;
    this.#cache = new TokenCache(parts.platform);
    this.#proofs = new DpopProofs(parts.platform);
    const { origin, pathname } = new URL(parts.resource);
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
    const presented = this.#presented(request);
    if ("status" in presented) return presented;
    const known = this.#cache.get(presented.token);
    if (known !== undefined && presented.scheme === "Bearer" && jktOf(known) === undefined)
      return this.#admit(known, presented);
    return this.#verify(request, presented).catch((error: unknown) => this.#failed(error));
  }

  /** The headers for a caller that lacks scopes. */
  challenge(scopes: readonly string[]): Readonly<Record<string, string>> {
    return this.#challenge("insufficient_scope", scopes);
  }

  #presented(request: AuthenticationRequest): Presented | AuthenticationRefusal {
    const header = request.header("authorization");
    if (header === undefined) {
      const isInQuery = /[?&]access_token=/.test(request.path ?? "");
      return isInQuery
        ? this.#malformed("a token belongs into the Authorization header, not into the address")
        : this.#refusal();
    }
    const [, scheme = "", token] = CREDENTIALS.exec(header) ?? [];
    if (token === undefined) return this.#malformed("the Authorization header must be one Bearer or DPoP token");
    return { scheme: scheme.toLowerCase() === "dpop" ? "DPoP" : "Bearer", token };
  }

  async #verify(request: AuthenticationRequest, presented: Presented): Promise<Principal | AuthenticationRefusal> {
    const { verify, platform } = this.#parts;
    const { token, scheme } = presented;
    let verified = this.#cache.get(token);
    if (verified === undefined) {
      const found = verify(token);
      verified = isThenable(found) ? await found : found;
      if (verified.expiresAt <= platform.now()) throw new InvalidToken("expired");
      if (verified.isRemembered !== false) this.#cache.set(token, verified);
    }
    const isBound = jktOf(verified) !== undefined;
    if (isBound !== (scheme === "DPoP") || (this.#parts.requireDpop && !isBound)) {
      throw new InvalidToken("the scheme does not fit the token");
    }
    if (isBound) {
      const proof = request.header("dpop") ?? "";
      await this.#proofs.check({ method: request.method ?? "GET", url: this.#parts.resource, proof, token }, verified);
    }
    return this.#admit(verified, presented);
  }

  #admit(verified: VerifiedToken, { token }: Presented): Principal | AuthenticationRefusal {
    const { issuer, subject, clientId, expiresAt, claims } = verified;
    // Without either, everybody would be the same person.
    if (subject === undefined && clientId === undefined) return this.#refusal("invalid_token");
    const scopes = this.#granted(verified.scopes);
    const missing = this.#parts.scopes.filter((scope) => !scopes.has(scope));
    if (missing.length > 0) {
      return { status: 403, message: "the token lacks a scope", headers: this.challenge(this.#parts.scopes) };
    }
    return {
      key: JSON.stringify([issuer, subject ?? null, clientId ?? null]),
      subject,
      clientId,
      scopes: [...scopes],
      expiresAt,
      claims: this.#parts.exposeToken ? { ...claims, token } : claims,
    };
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

  #failed(error: unknown): AuthenticationRefusal {
    if (error instanceof InvalidToken) return this.#refusal("invalid_token");
    this.#parts.platform.warn(`a token could not be verified: ${thrownMessage(error)}`);
    return { status: 503, message: "the token cannot be verified now", headers: { "retry-after": "5" } };
  }

  #malformed(message: string): AuthenticationRefusal {
    return { status: 400, message, headers: this.#challenge("invalid_request", []) };
  }

  #refusal(error?: string): AuthenticationRefusal {
    const message = error === undefined ? "a token is needed" : "the token is not accepted";
    return { status: 401, message, headers: this.#challenge(error, this.#parts.scopes) };
  }

  #challenge(error: string | undefined, scopes: readonly string[]): Readonly<Record<string, string>> {
    const params = { error, scope: scopeText(scopes), resource_metadata: this.#metadataUrl };
    const schemes = this.#parts.requireDpop ? ["DPoP"] : ["Bearer"];
    return { "www-authenticate": schemes.map((scheme) => challengeText(scheme, params)).join(", ") };
  }
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
    ...(parts.requireDpop ? { dpop_bound_access_tokens_required: true } : {}),
  };
}
