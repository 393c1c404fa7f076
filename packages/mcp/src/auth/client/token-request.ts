import * as oauth from "oauth4webapi";
import type { Platform } from "../../platform/platform.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { DpopKey } from "./dpop.js";
import { clientAuthentication, type OAuthClient } from "./oauth-client.js";

/** What every request to a token endpoint is made of. */
export interface TokenRequestParts {
  readonly server: oauth.AuthorizationServer;
  readonly client: OAuthClient;
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
  /** Binds the token to a key. */
  readonly dpop: DpopKey | undefined;
}

/** The part of a token response that is used. */
export interface GrantedToken {
  readonly accessToken: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly refreshToken: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly expiresAt: number | undefined;
}

/** Options for `oauth4webapi`: our own way to send, whose policy on addresses is the stricter one. */
export function requestOptions(fetch: BoundedFetch) {
  return {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, options: { method: string; headers: Record<string, string>; body?: unknown }) =>
      fetch(url, {
        method: options.method,
        headers: options.headers,
        body: options.body === undefined || options.body === null ? undefined : String(options.body),
      }),
  };
}

/**
 * Asks for a token by any grant. Rejects with the error of `oauth4webapi`. A server that wants a nonce in the proof of possession
 * is asked once more with it.
 */
export async function requestToken(
  parts: TokenRequestParts,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
): Promise<GrantedToken> {
  const { server, client, fetch, platform, dpop } = parts;
  const me: oauth.Client = { client_id: client.clientId };
  const authentication = clientAuthentication(client, server);
  const options = { ...requestOptions(fetch), ...(dpop === undefined ? {} : { DPoP: dpop.handle(me) }) };
  const ask = async () => {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      me,
      authentication,
      grantType,
      parameters,
      options,
    );
    return oauth.processGenericTokenEndpointResponse(server, me, response);
  };
  const granted = await ask()
    .catch((error: unknown) => {
      if (dpop !== undefined && oauth.isDPoPNonceError(error)) return ask();
      throw error;
    })
    .catch((error: unknown) => {
      throw withoutSecrets(error, [...Object.values(parameters), client.clientSecret ?? ""]);
    });
  // It becomes a part of a header.
  if (!HEADER_TOKEN.test(granted.access_token)) {
    throw new oauth.OperationProcessingError("the access token contains characters that no token has");
  }
  return {
    accessToken: granted.access_token,
    scheme: granted.token_type === "dpop" ? "DPoP" : "Bearer",
    refreshToken: granted.refresh_token,
    scopes: granted.scope === undefined ? undefined : splitScopes(granted.scope),
    expiresAt: granted.expires_in === undefined ? undefined : expiryOf(granted.expires_in, platform),
  };
}

/** Anything shorter is no secret, and would be found in many a word. */
const MIN_SECRET = 8;

/** A server may repeat in its error what it was sent: "unknown refresh token …". */
function withoutSecrets(error: unknown, sent: readonly string[]): unknown {
  if (!(error instanceof oauth.ResponseBodyError) || typeof error.error_description !== "string") return error;
  for (const secret of sent) {
    if (secret.length >= MIN_SECRET) error.error_description = error.error_description.replaceAll(secret, "…");
  }
  return error;
}

/** RFC 6750, 2.1, and what providers send beyond it: anything visible. */
const HEADER_TOKEN = /^[\x21-\x7e]+$/;
const MAX_LIFETIME_S = 10 * 365 * 86_400;

/** A number beyond any clock would be stored as null. */
function expiryOf(seconds: number, platform: Platform): number {
  return platform.now() + Math.min(seconds, MAX_LIFETIME_S) * 1_000;
}

/** The scopes of a text, without repetition. */
export function splitScopes(text: string): string[] {
  return [...new Set(text.split(" ").filter((scope) => scope !== ""))];
}

/** Revokes a token where the server offers it (RFC 7009); with a refresh token, everything that came from it ends. */
export async function revokeToken(
  { server, client, fetch }: Pick<TokenRequestParts, "server" | "client" | "fetch">,
  token: string,
): Promise<void> {
  if (server.revocation_endpoint === undefined) return;
  const me: oauth.Client = { client_id: client.clientId };
  await oauth.revocationRequest(server, me, clientAuthentication(client, server), token, requestOptions(fetch));
}
