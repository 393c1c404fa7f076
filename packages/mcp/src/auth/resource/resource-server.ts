import { platform as runtimePlatform } from "#platform";
import { fetchSender } from "../../http/fetch-sender.js";
import type { Platform } from "../../platform/platform.js";
import { replacedPlatform } from "../../platform/replaced-platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { OAuthClient } from "../client/oauth-client.js";
import { boundedFetch } from "../url/bounded-fetch.js";
import { formProblem, type UrlPolicy, urlPolicy } from "../url/url-policy.js";
import { introspectionVerifier } from "./introspection.js";
import { DEFAULT_ALGORITHMS, jwtVerifier, type TrustedIssuer } from "./jwt-verifier.js";
import { ProtectedResource } from "./protected-resource.js";
import type { TokenVerifier } from "./verified-token.js";

/** Options for `resourceServer`. */
export interface ResourceServerOptions {
  /** The address of this server as its clients use it, for example `https://example.com/mcp`. Tokens must be issued for it. */
  resource: string;
  /** The authorization servers whose tokens are accepted: their issuers, compared as plain text. */
  issuer: string | readonly (string | TrustedIssuer)[];
  /** Verifies tokens in a way of your own. Default: as JWTs, with the keys that the issuers publish. */
  verify?: TokenVerifier | undefined;
  /** Asks the authorization server about each token, for issuers whose tokens are no JWTs. */
  introspection?: { endpoint: string; client: OAuthClient } | undefined;
  /** What tokens may have as audience. Default: `resource`. */
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
  /** Whether tokens must be bound to a key of their client (DPoP). Bound tokens are always checked. Default: false. */
  requireDpop?: boolean | undefined;
  /**
   * Makes proofs repeat a nonce of this server, so that none can be made in advance. Several nodes need the same `secret`.
   * Default: false; a proof is good for one request within 5 minutes.
   */
  dpopNonce?: boolean | { secret: string | readonly string[] } | undefined;
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

/**
 * Protects a server: the `auth` option of `serveHttp`, `nodeHandler`, `fetchHandler` and `serveWebSocket`.
 *
 * Each request must carry a token that one of the issuers made for this resource. The metadata by which clients find the issuer is
 * served beside the server. `ctx.auth` has the claims, never the token itself. Throws for options that would accept too much.
 */
export function resourceServer(options: ResourceServerOptions): ProtectedResource {
  checkOptions(
    "resourceServer",
    options,
    "resource issuer verify introspection audience scopes scopesSupported impliedScopes algorithms clockSkewMs requireDpop dpopNonce exposeToken name documentation platform",
  );
  const platform = replacedPlatform(runtimePlatform, options.platform);
  const issuers = [options.issuer].flat().map((one) => (typeof one === "string" ? { issuer: one } : one));
  const resource = checkedUrl(options.resource, "resource");
  // The operator has named these addresses, so that private ones are meant.
  const policy = urlPolicy({ server: resource, allowPrivateNetwork: true });
  const { introspection, algorithms = DEFAULT_ALGORITHMS, dpopNonce = false } = options;
  const audience = [options.audience ?? resource].flat();
  checkIssuers(issuers, policy);
  if (introspection !== undefined) checkedUrl(introspection.endpoint, "introspection.endpoint", policy);
  checkRules(options, algorithms, audience);
  const fetch = boundedFetch({ sender: fetchSender(platform.fetch), policy, platform });
  const verify =
    options.verify ??
    (introspection === undefined
      ? jwtVerifier({
          issuers,
          audience,
          algorithms,
          clockSkewMs: options.clockSkewMs ?? CLOCK_SKEW_MS,
          fetch,
          platform,
        })
      : introspectionVerifier({ issuer: issuers[0]?.issuer ?? "", ...introspection, audience, fetch, platform }));
  return new ProtectedResource({
    resource,
    issuers: issuers.map(({ issuer }) => issuer),
    verify,
    scopes: options.scopes ?? [],
    scopesSupported: options.scopesSupported ?? options.scopes ?? [],
    impliedScopes: options.impliedScopes ?? {},
    requireDpop: options.requireDpop ?? false,
    dpopNonce: dpopNonce === true ? {} : dpopNonce || undefined,
    exposeToken: options.exposeToken ?? false,
    name: options.name,
    documentation: options.documentation,
    platform,
  });
}

function checkIssuers(issuers: readonly TrustedIssuer[], policy: UrlPolicy): void {
  if (issuers.length === 0)
    throw refused("`issuer` is empty", "Name the authorization server whose tokens are accepted.");
  for (const { issuer, jwksUri } of issuers) {
    checkedUrl(issuer, "issuer", policy);
    if (jwksUri !== undefined) checkedUrl(jwksUri, "jwksUri", policy);
  }
}

/** Throws for rules that would accept too much, or nothing at all. */
function checkRules(
  { verify, introspection, clockSkewMs = 0 }: ResourceServerOptions,
  algorithms: readonly string[],
  audience: readonly string[],
): void {
  const weak = algorithms.filter((algorithm) => !DEFAULT_ALGORITHMS.includes(algorithm));
  if (weak.length > 0 || algorithms.length === 0) {
    const fix = `Accept some of ${DEFAULT_ALGORITHMS.join(", ")}.`;
    throw refused(`\`algorithms\` has ${weak.join(", ") || "none"}`, fix);
  }
  if (audience.length === 0 || audience.includes("")) {
    throw refused("`audience` is empty", "Leave it out, or name whom tokens must be issued for.");
  }
  if (!(clockSkewMs >= 0 && clockSkewMs <= MAX_SKEW_MS)) {
    throw refused(`\`clockSkewMs\` is ${clockSkewMs}`, `Pass milliseconds, at most ${MAX_SKEW_MS}.`);
  }
  if (verify !== undefined && introspection !== undefined) {
    throw refused("both `verify` and `introspection` are set", "Set one of them: each decides alone about a token.");
  }
}

function checkedUrl(url: string, option: string, policy?: UrlPolicy): string {
  const problem = typeof url === "string" ? (formProblem(url) ?? policy?.problemOf(url)) : "is not a text";
  if (problem === undefined) return url;
  throw refused(`\`${option}\` ${problem}: ${JSON.stringify(url)}`, "Pass an https address, or http on this machine.");
}

function refused(message: string, fix: string): McpError {
  return new McpError("invalid_definition", message, { fix });
}
