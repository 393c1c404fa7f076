import * as oauth from "oauth4webapi";
import type { Platform } from "../../platform/platform.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { DpopKey } from "./dpop.js";
import { clientAuthentication, formEncoded, type OAuthClient, secretsOf } from "./oauth-client.js";

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

/** The members of a token response, checked by `oauth4webapi`. */
export type TokenResponse = oauth.TokenEndpointResponse;

/**
 * Posts to a token endpoint and reads its answer, in which null members and the identity token are ignored. Rejects with the error
 * of `oauth4webapi`, without anything that was sent. A server that wants a nonce in the proof of possession is asked once more with
 * it. `types` are token types to accept beside `Bearer` and `DPoP`.
 */
export async function postTokenRequest(
  { server, client, fetch, dpop }: Omit<TokenRequestParts, "platform">,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
  types: readonly string[] = [],
): Promise<TokenResponse> {
  const me: oauth.Client = { client_id: client.clientId };
  const authentication = clientAuthentication(client, server);
  const options = { ...requestOptions(fetch), ...(dpop === undefined ? {} : { DPoP: dpop.handle(me) }) };
  const recognizedTokenTypes = Object.fromEntries(types.map((type) => [type, () => {}]));
  const ask = async () => {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      me,
      authentication,
      grantType,
      parameters,
      options,
    );
    const read = await withoutMembers(response, ["id_token"]);
    return oauth.processGenericTokenEndpointResponse(server, me, read, { recognizedTokenTypes });
  };
  return againWithNonce(dpop, ask).catch((error: unknown) => {
    throw withoutSecrets(error, [...Object.values(parameters), ...secretsOf(client)]);
  });
}

/** Repeats a request once for a server that wants its nonce in the proof of possession. */
export function againWithNonce<T>(dpop: DpopKey | undefined, ask: () => Promise<T>): Promise<T> {
  return ask().catch((error: unknown) => {
    if (dpop !== undefined && oauth.isDPoPNonceError(error)) return ask();
    throw error;
  });
}

/** Asks for a token by any grant; rejects as `postTokenRequest` does. */
export async function requestToken(
  parts: TokenRequestParts,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
): Promise<GrantedToken> {
  const granted = await postTokenRequest(parts, grantType, parameters);
  // It becomes a part of a header.
  if (!HEADER_TOKEN.test(granted.access_token)) {
    throw new oauth.OperationProcessingError("the access token contains characters that no token has");
  }
  return {
    accessToken: granted.access_token,
    scheme: granted.token_type === "dpop" ? "DPoP" : "Bearer",
    refreshToken: granted.refresh_token,
    scopes: granted.scope === undefined ? undefined : splitScopes(granted.scope),
    expiresAt: granted.expires_in === undefined ? undefined : expiryOf(granted.expires_in, parts.platform),
  };
}

/**
 * The answer of a token endpoint as `oauth4webapi` reads it: without members that are null, which providers send for what they do not
 * have, without an empty refresh token, and without `ignored` ones. RFC 6749, 5.1: a client ignores what it does not use.
 */
async function withoutMembers(response: Response, ignored: readonly string[] = []): Promise<Response> {
  if (response.status !== 200) return response;
  const { status, headers } = response;
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return new Response(text, { status, headers });
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return new Response(text, { status, headers });
  const isKept = ([name, value]: [string, unknown]) =>
    value !== null && !ignored.includes(name) && !(name === "refresh_token" && value === "");
  return new Response(JSON.stringify(Object.fromEntries(Object.entries(body).filter(isKept))), { status, headers });
}

/** Shorter values would match ordinary words. */
const MIN_SECRET = 8;

/**
 * Removes what was sent from an error of `oauth4webapi`: a server may repeat it, as in "unknown refresh token …", or the body of the
 * request, in which values are encoded.
 */
export function withoutSecrets(error: unknown, sent: readonly string[]): unknown {
  if (!(error instanceof oauth.ResponseBodyError)) return error;
  const secrets = sent.filter(({ length }) => length >= MIN_SECRET).flatMap((one) => [one, formEncoded(one)]);
  // Longer ones first: the encoded form of a secret may begin with it.
  for (const secret of secrets.sort((a, b) => b.length - a.length)) {
    error.error = error.error.replaceAll(secret, "…");
    const { error_description: text } = error;
    if (typeof text === "string") error.error_description = text.replaceAll(secret, "…");
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
