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
  /** The address of this server as its clients use it, for example `https://example.com/mcp`. Tokens must be issued for it. */
  resource: string;
  /** The authorization servers whose tokens are accepted: their issuers, compared as plain text. */
  issuer: string | readonly (string | TrustedIssuer)[];
  /** Verifies tokens in a way of your own. Default: as JWTs, with the keys that the issuers publish. */
  verify?: TokenVerifier | undefined;
  /**
   * Asks the authorization server about each token, for issuers whose tokens are no JWTs. `timeoutMs` is how long an answer may
   * take; default 5 s, then the caller is refused with 503.
   */
  introspection?: { endpoint: string; client: OAuthClient; timeoutMs?: number | undefined } | undefined;
  /** Accepted audiences of tokens. Default: `resource`. */
  audience?: string | readonly string[] | undefined;
  /** Scopes that every request needs. Those of single tools are part of their definition. Default: none. */
  scopes?: readonly string[] | undefined;
  /** The basic set of scopes in the metadata, which clients ask for first. Default: `scopes`. */
  scopesSupported?: readonly string[] | undefined;
  /** Scopes that others contain: `{ admin: ["read", "write"] }` lets an admin do what needs `read`. Default: none. */
  impliedScopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Signature algorithms that are accepted. Default: the asymmetric ones. */
  algorithms?: readonly string[] | undefined;
  /** How far the clocks of issuers may be off, in milliseconds. Default: 60 s. */
  clockSkewMs?: number | undefined;
  /**
   * How long a token is accepted after its end, in milliseconds, at most `clockSkewMs`. Default: 0, so that a token that was meant
   * to end has ended.
   */
  expiryToleranceMs?: number | undefined;
  /** Whether tokens must be bound to a key of their client (DPoP). Bound tokens are always checked. Default: false. */
  requireDpop?: boolean | undefined;
  /**
   * Makes proofs repeat a nonce of this server, so that none can be made in advance. Several nodes need the same `secret`.
   * Default: false; a proof is good for one request within 5 minutes.
   */
  dpopNonce?: boolean | { secret: string | readonly string[] } | undefined;
  /**
   * Used DPoP proofs that are remembered for one key, for 5 minutes each; more requests with this key get 429. Default: 50,000, or
   * 166 requests a second.
   */
  maxProofsPerKey?: number | undefined;
  /** Where used DPoP proofs are remembered, so that each is good once over all nodes. Default: the memory of each process. */
  storage?: Storage | undefined;
  /**
   * Called for each request that is refused, with the reason, which the caller does not get. What it throws is logged. Default:
   * refusals of callers on this machine are printed, at most 10 a minute.
   */
  onRefused?: ((refusal: TokenRefusal) => unknown) | undefined;
  /** Puts the raw token into `ctx.auth.claims.token`, for servers that must pass it to a service of their own. Default: false. */
  exposeToken?: boolean | undefined;
  /** A name for people, in the metadata. Default: none. */
  name?: string | undefined;
  /** The address of the documentation, in the metadata. Default: none. */
  documentation?: string | undefined;
  /** Replaces parts of the runtime, such as `fetch` and the clock, for example in a test. Default: the runtime's own. */
  platform?: Partial<Platform> | undefined;
}

const CLOCK_SKEW_MS = 60_000;
const MAX_SKEW_MS = 600_000;
/** Calls wait for the answer, and their callers give up after a minute. */
const INTROSPECTION_MS = 5_000;
const MAX_PROOFS_PER_KEY = 50_000;
const MAX_MAX_PROOFS = 1_000_000;

/**
 * Protects a server: the `auth` option of `serveHttp`, `nodeHandler`, `fetchHandler` and `serveWebSocket`.
 *
 * Each request must carry a token that one of the issuers made for this resource. The metadata by which clients find the issuer is
 * served beside the server. `ctx.auth` has the claims, never the token itself. Throws for options that would accept too much.
 */
export function resourceServer(options: ResourceServerOptions): ProtectedResource {
  // Programs without types may leave them out.
  if (options === undefined) throw refused("`resourceServer` has no options", "Pass at least `resource` and `issuer`.");
  checkOptions(
    "resourceServer",
    options,
    "resource issuer verify introspection audience scopes scopesSupported impliedScopes algorithms clockSkewMs expiryToleranceMs requireDpop dpopNonce maxProofsPerKey storage onRefused exposeToken name documentation platform",
  );
  const platform = replacedPlatform(runtimePlatform, options.platform);
  const resource = checkedUrl(options.resource, "resource");
  // The operator has named these addresses, so that private ones are meant.
  const policy = urlPolicy({ server: resource, allowPrivateNetwork: true });
  const issuers = checkedIssuers(options.issuer, policy);
  const { maxProofsPerKey = MAX_PROOFS_PER_KEY, dpopNonce = false } = options;
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
  const { client, timeoutMs = INTROSPECTION_MS } = introspection;
  const endpoint = checkedUrl(introspection.endpoint, "introspection.endpoint", policy);
  const issuer = issuers[0]?.issuer ?? "";
  return introspectionVerifier({ issuer, endpoint, client, timeoutMs, audience, expiryToleranceMs, fetch, platform });
}

function audienceOf({ audience, resource }: ResourceServerOptions): readonly string[] {
  return [audience ?? resource].flat();
}

/** The issuers as a list. Throws for addresses that cannot be used; programs without types may pass anything. */
function checkedIssuers(option: ResourceServerOptions["issuer"] | undefined, policy: UrlPolicy): TrustedIssuer[] {
  const fix = 'Name the authorization server whose tokens are accepted, such as `issuer: "https://login.example"`.';
  const list: unknown[] = option === undefined || option === null ? [] : [option].flat();
  if (list.length === 0) throw refused(`\`issuer\` is ${Array.isArray(option) ? "empty" : "missing"}`, fix);
  return list.map((one) => {
    const { issuer, jwksUri } = typeof one === "string" ? { issuer: one, jwksUri: undefined } : trustedIssuer(one, fix);
    if (jwksUri !== undefined) checkedUrl(jwksUri, "jwksUri", policy);
    return { issuer: checkedUrl(issuer, "issuer", policy), jwksUri };
  });
}

function trustedIssuer(one: unknown, fix: string): TrustedIssuer {
  // The members are checked as addresses.
  if (typeof one === "object" && one !== null && "issuer" in one) return one as TrustedIssuer;
  throw refused(`\`issuer\` has an entry that is ${one === undefined ? "undefined" : "no issuer"}`, fix);
}

/** Throws for rules that would accept too much, or nothing at all. */
function checkRules(options: ResourceServerOptions, maxProofsPerKey: number): void {
  const { verify, introspection, algorithms = DEFAULT_ALGORITHMS } = options;
  for (const option of ["algorithms", "scopes", "scopesSupported"] as const) checkTexts(option, options[option] ?? []);
  const weak = algorithms.filter((algorithm) => !DEFAULT_ALGORITHMS.includes(algorithm));
  if (weak.length > 0 || algorithms.length === 0) {
    const fix = `Accept some of ${DEFAULT_ALGORITHMS.join(", ")}.`;
    throw refused(`\`algorithms\` has ${weak.join(", ") || "none"}`, fix);
  }
  const audience = audienceOf(options);
  if (audience.length === 0 || !audience.every((one) => typeof one === "string" && one !== "")) {
    throw refused("`audience` is empty", "Leave it out, or name whom tokens must be issued for.");
  }
  if (verify !== undefined && introspection !== undefined) {
    throw refused("both `verify` and `introspection` are set", "Set one of them: each decides alone about a token.");
  }
  const { clockSkewMs = CLOCK_SKEW_MS, expiryToleranceMs = 0 } = options;
  checkNumber("clockSkewMs", clockSkewMs, 0, MAX_SKEW_MS);
  checkNumber("expiryToleranceMs", expiryToleranceMs, 0, clockSkewMs);
  checkNumber("introspection.timeoutMs", introspection?.timeoutMs ?? INTROSPECTION_MS, 1, MAX_SKEW_MS);
  checkNumber("maxProofsPerKey", maxProofsPerKey, 1, MAX_MAX_PROOFS);
}

/** A text has the methods of a list that are used here, and would be taken for a list of its letters. */
function checkTexts(option: string, value: unknown): void {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return;
  throw refused(`\`${option}\` is not a list of texts`, `Write \`${option}: ["…"]\`.`);
}

function checkNumber(option: string, value: number, least: number, most: number): void {
  if (value >= least && value <= most) return;
  throw refused(`\`${option}\` is ${value}`, `Pass a number from ${least} to ${most}.`);
}

function checkedUrl(url: string, option: string, policy?: UrlPolicy): string {
  const problem = typeof url === "string" ? (formProblem(url) ?? policy?.problemOf(url)) : "is not a text";
  if (problem === undefined) return url;
  throw refused(
    `\`${option}\` ${problem}: ${typeof url === "string" ? JSON.stringify(url) : typeof url}`,
    "Pass an https address, or http on this machine.",
  );
}

function refused(message: string, fix: string): McpError {
  return new McpError("invalid_definition", message, { fix });
}
