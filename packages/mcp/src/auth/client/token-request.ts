import { exportJWK, generateKeyPair, importJWK, SignJWT } from "jose";
import * as oauth from "oauth4webapi";
import { toBase64Url } from "../../encoding/base64.js";
import { printableLine } from "../../encoding/printable.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Challenge } from "../discovery/challenge.js";
import type { DiscoveryResult } from "../discovery/discover.js";
import type { Steps } from "../discovery/steps.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { clientAuthentication, formEncoded, type OAuthClient, secretsOf } from "./oauth-client.js";

/** The endpoint, client and transport of a token request. */
export interface TokenRequestContext {
  readonly server: oauth.AuthorizationServer;
  readonly client: OAuthClient;
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
  /** Key to bind the token to. Undefined for a bearer token. */
  readonly dpop: DpopKey | undefined;
}

/** The members of a token response that are used. */
export interface GrantedToken {
  readonly accessToken: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly refreshToken: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly expiresAt: number | undefined;
}

/**
 * Creates options that make `oauth4webapi` send through `fetch`. The address policy of `fetch` is stricter than the
 * check of the library, which is therefore disabled.
 */
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
 * Posts to a token endpoint and reads the response, ignoring null members and the identity token. Retries once if the
 * server requires a DPoP nonce. Accepts the token types `Bearer`, `DPoP` and `types`. Rejects with the error of
 * `oauth4webapi`, from which the sent values are removed.
 */
export async function postTokenRequest(
  { server, client, fetch, dpop }: Omit<TokenRequestContext, "platform">,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
  types: readonly string[] = [],
): Promise<oauth.TokenEndpointResponse> {
  const me: oauth.Client = { client_id: client.clientId };
  const authentication = clientAuthentication(client, server);
  const options = { ...requestOptions(fetch), ...(dpop === undefined ? {} : { DPoP: dpop.handle(me) }) };
  const recognizedTokenTypes = Object.fromEntries(types.map((type) => [type, () => {}]));
  const send = async () => {
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
  return retryWithNonce(dpop, send).catch((error: unknown) => {
    throw withoutSecrets(error, [...Object.values(parameters), ...secretsOf(client)]);
  });
}

/** Calls `send`, and once more if the server requires its nonce in the DPoP proof. */
export function retryWithNonce<T>(dpop: DpopKey | undefined, send: () => Promise<T>): Promise<T> {
  return send().catch((error: unknown) => {
    if (dpop !== undefined && oauth.isDPoPNonceError(error)) return send();
    throw error;
  });
}

/** Requests a token by any grant. Rejects like `postTokenRequest`. */
export async function requestToken(
  context: TokenRequestContext,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
): Promise<GrantedToken> {
  const granted = await postTokenRequest(context, grantType, parameters);
  // The token becomes part of a header, so a token with characters that a header cannot carry is refused.
  if (!HEADER_TOKEN.test(granted.access_token)) {
    throw new oauth.OperationProcessingError("the access token contains invalid characters");
  }
  return {
    accessToken: granted.access_token,
    scheme: granted.token_type === "dpop" ? "DPoP" : "Bearer",
    refreshToken: granted.refresh_token,
    scopes: granted.scope === undefined ? undefined : splitScopes(granted.scope),
    expiresAt: granted.expires_in === undefined ? undefined : expiryOf(granted.expires_in, context.platform),
  };
}

/**
 * Removes members that `oauth4webapi` rejects: null values and an empty refresh token, which providers send for missing
 * values, and the members named in `ignored`. RFC 6749, 5.1: a client ignores members that it does not use.
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

/** Shorter secrets are not removed from errors, because they would match ordinary words. */
const MIN_SECRET_LENGTH = 8;

/**
 * Removes sent values from an error of `oauth4webapi`. A server may repeat them, as in "unknown refresh token …", or
 * repeat the request body, in which they are encoded.
 */
export function withoutSecrets(error: unknown, sent: readonly string[]): unknown {
  if (!(error instanceof oauth.ResponseBodyError)) return error;
  const secrets = sent.filter(({ length }) => length >= MIN_SECRET_LENGTH).flatMap((one) => [one, formEncoded(one)]);
  // Replace longer values first. The encoded form of a secret may begin with the secret itself. If the secret were
  // replaced first, the rest of the encoded form would remain.
  for (const secret of secrets.sort((a, b) => b.length - a.length)) {
    error.error = error.error.replaceAll(secret, "…");
    const { error_description: text } = error;
    if (typeof text === "string") error.error_description = text.replaceAll(secret, "…");
  }
  return error;
}

/** Accepts all visible characters: providers use more than RFC 6750, 2.1, allows. */
const HEADER_TOKEN = /^[\x21-\x7e]+$/;
const MAX_LIFETIME_S = 10 * 365 * 86_400;

/** Limits the lifetime, because JSON would store an infinite expiry as null. */
function expiryOf(seconds: number, platform: Platform): number {
  return platform.now() + Math.min(seconds, MAX_LIFETIME_S) * 1_000;
}

/** Splits a scope string and removes duplicates. */
export function splitScopes(text: string): string[] {
  return [...new Set(text.split(" ").filter((scope) => scope !== ""))];
}

/**
 * Revokes a token if the server supports it (RFC 7009). Revoking a refresh token also revokes the access tokens that
 * came from it.
 */
export async function revokeToken(
  { server, client, fetch }: Pick<TokenRequestContext, "server" | "client" | "fetch">,
  token: string,
): Promise<void> {
  if (server.revocation_endpoint === undefined) return;
  const me: oauth.Client = { client_id: client.clientId };
  await oauth.revocationRequest(server, me, clientAuthentication(client, server), token, requestOptions(fetch));
}

const ALGORITHM = "ES256";
const MAX_NONCES = 32;

/** A key that tokens are bound to (RFC 9449). A stolen token is useless without the key. */
export class DpopKey {
  readonly #private: CryptoKey;
  readonly #public: CryptoKey;
  readonly #publicJwk: JsonWebKey;
  /** The latest nonce of each server. */
  readonly #nonces = new BoundedMap<string, string>(MAX_NONCES);

  private constructor(privateKey: CryptoKey, publicKey: CryptoKey, publicJwk: JsonWebKey) {
    this.#private = privateKey;
    this.#public = publicKey;
    this.#publicJwk = publicJwk;
  }

  static async create(): Promise<DpopKey> {
    const { privateKey, publicKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    return new DpopKey(privateKey, publicKey, await exportJWK(publicKey));
  }

  static async from(stored: JsonWebKey): Promise<DpopKey> {
    const { d: _private, key_ops: _uses, ...publicJwk } = stored;
    // Safe: `importJWK` returns bytes only for symmetric keys, and these are key pairs from `create`.
    const read = async (jwk: JsonWebKey) =>
      (await importJWK(jwk as never, ALGORITHM, { extractable: true })) as CryptoKey;
    return new DpopKey(await read(stored), await read(publicJwk), publicJwk);
  }

  /** Exports the private key, for a store that protects secrets. */
  export(): Promise<JsonWebKey> {
    return exportJWK(this.#private);
  }

  /** Returns the handle for requests that `oauth4webapi` sends. */
  handle(client: oauth.Client): oauth.DPoPHandle {
    return oauth.DPoP(client, { privateKey: this.#private, publicKey: this.#public });
  }

  /** Stores the nonce that a server requires in the next proof. */
  setNonce(origin: string, nonce: string): void {
    this.#nonces.set(origin, nonce);
  }

  /** Creates the proof for one request. */
  async proof(method: string, address: string, accessToken: string, platform: Platform): Promise<string> {
    const { origin, pathname } = new URL(address);
    const nonce = this.#nonces.get(origin);
    const digest = platform.sha256(new TextEncoder().encode(accessToken));
    const claims = {
      htm: method,
      htu: `${origin}${pathname}`,
      ath: toBase64Url(digest),
      ...(nonce === undefined ? {} : { nonce }),
    };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, typ: "dpop+jwt", jwk: this.#publicJwk as never })
      .setJti(toBase64Url(platform.randomBytes(16)))
      .setIssuedAt(Math.floor(platform.now() / 1_000))
      .sign(this.#private);
  }
}

/**
 * True if the next token must be bound to a key: the program, the server's metadata or its challenge asks for it, and
 * the authorization server supports ES256 or does not list its algorithms.
 */
export function wantsDpop(
  setting: boolean | "auto",
  { server, requiresDpop }: DiscoveryResult,
  challenge: Challenge | undefined,
  steps: Steps,
): boolean {
  const isAsked = setting === true || (setting === "auto" && (requiresDpop || challenge?.scheme === "dpop"));
  const algorithms = server.dpop_signing_alg_values_supported;
  if (!isAsked || algorithms === undefined || algorithms.includes("ES256")) return isAsked;
  steps.note("proof of possession", `the server supports ${algorithms.join(", ").slice(0, 200)}, not ES256`);
  return false;
}

/**
 * The reason why an authorization server issued no token. It contains nothing of the response except the error text.
 */
interface TokenFailure {
  /** The `error` of the response, such as `invalid_grant`. Undefined if it had none. */
  readonly code: string | undefined;
  readonly text: string;
}

/** Errors that make a refresh token useless. Any other error may be temporary. */
export const FINAL_ERRORS: ReadonlySet<string | undefined> = new Set([
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
]);

/**
 * Reads an error of `oauth4webapi`. Undefined for any other error. Report only this result: such errors carry whole
 * responses, including tokens and secrets.
 */
export function tokenFailure(error: unknown): TokenFailure | undefined {
  if (error instanceof oauth.ResponseBodyError) {
    const { error: code, error_description: description } = error;
    return { code, text: peerText(typeof description === "string" ? `${code}: ${description}` : code) };
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    // RFC 6749, 5.2: the server answers 401 if the client is unknown or failed to authenticate.
    const code = error.status === 401 ? "invalid_client" : undefined;
    return { code, text: `HTTP ${error.status}${code === undefined ? "" : `, which means ${code}`}` };
  }
  const isOther = error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError;
  return isOther ? { code: undefined, text: peerText(error.message) } : undefined;
}

/**
 * Error codes for responses that `oauth4webapi` cannot read. They usually come from a proxy in front of the
 * authorization server.
 */
const UNREADABLE_RESPONSE_CODES: ReadonlySet<string | undefined> = new Set([
  oauth.RESPONSE_IS_NOT_CONFORM,
  oauth.RESPONSE_IS_NOT_JSON,
  oauth.PARSE_ERROR,
]);

/**
 * True if the request may succeed when it is repeated: the response is missing, did not come from the authorization
 * server itself, or reported a temporary failure.
 */
export function isRetryableFailure(error: unknown): boolean {
  if (McpError.is(error) || error instanceof oauth.WWWAuthenticateChallengeError) return false;
  if (error instanceof oauth.ResponseBodyError) {
    return error.status === 429 || error.error === "temporarily_unavailable" || error.error === "server_error";
  }
  return error instanceof oauth.OperationProcessingError
    ? UNREADABLE_RESPONSE_CODES.has(error.code)
    : error instanceof Error;
}

/** Shortens text of a peer and makes it safe to include in an error. */
export function peerText(text: string): string {
  return printableLine(text.slice(0, 300));
}
