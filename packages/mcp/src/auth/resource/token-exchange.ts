import * as oauth from "oauth4webapi";
import { platform as runtimePlatform } from "#platform";
import { toBase64Url } from "../../encoding/base64.js";
import type { Principal } from "../../http/authentication.js";
import { fetchSender } from "../../http/fetch-sender.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import { type Platform, replacedPlatform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { clientAuthentication, type OAuthClient } from "../client/oauth-client.js";
import { requestOptions } from "../client/token-request.js";
import { parseObject, textMember } from "../discovery/metadata-document.js";
import { findServerMetadata } from "../discovery/server-metadata.js";
import { hookResult, isHookFailure, once, Steps } from "../discovery/steps.js";
import { type BoundedFetch, boundedFetch } from "../url/bounded-fetch.js";
import { type UrlPolicy, urlPolicy } from "../url/url-policy.js";

/** Options for `tokenExchange`. */
export interface TokenExchangeOptions {
  /** The issuer of tokens for the other service. */
  issuer: string;
  /** Token endpoint of an issuer without metadata. Default: the token endpoint in the issuer's metadata. */
  tokenEndpoint?: string | undefined;
  /** This server's client at the issuer. */
  client: OAuthClient;
  /** Name of the service that the token is for, as registered at the issuer. Default: none. */
  audience?: string | readonly string[] | undefined;
  /** Address of the service that the token is for. Default: none. */
  resource?: string | readonly string[] | undefined;
  /** Scopes of the new token. Default: the issuer decides. */
  scopes?: readonly string[] | undefined;
  /**
   * Returns the token of a caller to exchange. If this function throws an `McpError`, callers of a tool get its
   * message. The message of any other error is only printed. Default: the caller's own token, which `exposeToken` of
   * `resourceServer` puts into `claims.token`.
   */
  subjectToken?: ((caller: Principal) => string | undefined | Promise<string | undefined>) | undefined;
  /** The type of the token to exchange, as a URN of RFC 8693. Default: an access token. */
  subjectTokenType?: string | undefined;
  /**
   * Replaces parts of the runtime, such as `fetch` and the clock, for example in a test. Default: the runtime's own.
   */
  platform?: Partial<Platform> | undefined;
}

/**
 * Returns an access token for another service on behalf of a caller. Rejects with `authorization_failed` if the issuer
 * refuses or the caller has no token to exchange.
 */
export type TokenExchange = (caller: Principal | undefined) => Promise<string>;

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const ISSUED: ReadonlySet<unknown> = new Set([ACCESS_TOKEN, "urn:ietf:params:oauth:token-type:jwt"]);
const MAX_TOKENS = 1_000;
/**
 * A cached token is used only until this long before its expiry, so that it does not expire during the call that uses
 * it.
 */
const MARGIN_MS = 30_000;
const HEADER_TOKEN = /^[\x21-\x7e]+$/;
const ERROR_CODE = /^[a-z_]{1,50}$/;

interface CachedToken {
  readonly token: string;
  readonly until: number;
}

/**
 * Creates a function that exchanges the token of a caller for a token for another service (RFC 8693). Use it in a tool:
 * `await exchange(ctx.auth)`.
 *
 * Concurrent calls for one caller share one exchange. The new token is cached for its caller until shortly before it
 * expires. Throws for options that cannot work.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/oauth-proxy.md | OAuth proxy}
 */
export function tokenExchange(options: TokenExchangeOptions): TokenExchange {
  checkOptions(
    "tokenExchange",
    options,
    "issuer tokenEndpoint client audience resource scopes subjectToken subjectTokenType platform",
  );
  const platform = replacedPlatform(runtimePlatform, options.platform);
  // A private address is allowed, because the operator configured the issuer.
  const policy = urlPolicy({ server: options.issuer, allowPrivateNetwork: true });
  checkAddresses(options, policy);
  const fetch = boundedFetch({ sender: fetchSender(platform.fetch), policy, platform });
  const metadata = once(() => serverOf(options, fetch, policy));
  const tokens = new BoundedMap<string, CachedToken>(MAX_TOKENS);
  const pending = new Map<string, Promise<string>>();
  const exchange = async (key: string, caller: Principal, subject: string) => {
    const { token, expiresIn } = await requestExchange(options, await metadata(), subject, fetch);
    const now = platform.now();
    const until = Math.min(now + expiresIn * 1_000, caller.expiresAt ?? Number.POSITIVE_INFINITY) - MARGIN_MS;
    if (until > now) tokens.set(key, { token, until });
    return token;
  };
  return async (caller) => {
    const subject = caller && (await subjectOf(caller, options, platform));
    if (caller === undefined || typeof subject !== "string" || subject === "") {
      throw new McpError("authorization_failed", "the caller has no token to exchange", {
        fix: "Set `exposeToken` of `resourceServer`, or return a token of the caller from `subjectToken`. The caller's login may have ended.",
      });
    }
    // A digest, so that no copy of the caller's token is stored.
    const text = JSON.stringify([caller.key, subject]);
    const key = toBase64Url(platform.sha256(new TextEncoder().encode(text)));
    const known = tokens.get(key);
    if (known !== undefined && known.until > platform.now()) return known.token;
    const mine = pending.get(key) ?? exchange(key, caller, subject).finally(() => pending.delete(key));
    pending.set(key, mine);
    return mine;
  };
}

async function subjectOf(
  caller: Principal,
  { subjectToken = exposedToken }: TokenExchangeOptions,
  platform: Platform,
): Promise<unknown> {
  try {
    return await hookResult("subjectToken", () => subjectToken(caller));
  } catch (error) {
    if (!McpError.is(error) || !isHookFailure(error)) throw error;
    // A tool passes errors of the exchange on to its caller. The message of the function may contain secrets, so it is
    // only printed.
    platform.warn(error.message);
    const { cause, fix } = error;
    throw new McpError("authorization_failed", "`subjectToken` of tokenExchange failed", { cause, fix });
  }
}

async function requestExchange(
  { client, issuer, audience = [], resource = [], scopes = [], subjectTokenType = ACCESS_TOKEN }: TokenExchangeOptions,
  server: oauth.AuthorizationServer,
  subject: string,
  fetch: BoundedFetch,
) {
  const parameters = new URLSearchParams({
    subject_token: subject,
    subject_token_type: subjectTokenType,
    requested_token_type: ACCESS_TOKEN,
  });
  for (const one of [audience].flat()) parameters.append("audience", one);
  for (const one of [resource].flat()) parameters.append("resource", one);
  if (scopes.length > 0) parameters.set("scope", scopes.join(" "));
  const me: oauth.Client = { client_id: client.clientId };
  const authentication = clientAuthentication(client, server);
  const options = requestOptions(fetch);
  const response = await oauth
    .genericTokenEndpointRequest(server, me, authentication, GRANT_TYPE, parameters, options)
    // Errors of the sender contain addresses, and errors of the library may contain sent values. The caller gets
    // neither.
    .catch(() => Promise.reject(failure(issuer, "it did not answer")));
  return readToken(issuer, response.status, parseObject(await response.text()));
}

async function serverOf(
  { issuer, tokenEndpoint }: TokenExchangeOptions,
  fetch: BoundedFetch,
  policy: UrlPolicy,
): Promise<oauth.AuthorizationServer> {
  if (tokenEndpoint !== undefined) return { issuer, token_endpoint: tokenEndpoint };
  const steps = new Steps();
  const found = await findServerMetadata(fetch, issuer, policy, steps);
  if (found?.token_endpoint !== undefined) return found;
  throw steps.failure(`${issuer} publishes no token endpoint`, "Set `tokenEndpoint`.");
}

function exposedToken({ claims }: Principal): string | undefined {
  const token = claims?.["token"];
  return typeof token === "string" ? token : undefined;
}

/**
 * Reads the token from the issuer's response. Errors contain only the error code or status of the response, because the
 * rest may repeat sent values.
 */
function readToken(issuer: string, status: number, body: Record<string, unknown> = {}) {
  if (status !== 200) {
    const code = textMember(body, "error") ?? "";
    throw failure(issuer, ERROR_CODE.test(code) ? `it answered ${code}` : `it answered with HTTP ${status}`);
  }
  const { issued_token_type: type, token_type: scheme, expires_in: lifetime } = body;
  const token = textMember(body, "access_token");
  // RFC 8693, 2.2.1: the issued token may be of another type. Such a token must not be sent to a service.
  if (token === undefined || !HEADER_TOKEN.test(token) || !ISSUED.has(type) || !/^bearer$/i.test(String(scheme)))
    throw failure(issuer, "it issued no access token of type Bearer");
  const expiresIn = typeof lifetime === "number" && lifetime > 0 ? lifetime : 0;
  return { token, expiresIn };
}

function failure(issuer: string, reason: string): McpError {
  return new McpError("authorization_failed", `${issuer} did not exchange the token of the caller: ${reason}`, {
    fix: "Allow this `client` to exchange tokens for the `audience`, `resource` and `scopes` at the issuer.",
  });
}

function checkAddresses({ issuer, tokenEndpoint, client }: TokenExchangeOptions, policy: UrlPolicy): void {
  const refused = (text: string) =>
    new McpError("invalid_definition", text, { fix: "Pass https addresses, or http on this machine." });
  for (const [name, url] of Object.entries({ issuer, tokenEndpoint })) {
    if (url === undefined && name === "tokenEndpoint") continue;
    const problem = typeof url === "string" ? policy.problemOf(url) : "is not a string";
    if (problem !== undefined) throw refused(`\`${name}\` of tokenExchange ${problem}`);
  }
  if (client?.issuer === undefined || client.issuer === issuer) return;
  throw new McpError("invalid_definition", "`client` of tokenExchange belongs to another issuer", {
    fix: "Pass the client that `issuer` knows, or leave `client.issuer` out.",
  });
}
