import { textMember } from "../discovery/metadata-document.js";

/** The content of a verified token. */
export interface VerifiedToken {
  readonly issuer: string;
  readonly subject?: string | undefined;
  readonly clientId?: string | undefined;
  /** The recipients of the token. A verifier has checked that this server is among them. */
  readonly audience: readonly string[];
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Everything else that the issuer says. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** False if it must be verified for each request, because it can be withdrawn at any moment. Default: true, for a minute. */
  readonly isRemembered?: boolean | undefined;
  /** Registers a function that is called when the token is revoked, as `onRevoked` of a principal. Default: not known. */
  readonly onRevoked?: ((revoked: () => void) => () => void) | undefined;
}

/**
 * Verifies an access token; rejects with `InvalidToken` if it must not be accepted, and with any other error if that could not be
 * found out.
 */
export type TokenVerifier = (token: string) => VerifiedToken | Promise<VerifiedToken>;

/**
 * Why a request was refused. `rejected` is an `InvalidToken` of a `verify` of your own without a reason, `unverifiable` a token of
 * which nothing could be found out (503), `missing_scope` a token that is good otherwise (403).
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
  /** Default: `rejected`. */
  readonly reason?: TokenRefusalReason | undefined;
  /** The value that is accepted. */
  readonly expected?: string | readonly string[] | undefined;
  /** The value that the token had; never the token itself. */
  readonly got?: unknown;
}

/** The token must not be accepted. Message and details are for the operator and never sent: they would help a forger. */
export class InvalidToken extends Error {
  override readonly name = "InvalidToken";
  readonly reason: TokenRefusalReason;
  readonly expected: string | readonly string[] | undefined;
  readonly got: unknown;

  constructor(message: string, { reason = "rejected", expected, got, ...options }: InvalidTokenDetails = {}) {
    super(message, options);
    this.reason = reason;
    this.expected = expected;
    this.got = got;
  }
}

/** The scopes of a token: `scope` (RFC 8693), or `scp`, as some providers call it. */
export function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): string[] {
  const given = scope ?? scp;
  const list = typeof given === "string" ? given.split(" ") : Array.isArray(given) ? given : [];
  return list.filter((one): one is string => typeof one === "string" && one !== "");
}

/** The client that the token was issued to; providers call it `client_id`, `azp` or `cid`. */
export function clientOf(claims: Readonly<Record<string, unknown>>): string | undefined {
  return textMember(claims, "client_id") ?? textMember(claims, "azp") ?? textMember(claims, "cid");
}
