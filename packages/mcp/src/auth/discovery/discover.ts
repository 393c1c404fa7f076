import type { AuthorizationServer } from "oauth4webapi";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { UrlPolicy } from "../url/url-policy.js";
import type { Challenge } from "./challenge.js";
import { hookResult } from "./hook-result.js";
import { canonicalResource, findResourceMetadata, type ResourceMetadata } from "./resource-metadata.js";
import { defaultServer, findServerMetadata } from "./server-metadata.js";
import type { Steps } from "./steps.js";

/** All that a client must know to ask for a token. */
export interface Discovered {
  readonly resource: string;
  readonly server: AuthorizationServer;
  /** Scopes that the server lists as its basic set; undefined if it lists none. */
  readonly scopes: readonly string[] | undefined;
  readonly requiresDpop: boolean;
}

/** What discovery needs. */
export interface DiscoveryParts {
  readonly url: string;
  readonly fetch: BoundedFetch;
  readonly policy: UrlPolicy;
  readonly steps: Steps;
  /** Chooses among several authorization servers; the first by default. */
  readonly chooseServer?: ((issuers: readonly string[]) => string | undefined) | undefined;
}

/** Finds out from a challenge whom to ask for a token, and for what. */
export async function discover(parts: DiscoveryParts, challenge: Challenge | undefined): Promise<Discovered> {
  const { url, fetch, steps } = parts;
  const metadata = await findResourceMetadata(fetch, url, challenge?.params.get("resource_metadata"), steps);
  const server = await (metadata === undefined ? withoutMetadata(parts) : named(parts, metadata));
  return {
    resource: metadata?.resource ?? canonicalResource(url),
    server,
    scopes: metadata?.scopes,
    requiresDpop: metadata?.requiresDpop ?? false,
  };
}

async function named(parts: DiscoveryParts, metadata: ResourceMetadata): Promise<AuthorizationServer> {
  const { fetch, policy, steps, chooseServer } = parts;
  const { authorizationServers } = metadata;
  const issuer =
    chooseServer === undefined
      ? authorizationServers[0]
      : await hookResult("chooseServer", () => chooseServer(authorizationServers));
  if (issuer === undefined || !authorizationServers.includes(issuer)) {
    throw steps.failure(
      `${parts.url} names no authorization server${chooseServer === undefined ? "" : " that was chosen"}`,
      "List it in `authorization_servers` of the server's metadata.",
      "no_authorization_server",
    );
  }
  const problem = policy.problemOf(issuer);
  if (problem !== undefined) {
    steps.note("authorization server", problem, issuer);
    throw steps.failure(
      `the authorization server of ${parts.url} must not be contacted: its address ${problem}`,
      "Use an https address on the public internet, or set `allowPrivateNetwork` where both are inside your network.",
      "refused_address",
    );
  }
  const server = await findServerMetadata(fetch, issuer, policy, steps);
  if (server !== undefined) return server;
  throw steps.failure(
    `the authorization server ${issuer} publishes no metadata`,
    "Check the issuer, and that one of the addresses tried answers with JSON.",
    "no_server_metadata",
  );
}

/** A server of 2025-03-26 is its own authorization server, with or without metadata. */
async function withoutMetadata({ url, fetch, policy, steps }: DiscoveryParts): Promise<AuthorizationServer> {
  const { origin } = new URL(url);
  // Nobody has spelled this issuer yet, and both spellings lead to this document.
  const found = await findServerMetadata(fetch, origin, policy, steps, [origin, `${origin}/`]);
  if (found !== undefined) return found;
  steps.note("authorization server", "no metadata anywhere; the default paths are used", origin);
  return defaultServer(origin);
}
