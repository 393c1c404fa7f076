import { toBase64Url } from "../../encoding/base64.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import type { Platform } from "../../platform/platform.js";
import { clientAuthentication, type OAuthClient } from "../client/oauth-client.js";
import { textMember } from "../discovery/metadata-document.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { clientOf, InvalidToken, scopesOf, type VerifiedToken } from "./verified-token.js";

/** Configuration of token introspection. */
export interface IntrospectionRules {
  readonly issuer: string;
  readonly endpoint: string;
  /** This server's client at the authorization server. */
  readonly client: OAuthClient;
  /** Timeout of an introspection request, in milliseconds. */
  readonly timeoutMs: number;
  /** Accepted audiences. One of them must be in `aud`, character for character. */
  readonly audience: readonly string[];
  /** Time for which a token is accepted after it has expired. */
  readonly expiryToleranceMs: number;
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
}

/** Time for which a token without `exp` is accepted before it is introspected again. */
const DEFAULT_LIFE_MS = 60_000;
/** Time before a refused token is introspected again. */
const REFUSED_MS = 60_000;
const MAX_REFUSED_TOKENS = 10_000;

/**
 * Verifies tokens of any format by introspection (RFC 7662). Concurrent requests with one token share one
 * introspection. A refused token is introspected at most once a minute.
 */
export function introspectionVerifier(rules: IntrospectionRules): (token: string) => Promise<VerifiedToken> {
  const { platform } = rules;
  const pending = new Map<string, Promise<VerifiedToken>>();
  /** Refused tokens by their digest, each with its error and the time when it may be introspected again. */
  const refused = new BoundedMap<string, { until: number; error: InvalidToken }>(MAX_REFUSED_TOKENS);
  const verify = async (token: string, digest: string) => {
    try {
      return await introspect(rules, token);
    } catch (error) {
      // Do not store the refusal of a token that is not yet valid, because the token may become valid before
      // `REFUSED_MS` ends.
      if (error instanceof InvalidToken && error.reason !== "not_yet_valid") {
        refused.set(digest, { until: platform.monotonic() + REFUSED_MS, error });
      }
      throw error;
    } finally {
      pending.delete(digest);
    }
  };
  return (token) => {
    const digest = toBase64Url(platform.sha256(new TextEncoder().encode(token)));
    const known = refused.get(digest);
    if (known !== undefined && known.until > platform.monotonic()) return Promise.reject(known.error);
    refused.delete(digest);
    const answer = pending.get(digest) ?? verify(token, digest);
    pending.set(digest, answer);
    return answer;
  };
}

async function introspect(rules: IntrospectionRules, token: string): Promise<VerifiedToken> {
  const { issuer, endpoint, client, timeoutMs, fetch } = rules;
  const server = { issuer, token_endpoint: endpoint };
  const body = new URLSearchParams({ token, token_type_hint: "access_token" });
  const headers = new Headers({ accept: "application/json", "content-type": "application/x-www-form-urlencoded" });
  await clientAuthentication(client, server)(server, { client_id: client.clientId }, body, headers);
  const response = await fetch(endpoint, {
    method: "POST",
    headers: Object.fromEntries(headers),
    body: String(body),
    timeoutMs,
  });
  if (response.status !== 200) throw new Error(`the introspection endpoint answered HTTP ${response.status}`);
  return readClaims(objectOf(await response.text()), rules);
}

/**
 * Parses the response. Replaces the error of the JSON parser, which would repeat part of the response and so reveal
 * claims of a token.
 */
function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    // Safe: each member is checked where it is read.
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new Error("the introspection endpoint did not answer with a JSON object");
}

function readClaims(claims: Readonly<Record<string, unknown>>, rules: IntrospectionRules): VerifiedToken {
  const { issuer, audience: allowed, expiryToleranceMs, platform } = rules;
  const now = platform.now();
  if (claims["active"] !== true) {
    throw new InvalidToken("the token is not active", { reason: "inactive", got: claims["active"] });
  }
  const iss = claims["iss"] ?? undefined;
  if (iss !== undefined && iss !== issuer) {
    throw new InvalidToken("the token is from another issuer", { reason: "wrong_issuer", expected: issuer, got: iss });
  }
  const audience = [claims["aud"] ?? []].flat().filter((one): one is string => typeof one === "string");
  if (!audience.some((one) => allowed.includes(one))) {
    const details = { reason: "wrong_audience", expected: allowed, got: audience } as const;
    throw new InvalidToken("the token is for another audience", details);
  }
  const { exp, nbf } = claims;
  if (exp !== undefined && exp !== null && typeof exp !== "number") {
    throw new InvalidToken("`exp` of the token is not a number", { reason: "wrong_claim", got: exp });
  }
  const expiresAt = typeof exp === "number" ? exp * 1_000 + expiryToleranceMs : now + DEFAULT_LIFE_MS;
  if (expiresAt <= now) {
    throw new InvalidToken("the token has expired", { reason: "expired", expected: `exp > ${now / 1_000}`, got: exp });
  }
  if (typeof nbf === "number" && nbf * 1_000 > now) {
    const details = { reason: "not_yet_valid", expected: `nbf up to ${now / 1_000}`, got: nbf } as const;
    throw new InvalidToken("the token is not valid yet", details);
  }
  return {
    issuer,
    subject: textMember(claims, "sub"),
    clientId: clientOf(claims),
    audience,
    scopes: scopesOf(claims),
    expiresAt,
    claims,
  };
}
