import { toBase64Url } from "../../encoding/base64.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import type { Platform } from "../../platform/platform.js";
import { clientAuthentication, type OAuthClient } from "../client/oauth-client.js";
import { textMember } from "../discovery/metadata-document.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { clientOf, InvalidToken, scopesOf, type VerifiedToken } from "./verified-token.js";

/** How tokens are asked about. */
export interface IntrospectionRules {
  readonly issuer: string;
  readonly endpoint: string;
  /** This server, as the authorization server knows it. */
  readonly client: OAuthClient;
  /** How long an answer may take. */
  readonly timeoutMs: number;
  /** One of them must be in `aud`, as plain text. */
  readonly audience: readonly string[];
  /** How long a token is accepted after its end. */
  readonly expiryToleranceMs: number;
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
}

/** A token without an end is asked about again after this time. */
const DEFAULT_LIFE_MS = 60_000;
/** A token that was refused is asked about again after this time. */
const REFUSED_MS = 60_000;
const MAX_REFUSED = 10_000;

/**
 * Verifies tokens of any form by asking the authorization server about each (RFC 7662): once for all requests that come with it at
 * the same time, and once a minute about one that it refused.
 */
export function introspectionVerifier(rules: IntrospectionRules): (token: string) => Promise<VerifiedToken> {
  const { platform } = rules;
  const asking = new Map<string, Promise<VerifiedToken>>();
  /** By the digest of a token: until when it is refused, and why. */
  const refused = new BoundedMap<string, { until: number; error: InvalidToken }>(MAX_REFUSED);
  const ask = async (token: string, digest: string) => {
    try {
      return await introspect(rules, token);
    } catch (error) {
      // A token that begins later is not refused for longer than that.
      if (error instanceof InvalidToken && error.reason !== "not_yet_valid") {
        refused.set(digest, { until: platform.monotonic() + REFUSED_MS, error });
      }
      throw error;
    } finally {
      asking.delete(digest);
    }
  };
  return (token) => {
    const digest = toBase64Url(platform.sha256(new TextEncoder().encode(token)));
    const known = refused.get(digest);
    if (known !== undefined && known.until > platform.monotonic()) return Promise.reject(known.error);
    refused.delete(digest);
    const answer = asking.get(digest) ?? ask(token, digest);
    asking.set(digest, answer);
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

/** The error of the JSON parser would repeat a part of the answer, which tells about a token. */
function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    // Each member is checked where it is read.
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new Error("the introspection endpoint answered no JSON object");
}

function readClaims(claims: Readonly<Record<string, unknown>>, rules: IntrospectionRules): VerifiedToken {
  const { issuer, audience: allowed, expiryToleranceMs, platform } = rules;
  const now = platform.now();
  if (claims["active"] !== true) {
    throw new InvalidToken("the token is not active", { reason: "inactive", got: claims["active"] });
  }
  const iss = claims["iss"] ?? undefined;
  if (iss !== undefined && iss !== issuer) {
    throw new InvalidToken("the token is of another issuer", { reason: "wrong_issuer", expected: issuer, got: iss });
  }
  const audience = [claims["aud"] ?? []].flat().filter((one): one is string => typeof one === "string");
  if (!audience.some((one) => allowed.includes(one))) {
    const details = { reason: "wrong_audience", expected: allowed, got: audience } as const;
    throw new InvalidToken("the token is for another audience", details);
  }
  const { exp, nbf } = claims;
  if (exp !== undefined && exp !== null && typeof exp !== "number") {
    throw new InvalidToken("the end of the token is no number", { reason: "wrong_claim", got: exp });
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
