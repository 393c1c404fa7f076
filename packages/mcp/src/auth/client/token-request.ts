import { exportJWK, generateKeyPair, importJWK, SignJWT } from "jose";
import * as oauth from "oauth4webapi";
import { toBase64Url } from "../../encoding/base64.js";
import { printableLine } from "../../encoding/printable.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Challenge } from "../discovery/challenge.js";
import type { Discovered } from "../discovery/discover.js";
import type { Steps } from "../discovery/steps.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { clientAuthentication, formEncoded, type OAuthClient, secretsOf } from "./oauth-client.js";

/** The parts of a request to a token endpoint. */
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
 * Posts to a token endpoint and reads its answer, in which null members and the identity token are ignored. Rejects with the error
 * of `oauth4webapi`, without anything that was sent. A server that wants a nonce in the proof of possession is asked once more with
 * it. `types` are token types to accept beside `Bearer` and `DPoP`.
 */
export async function postTokenRequest(
  { server, client, fetch, dpop }: Omit<TokenRequestParts, "platform">,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
  types: readonly string[] = [],
): Promise<oauth.TokenEndpointResponse> {
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

const ALGORITHM = "ES256";
const MAX_NONCES = 32;

/** A key that tokens are bound to (RFC 9449), so that a stolen token is worth nothing. */
export class DpopKey {
  readonly #private: CryptoKey;
  readonly #public: CryptoKey;
  readonly #publicJwk: JsonWebKey;
  /** The newest nonce of each server. */
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
    // `importJWK` gives bytes for symmetric keys only, and these are key pairs of `create`.
    const read = async (jwk: JsonWebKey) =>
      (await importJWK(jwk as never, ALGORITHM, { extractable: true })) as CryptoKey;
    return new DpopKey(await read(stored), await read(publicJwk), publicJwk);
  }

  /** The private key, for a store that keeps secrets. */
  export(): Promise<JsonWebKey> {
    return exportJWK(this.#private);
  }

  /** For requests that `oauth4webapi` makes. */
  handle(client: oauth.Client): oauth.DPoPHandle {
    return oauth.DPoP(client, { privateKey: this.#private, publicKey: this.#public });
  }

  /** Remembers the nonce that a server wants in the next proof. */
  learn(origin: string, nonce: string): void {
    this.#nonces.set(origin, nonce);
  }

  /** The proof that goes with one request. */
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

/** Whether the next token is to be bound to a key: where the program, the server or its metadata asks for it and both sides can. */
export function wantsDpop(
  setting: boolean | "auto",
  { server, requiresDpop }: Discovered,
  challenge: Challenge | undefined,
  steps: Steps,
): boolean {
  const isAsked = setting === true || (setting === "auto" && (requiresDpop || challenge?.scheme === "dpop"));
  const algorithms = server.dpop_signing_alg_values_supported;
  if (!isAsked || algorithms === undefined || algorithms.includes("ES256")) return isAsked;
  steps.note("proof of possession", `the server supports ${algorithms.join(", ").slice(0, 200)}, not ES256`);
  return false;
}

/** Why an authorization server gave no token, without anything of what it answered but its own words. */
interface TokenFailure {
  /** The `error` of the answer, such as `invalid_grant`; undefined if it had none. */
  readonly code: string | undefined;
  readonly text: string;
}

/** Errors after which a refresh token is good for nothing. Any other may pass. */
export const ENDED: ReadonlySet<string | undefined> = new Set([
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
]);

/**
 * Reads an error of `oauth4webapi`, or undefined for any other. Only this is passed on: such errors carry whole responses, with
 * tokens and secrets in them.
 */
export function tokenFailure(error: unknown): TokenFailure | undefined {
  if (error instanceof oauth.ResponseBodyError) {
    const { error: code, error_description: description } = error;
    return { code, text: peerText(typeof description === "string" ? `${code}: ${description}` : code) };
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    // RFC 6749, 5.2: the answer to a client that the server does not know, or that proved itself in the wrong way.
    const code = error.status === 401 ? "invalid_client" : undefined;
    return { code, text: `HTTP ${error.status}${code === undefined ? "" : `, which means ${code}`}` };
  }
  const isOther = error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError;
  return isOther ? { code: undefined, text: peerText(error.message) } : undefined;
}

/** Codes of answers that are not those of an authorization server, but of something in front of it. */
const NOT_ITS_ANSWER: ReadonlySet<string | undefined> = new Set([
  oauth.RESPONSE_IS_NOT_CONFORM,
  oauth.RESPONSE_IS_NOT_JSON,
  oauth.PARSE_ERROR,
]);

/** Whether a token request may succeed if it is repeated: there was no answer, or none of the authorization server itself. */
export function mayPass(error: unknown): boolean {
  if (McpError.is(error) || error instanceof oauth.WWWAuthenticateChallengeError) return false;
  if (error instanceof oauth.ResponseBodyError) {
    return error.status === 429 || error.error === "temporarily_unavailable" || error.error === "server_error";
  }
  return error instanceof oauth.OperationProcessingError ? NOT_ITS_ANSWER.has(error.code) : error instanceof Error;
}

/** Text of a peer that is repeated in an error. */
export function peerText(text: string): string {
  return printableLine(text.slice(0, 300));
}
