import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from "jose";
import { fromBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import { textMember } from "../discovery/metadata-document.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { IssuerKeys } from "./issuer-keys.js";
import { clientOf, InvalidToken, scopesOf, type TokenRefusalReason, type VerifiedToken } from "./verified-token.js";

/** An issuer whose tokens are accepted. */
export interface TrustedIssuer {
  /** Compared with `iss` as plain text. */
  readonly issuer: string;
  /** Where its keys are. Default: as its metadata says. */
  readonly jwksUri?: string | undefined;
}

/** The rules by which JWTs are accepted. */
export interface JwtRules {
  readonly issuers: readonly TrustedIssuer[];
  /** One of them must be in `aud`, as plain text. */
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  readonly clockSkewMs: number;
  /** How long a token is accepted after its end; at most `clockSkewMs`. */
  readonly expiryToleranceMs: number;
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
}

/** Asymmetric signatures only: a secret that the issuer shared with this server would let either forge. */
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

const MAX_LENGTH = 16 * 1024;
/** The last moment that a `Date` can hold. */
const MAX_TIME = 8.64e15;
const TYPES = /^(?:application\/)?(?:at\+)?jwt$/i;

/**
 * Verifies access tokens that are JWTs (RFC 9068): signature by a published key of the issuer, algorithm, issuer, audience and times.
 * Nothing in the token decides how it is verified: neither a key in its header nor an address of one is ever used.
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
      throw new InvalidToken("the token is of another issuer", details);
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
        throw new InvalidToken("the token is no access token", { reason: "wrong_type", expected: "at+jwt", got: typ });
      }
      // A token from the future would be valid for longer than its issuer meant.
      const latest = (platform.now() + clockSkewMs) / 1_000;
      if (payload.iat !== undefined && payload.iat > latest) {
        const details = { reason: "not_yet_valid", expected: `iat up to ${latest}`, got: payload.iat } as const;
        throw new InvalidToken("the token was issued in the future", details);
      }
      const expiresAt = (payload.exp ?? 0) * 1_000 + expiryToleranceMs;
      // Timers and dates have no place for it, and no honest token needs it.
      if (!(expiresAt <= MAX_TIME))
        throw new InvalidToken("the end of the token is no date", { reason: "wrong_claim" });
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
      // Keys of a form that the runtime cannot import, or that are too short.
      throw error instanceof TypeError ? new InvalidToken("the key cannot be used", { reason: "unknown_key" }) : error;
    }
  };
}

/** The reason for each claim that `jose` checks. */
const CLAIMS: Readonly<Record<string, TokenRefusalReason>> = {
  exp: "expired",
  nbf: "not_yet_valid",
  aud: "wrong_audience",
};

/** Names the reason for which a token was refused. Only its signed claims are of this token; the error has no part of it. */
function invalidToken(error: errors.JOSEError, token: string, { audience, algorithms }: JwtRules): InvalidToken {
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
    const { claim, payload } = error;
    // A claim of a wrong type, or that is missing, says nothing about the time.
    const isMalformed = error.reason === "invalid" || (error.reason === "missing" && claim !== "aud");
    const reason = isMalformed ? "wrong_claim" : (CLAIMS[claim] ?? "wrong_claim");
    const expected = claim === "aud" ? audience : undefined;
    return new InvalidToken(`the claim ${claim} is refused`, { reason, expected, got: payload[claim] });
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new InvalidToken("the signature is not by the key of the issuer", { reason: "bad_signature" });
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

/** The issuer that a token claims, only to choose the keys; it is verified with everything else. */
function issuerOf(token: string): string {
  const parts = token.length > MAX_LENGTH ? [] : token.split(".");
  // Without padding and spare bits, a token has one spelling only: what is withdrawn by its text stays withdrawn.
  if (parts.length !== 3 || parts.some((part) => part === "" || fromBase64Url(part) === undefined)) {
    throw new InvalidToken("the token is no signed JWT", { reason: "malformed" });
  }
  try {
    return decodeJwt(token).iss ?? "";
  } catch {
    throw new InvalidToken("the token is no JWT", { reason: "malformed" });
  }
}
