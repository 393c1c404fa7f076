import { platform as runtimePlatform } from "#platform";
import { fetchSender } from "../../http/fetch-sender.js";
import { type Platform, replacedPlatform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { checkSecret } from "../../seal/secrets.js";
import type { Storage } from "../../storage/storage.js";
import type { OAuthClient } from "../client/oauth-client.js";
import { boundedFetch } from "../url/bounded-fetch.js";
import { formProblem, type UrlPolicy, urlPolicy } from "../url/url-policy.js";
import { introspectionVerifier } from "./introspection.js";
import { DEFAULT_ALGORITHMS, jwtVerifier, type TrustedIssuer } from "./jwt-verifier.js";
import { ProtectedResource } from "./protected-resource.js";
import type { TokenRefusal } from "./token-refusal.js";
import type { TokenVerifier } from "./verified-token.js";

/** Options for `resourceServer`. */
export interface ResourceServerOptions {
  /**
   * The address of this server as its clients use it, for example `https://example.com/mcp`. Tokens must be issued for
   * it.
   */
  resource: string;
  /** The authorization servers whose tokens are accepted: their issuers, compared character for character. */
  issuer: string | readonly (string | TrustedIssuer)[];
  /**
   * Verifies tokens in place of the built-in verification. Default: verification as JWTs, with the keys that the
   * issuers publish.
   */
  verify?: TokenVerifier | undefined;
  /**
   * Verifies tokens by asking the authorization server, for an issuer whose tokens are not JWTs. Only tokens of the
   * first `issuer` are then accepted. If the authorization server does not answer within `timeoutMs`, the caller gets
   * 503. Default of `timeoutMs`: 5 s, because calls wait for the answer.
   */
  introspection?: { endpoint: string; client: OAuthClient; timeoutMs?: number | undefined } | undefined;
  /** Accepted audiences of tokens. Default: `resource`. */
  audience?: string | readonly string[] | undefined;
  /** Scopes that every request needs. The scopes of a single tool belong in its definition. Default: none. */
  scopes?: readonly string[] | undefined;
  /** The basic set of scopes in the metadata. Clients request these first. Default: `scopes`. */
  scopesSupported?: readonly string[] | undefined;
  /**
   * Scopes that include other scopes: with `{ admin: ["read", "write"] }`, the scope `admin` also grants `read` and
   * `write`. Default: none.
   */
  impliedScopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Accepted signature algorithms. Default: all supported ones, which are asymmetric. */
  algorithms?: readonly string[] | undefined;
  /** Tolerated difference between this machine's clock and the issuer's, in milliseconds. Default: 60 s. */
  clockSkewMs?: number | undefined;
  /**
   * Time for which a token is accepted after it has expired, in milliseconds, at most `clockSkewMs`. Default: 0, so
   * that an expired token is never accepted.
   */
  expiryToleranceMs?: number | undefined;
  /**
   * True if tokens must be bound to a key of their client (DPoP). Proofs of bound tokens are always verified. Default:
   * false.
   */
  requireDpop?: boolean | undefined;
  /**
   * Requires a nonce of this server in DPoP proofs, so that proofs cannot be made in advance. Several nodes need the
   * same `secret`. Default: false. Each proof is then accepted once, at most 5 minutes before or after its issue time.
   */
  dpopNonce?: boolean | { secret: string | readonly string[] } | undefined;
  /**
   * Maximum number of used DPoP proofs that are stored for one key, each for about 5 minutes. Further requests with
   * this key get 429. Default: 50,000, which allows 166 requests per second.
   */
  maxProofsPerKey?: number | undefined;
  /**
   * Storage for used DPoP proofs, so that each is accepted only once by all nodes together. Default: the memory of each
   * process.
   */
  storage?: Storage | undefined;
  /**
   * Called for each refused request, with the reason, which the caller does not get. Errors that the function throws
   * are logged. Default: refusals of callers on this machine are printed, at most 10 per minute.
   */
  onRefused?: ((refusal: TokenRefusal) => unknown) | undefined;
  /**
   * Puts the raw token into `ctx.auth.claims.token`, for servers that must pass it to a service of their own. Default:
   * false.
   */
  exposeToken?: boolean | undefined;
  /** Display name in the metadata. Default: none. */
  name?: string | undefined;
  /** Address of the documentation, in the metadata. Default: none. */
  documentation?: string | undefined;
  /**
   * Replaces parts of the runtime, such as `fetch` and the clock, for example in a test. Default: the runtime's own.
   */
  platform?: Partial<Platform> | undefined;
}

const CLOCK_SKEW_MS = 60_000;
const MAX_SKEW_MS = 600_000;
/** Short, because calls wait for the response, and their callers give up after a minute. */
const INTROSPECTION_TIMEOUT_MS = 5_000;
const DEFAULT_PROOFS_PER_KEY = 50_000;
const MAX_PROOFS_PER_KEY = 1_000_000;

/**
 * Protects a server by access tokens: the `auth` option of `serveHttp`, `nodeHandler`, `fetchHandler` and
 * `serveWebSocket`.
 *
 * Each request must carry a token that one of the issuers issued for this resource. The server also publishes the
 * metadata by which clients find the issuer. `ctx.auth` has the claims but not the token itself, unless `exposeToken`
 * is set. Throws for options that would accept too much, or nothing at all.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/protecting-a-server.md | Protecting a server}
 */
export function resourceServer(options: ResourceServerOptions): ProtectedResource {
  // Programs without types may omit the options.
  if (options === undefined)
    throw invalidOption("`resourceServer` was called without options", "Pass at least `resource` and `issuer`.");
  checkOptions(
    "resourceServer",
    options,
    "resource issuer verify introspection audience scopes scopesSupported impliedScopes algorithms clockSkewMs expiryToleranceMs requireDpop dpopNonce maxProofsPerKey storage onRefused exposeToken name documentation platform",
  );
  const platform = replacedPlatform(runtimePlatform, options.platform);
  const resource = checkedUrl(options.resource, "resource");
  // Private addresses are allowed, because the operator configured them.
  const policy = urlPolicy({ server: resource, allowPrivateNetwork: true });
  const issuers = checkedIssuers(options.issuer, policy);
  const { maxProofsPerKey = DEFAULT_PROOFS_PER_KEY, dpopNonce = false } = options;
  checkRules(options, maxProofsPerKey);
  if (typeof dpopNonce === "object") checkSecret(dpopNonce.secret);
  return new ProtectedResource({
    resource,
    issuers: issuers.map(({ issuer }) => issuer),
    verify: options.verify ?? verifierOf(options, issuers, policy, platform),
    scopes: options.scopes ?? [],
    scopesSupported: options.scopesSupported ?? options.scopes ?? [],
    impliedScopes: options.impliedScopes ?? {},
    requireDpop: options.requireDpop ?? false,
    dpopNonce: dpopNonce === true ? {} : dpopNonce || undefined,
    maxProofsPerKey,
    storage: options.storage,
    onRefused: options.onRefused,
    exposeToken: options.exposeToken ?? false,
    name: options.name,
    documentation: options.documentation,
    platform,
  });
}

function verifierOf(
  options: ResourceServerOptions,
  issuers: readonly TrustedIssuer[],
  policy: UrlPolicy,
  platform: Platform,
): TokenVerifier {
  const {
    introspection,
    algorithms = DEFAULT_ALGORITHMS,
    clockSkewMs = CLOCK_SKEW_MS,
    expiryToleranceMs = 0,
  } = options;
  const audience = audienceOf(options);
  const fetch = boundedFetch({ sender: fetchSender(platform.fetch), policy, platform });
  if (introspection === undefined) {
    return jwtVerifier({ issuers, audience, algorithms, clockSkewMs, expiryToleranceMs, fetch, platform });
  }
  const { client, timeoutMs = INTROSPECTION_TIMEOUT_MS } = introspection;
  const endpoint = checkedUrl(introspection.endpoint, "introspection.endpoint", policy);
  const issuer = issuers[0]?.issuer ?? "";
  return introspectionVerifier({ issuer, endpoint, client, timeoutMs, audience, expiryToleranceMs, fetch, platform });
}

function audienceOf({ audience, resource }: ResourceServerOptions): readonly string[] {
  return [audience ?? resource].flat();
}

/** Returns the issuers as a list. Throws for unusable addresses: programs without types may pass anything. */
function checkedIssuers(option: ResourceServerOptions["issuer"] | undefined, policy: UrlPolicy): TrustedIssuer[] {
  const fix = 'Name the authorization server whose tokens are accepted, such as `issuer: "https://login.example"`.';
  const list: unknown[] = option === undefined || option === null ? [] : [option].flat();
  if (list.length === 0) throw invalidOption(`\`issuer\` is ${Array.isArray(option) ? "empty" : "missing"}`, fix);
  return list.map((one) => {
    const { issuer, jwksUri } = typeof one === "string" ? { issuer: one, jwksUri: undefined } : trustedIssuer(one, fix);
    if (jwksUri !== undefined) checkedUrl(jwksUri, "jwksUri", policy);
    return { issuer: checkedUrl(issuer, "issuer", policy), jwksUri };
  });
}

function trustedIssuer(one: unknown, fix: string): TrustedIssuer {
  // Safe: the caller checks the members as addresses.
  if (typeof one === "object" && one !== null && "issuer" in one) return one as TrustedIssuer;
  throw invalidOption(`\`issuer\` has an entry that is ${one === undefined ? "undefined" : "not an issuer"}`, fix);
}

/** Throws for options that would accept too much, or nothing at all. */
function checkRules(options: ResourceServerOptions, maxProofsPerKey: number): void {
  const { verify, introspection, algorithms = DEFAULT_ALGORITHMS } = options;
  for (const option of ["algorithms", "scopes", "scopesSupported"] as const) checkTexts(option, options[option] ?? []);
  const weak = algorithms.filter((algorithm) => !DEFAULT_ALGORITHMS.includes(algorithm));
  if (weak.length > 0 || algorithms.length === 0) {
    const fix = `Use only these algorithms: ${DEFAULT_ALGORITHMS.join(", ")}.`;
    throw invalidOption(`\`algorithms\` ${weak.length > 0 ? `contains ${weak.join(", ")}` : "is empty"}`, fix);
  }
  const audience = audienceOf(options);
  if (audience.length === 0 || !audience.every((one) => typeof one === "string" && one !== "")) {
    throw invalidOption(
      "`audience` is empty or contains an entry that is not a non-empty string",
      "Omit it, or list the audiences that tokens must be issued for.",
    );
  }
  if (verify !== undefined && introspection !== undefined) {
    throw invalidOption("both `verify` and `introspection` are set", "Set only one of them.");
  }
  const { clockSkewMs = CLOCK_SKEW_MS, expiryToleranceMs = 0 } = options;
  checkNumber("clockSkewMs", clockSkewMs, 0, MAX_SKEW_MS);
  checkNumber("expiryToleranceMs", expiryToleranceMs, 0, clockSkewMs);
  checkNumber("introspection.timeoutMs", introspection?.timeoutMs ?? INTROSPECTION_TIMEOUT_MS, 1, MAX_SKEW_MS);
  checkNumber("maxProofsPerKey", maxProofsPerKey, 1, MAX_PROOFS_PER_KEY);
}

/** Rejects a string in place of a list, because it would count as a list of characters. */
function checkTexts(option: string, value: unknown): void {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return;
  throw invalidOption(`\`${option}\` is not a list of strings`, `Write \`${option}: ["…"]\`.`);
}

function checkNumber(option: string, value: number, least: number, most: number): void {
  if (value >= least && value <= most) return;
  throw invalidOption(`\`${option}\` is ${value}`, `Pass a number from ${least} to ${most}.`);
}

function checkedUrl(url: string, option: string, policy?: UrlPolicy): string {
  const problem = typeof url === "string" ? (formProblem(url) ?? policy?.problemOf(url)) : "is not a string";
  if (problem === undefined) return url;
  throw invalidOption(
    `\`${option}\` ${problem}: ${typeof url === "string" ? JSON.stringify(url) : typeof url}`,
    "Pass an https address, or http on this machine.",
  );
}

function invalidOption(message: string, fix: string): McpError {
  return new McpError("invalid_definition", message, { fix });
}
