import { platform as runtimePlatform } from "#platform";
import { fetchSender } from "../../http/fetch-sender.js";
import type { Platform } from "../../platform/platform.js";
import { replacedPlatform } from "../../platform/replaced-platform.js";
import { McpError } from "../../protocol/error.js";
import type { OAuthClient } from "../client/oauth-client.js";
import { boundedFetch } from "../url/bounded-fetch.js";
import { formProblem, urlPolicy } from "../url/url-policy.js";
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

/**
 * Protects a server: the `auth` option of `serveHttp`, `nodeHandler`, `fetchHandler` and `serveWebSocket`.
 *
 * Each request must carry a token that one of the issuers made for this resource. The metadata by which clients find the issuer is
 * served beside the server. `ctx.auth` has the claims, never the token itself. Throws for options that would accept too much.
 */
export function resourceServer(options: ResourceServerOptions): ProtectedResource {
  const platform = replacedPlatform(runtimePlatform, options.platform);
  const issuers = [options.issuer].flat().map((one) => (typeof one === "string" ? { issuer: one } : one));
  const resource = checkedUrl(options.resource, "resource");
  for (const { issuer } of issuers) checkedUrl(issuer, "issuer");
  if (issuers.length === 0)
    throw refused("`issuer` is empty", "Name the authorization server whose tokens are accepted.");
  const algorithms = options.algorithms ?? DEFAULT_ALGORITHMS;
  const weak = algorithms.filter((algorithm) => /^(none|HS\d+)$/i.test(algorithm));
  if (weak.length > 0) {
    throw refused(`\`algorithms\` has ${weak.join(", ")}`, "Accept asymmetric signatures only, for example ES256.");
  }
  const sender = fetchSender(platform.fetch);
  // The operator has named these addresses, so that private ones are meant.
  const policy = urlPolicy({ server: resource, allowPrivateNetwork: true });
  const fetch = boundedFetch({ sender, policy, platform });
  const audience = [options.audience ?? resource].flat();
  const { introspection } = options;
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
    exposeToken: options.exposeToken ?? false,
    name: options.name,
    documentation: options.documentation,
    platform,
  });
}

function checkedUrl(url: string, option: string): string {
  const problem = typeof url === "string" ? formProblem(url) : "is not a text";
  if (problem === undefined) return url;
  throw refused(`\`${option}\` ${problem}: ${JSON.stringify(url)}`, "Pass an https address, or http on this machine.");
}

function refused(message: string, fix: string): McpError {
  return new McpError("invalid_definition", message, { fix });
}
