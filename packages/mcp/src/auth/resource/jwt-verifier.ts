import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from "jose";
import { fromBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import { textMember } from "../discovery/metadata-document.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { IssuerKeys } from "./issuer-keys.js";
import { clientOf, InvalidToken, scopesOf, type TokenRefusalReason, type VerifiedToken } from "./verified-token.js";

/** An issuer whose tokens are accepted. */
export interface TrustedIssuer {
  /** The issuer identifier. Must equal `iss` character for character. */
  readonly issuer: string;
  /** Address of its keys. Default: the `jwks_uri` of its metadata. */
  readonly jwksUri?: string | undefined;
}

/** Configuration of JWT verification. */
export interface JwtRules {
  readonly issuers: readonly TrustedIssuer[];
  /** Accepted audiences. One of them must be in `aud`, character for character. */
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  readonly clockSkewMs: number;
  /** Time for which a token is accepted after it has expired, at most `clockSkewMs`. */
  readonly expiryToleranceMs: number;
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
}

/** Asymmetric signatures only. With a shared secret, this server could forge tokens of the issuer. */
export const DEFAULT_ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

const MAX_JWT_LENGTH = 16 * 1024;
/** The latest time that a `Date` can represent. */
const MAX_TIME = 8.64e15;
const TYPES = /^(?:application\/)?(?:at\+)?jwt$/i;

/**
 * Verifies access tokens that are JWTs (RFC 9068): the signature with a published key of the issuer, algorithm, issuer,
 * audience and times. The token cannot influence its verification: keys and key addresses in its header are never used.
 */
export function jwtVerifier(rules: JwtRules): (token: string) => Promise<VerifiedToken> {
  const { audience, algorithms, clockSkewMs, expiryToleranceMs, platform } = rules;
  const keys = new Map(
    rules.issuers.map(({ issuer, jwksUri }) => [
      issuer,
      new IssuerKeys({ issuer, jwksUri, fetch: rules.fetch, platform }),
    ]),
  );
  return async (token) => {
    const issuer = issuerOf(token);
    const own = keys.get(issuer);
    if (own === undefined) {
      const details = { reason: "wrong_issuer", expected: [...keys.keys()], got: issuer } as const;
      throw new InvalidToken("the token is from another issuer", details);
    }
    try {
      const { payload, protectedHeader } = await jwtVerify(token, (header, jws) => own.key(header, jws), {
        issuer,
        audience: [...audience],
        algorithms: [...algorithms],
        clockTolerance: clockSkewMs / 1_000,
        requiredClaims: ["exp", "aud"],
        currentDate: new Date(platform.now()),
      });
      const { typ } = protectedHeader;
      if (typ !== undefined && !TYPES.test(typ)) {
        throw new InvalidToken("the token is not an access token", {
          reason: "wrong_type",
          expected: "at+jwt",
          got: typ,
        });
      }
      // A token with a future `iat` would be valid for longer than its issuer intended.
      const latest = (platform.now() + clockSkewMs) / 1_000;
      if (payload.iat !== undefined && payload.iat > latest) {
        const details = { reason: "not_yet_valid", expected: `iat up to ${latest}`, got: payload.iat } as const;
        throw new InvalidToken("the token was issued in the future", details);
      }
      const expiresAt = (payload.exp ?? 0) * 1_000 + expiryToleranceMs;
      // Timers and dates cannot represent a later time, and no honest token needs it.
      if (!(expiresAt <= MAX_TIME))
        throw new InvalidToken("`exp` of the token is out of range", { reason: "wrong_claim" });
      return {
        issuer,
        subject: textMember(payload, "sub"),
        clientId: clientOf(payload),
        audience: [payload.aud ?? []].flat(),
        scopes: scopesOf(payload),
        expiresAt,
        claims: payload,
      };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw invalidToken(error, token, rules);
      // A `TypeError` means that the runtime cannot import the key, or that the key is too short.
      throw error instanceof TypeError ? new InvalidToken("the key cannot be used", { reason: "unknown_key" }) : error;
    }
  };
}

/** The refusal reason for each claim that `jose` checks. */
const CLAIMS: Readonly<Record<string, TokenRefusalReason>> = {
  exp: "expired",
  nbf: "not_yet_valid",
  aud: "wrong_audience",
};

/**
 * Converts an error of `jose` to `InvalidToken` with a reason. Copies only the values of checked claims, never the
 * token.
 */
function invalidToken(error: errors.JOSEError, token: string, { audience, algorithms }: JwtRules): InvalidToken {
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
    const { claim, payload } = error;
    // A missing claim, or one of a wrong type, does not mean that the token has expired or is not valid yet. A missing
    // `aud` counts as a wrong audience.
    const isMalformed = error.reason === "invalid" || (error.reason === "missing" && claim !== "aud");
    const reason = isMalformed ? "wrong_claim" : (CLAIMS[claim] ?? "wrong_claim");
    const expected = claim === "aud" ? audience : undefined;
    return new InvalidToken(`the claim ${claim} is refused`, { reason, expected, got: payload[claim] });
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new InvalidToken("the signature does not match the key of the issuer", { reason: "bad_signature" });
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    const { alg } = decodeProtectedHeader(token);
    return new InvalidToken("the algorithm is not accepted", {
      reason: "wrong_algorithm",
      expected: algorithms,
      got: alg,
    });
  }
  return new InvalidToken(`the token cannot be read (${error.code})`, { reason: "malformed" });
}

/**
 * Reads the unverified issuer of a token, only to select the keys. The issuer is verified later with everything else.
 */
function issuerOf(token: string): string {
  const parts = token.length > MAX_JWT_LENGTH ? [] : token.split(".");
  // Reject padding and spare bits, so that a token has one spelling only. Otherwise a revoked token would pass in
  // another spelling.
  if (parts.length !== 3 || parts.some((part) => part === "" || fromBase64Url(part) === undefined)) {
    throw new InvalidToken("the token is not a signed JWT", { reason: "malformed" });
  }
  try {
    return decodeJwt(token).iss ?? "";
  } catch {
    throw new InvalidToken("the token is not a JWT", { reason: "malformed" });
  }
}
