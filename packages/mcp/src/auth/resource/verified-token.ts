import { textMember } from "../discovery/metadata-document.js";

/** The content of a verified token. */
export interface VerifiedToken {
  /** The issuer of the token. */
  readonly issuer: string;
  /** The user that the token was issued for. Absent if the client acts for itself. */
  readonly subject?: string | undefined;
  /** The client that the token was issued to. */
  readonly clientId?: string | undefined;
  /** The recipients of the token. The verifier has checked that this server is among them. */
  readonly audience: readonly string[];
  /** The granted scopes. */
  readonly scopes: readonly string[];
  /** Expiry in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The claims of the token, which become `ctx.auth.claims`. */
  readonly claims: Readonly<Record<string, unknown>>;
  /**
   * False if the token must be verified for each request, because it can be revoked at any moment. Default: true, which
   * caches the result for a minute.
   */
  readonly isRemembered?: boolean | undefined;
  /**
   * Registers a function that is called when the token is revoked, like `onRevoked` of a principal. Returns a function
   * that removes it. Default: revocations are not reported.
   */
  readonly onRevoked?: ((revoked: () => void) => () => void) | undefined;
}

/**
 * Verifies an access token. Rejects with `InvalidToken` if the token must not be accepted, and with any other error if
 * the token could not be verified.
 */
export type TokenVerifier = (token: string) => VerifiedToken | Promise<VerifiedToken>;

/**
 * The reason why a request was refused. `rejected`: a custom `verify` threw `InvalidToken` without a reason.
 * `unverifiable`: the token could not be checked at the moment (503). `missing_scope`: the token is valid but lacks a
 * scope (403).
 */
export type TokenRefusalReason =
  | "missing_token"
  | "unsupported_scheme"
  | "malformed_request"
  | "malformed"
  | "expired"
  | "not_yet_valid"
  | "wrong_issuer"
  | "wrong_audience"
  | "unknown_key"
  | "bad_signature"
  | "wrong_algorithm"
  | "wrong_type"
  | "wrong_claim"
  | "inactive"
  | "revoked"
  | "missing_scope"
  | "unsupported_binding"
  | "dpop_required"
  | "dpop_invalid"
  | "dpop_nonce"
  | "dpop_replayed"
  | "too_many_proofs"
  | "unverifiable"
  | "rejected";

/** Details of a refused token, for the operator. */
export interface InvalidTokenDetails extends ErrorOptions {
  /** The reason as a fixed value. Default: `rejected`. */
  readonly reason?: TokenRefusalReason | undefined;
  /** The accepted values. */
  readonly expected?: string | readonly string[] | undefined;
  /** The value that the token had. Never the token itself. */
  readonly got?: unknown;
}

/**
 * Error for a token that must not be accepted. Message and details are for the operator. They are never sent, because
 * they would help a forger.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/protecting-a-server.md | Protecting a server}
 */
export class InvalidToken extends Error {
  /** Always `InvalidToken`. */
  override readonly name = "InvalidToken";
  /** The reason as a fixed value. */
  readonly reason: TokenRefusalReason;
  /** The accepted values. */
  readonly expected: string | readonly string[] | undefined;
  /** The value that the token had. */
  readonly got: unknown;

  constructor(message: string, { reason = "rejected", expected, got, ...options }: InvalidTokenDetails = {}) {
    super(message, options);
    this.reason = reason;
    this.expected = expected;
    this.got = got;
  }
}

/** Returns the scopes of a token, from `scope` (RFC 8693) or `scp`, which some providers use. */
export function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): string[] {
  const given = scope ?? scp;
  const list = typeof given === "string" ? given.split(" ") : Array.isArray(given) ? given : [];
  return list.filter((one): one is string => typeof one === "string" && one !== "");
}

/** Returns the client that the token was issued to, from `client_id`, `azp` or `cid`. */
export function clientOf(claims: Readonly<Record<string, unknown>>): string | undefined {
  return textMember(claims, "client_id") ?? textMember(claims, "azp") ?? textMember(claims, "cid");
}
