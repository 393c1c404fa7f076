import type { Platform } from "../../platform/platform.js";
import type { OAuthClient } from "../client/oauth-client.js";
import { clientAuthentication } from "../client/oauth-client.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { clientOf, InvalidToken, scopesOf, textClaim, type VerifiedToken } from "./verified-token.js";

/** How tokens are asked about. */
export interface IntrospectionRules {
  readonly issuer: string;
  readonly endpoint: string;
  /** This server, as the authorization server knows it. */
  readonly client: OAuthClient;
  /** One of them must be in `aud`, as plain text. */
  readonly audience: readonly string[];
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
}

/** A token without an end is asked about again after this time. */
const DEFAULT_LIFE_MS = 60_000;

/** Verifies tokens of any form by asking the authorization server about each (RFC 7662). */
export function introspectionVerifier(rules: IntrospectionRules): (token: string) => Promise<VerifiedToken> {
  const { issuer, endpoint, client, audience, fetch, platform } = rules;
  const server = { issuer, token_endpoint: endpoint };
  return async (token) => {
    const body = new URLSearchParams({ token, token_type_hint: "access_token" });
    const headers = new Headers({ accept: "application/json", "content-type": "application/x-www-form-urlencoded" });
    await clientAuthentication(client, server)(server, { client_id: client.clientId }, body, headers);
    const response = await fetch(endpoint, {
      method: "POST",
      headers: Object.fromEntries(headers),
      body: String(body),
    });
    if (response.status !== 200) throw new Error(`the introspection endpoint answered HTTP ${response.status}`);
    return readClaims(objectOf(await response.text()), issuer, audience, platform.now());
  };
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

function readClaims(
  claims: Readonly<Record<string, unknown>>,
  issuer: string,
  allowed: readonly string[],
  now: number,
): VerifiedToken {
  if (claims["active"] !== true) throw new InvalidToken("not active");
  const named = textClaim(claims, "iss");
  if (named !== undefined && named !== issuer) throw new InvalidToken("of another issuer");
  const audience = [claims["aud"] ?? []].flat().filter((one): one is string => typeof one === "string");
  if (!audience.some((one) => allowed.includes(one))) throw new InvalidToken("for another audience");
  const { exp, nbf } = claims;
  if (exp !== undefined && exp !== null && typeof exp !== "number") throw new InvalidToken("without a readable end");
  const expiresAt = typeof exp === "number" ? exp * 1_000 : now + DEFAULT_LIFE_MS;
  if (expiresAt <= now || (typeof nbf === "number" && nbf * 1_000 > now)) throw new InvalidToken("not valid now");
  return {
    issuer,
    subject: textClaim(claims, "sub"),
    clientId: clientOf(claims),
    audience,
    scopes: scopesOf(claims),
    expiresAt,
    claims,
  };
}
