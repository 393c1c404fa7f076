import type { AuthorizationServer } from "oauth4webapi";
import { McpError } from "../../protocol/error.js";
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
  /** Chooses among several authorization servers. Default: the first `known` one, else the first whose metadata can be read. */
  readonly chooseServer?: ((issuers: readonly string[]) => string | undefined) | undefined;
  /** Issuers that the client is registered with or has tokens of, best first. */
  readonly known?: readonly string[] | undefined;
}

/** Authorization servers of one list that are tried; each may take several requests. */
const MAX_SERVERS = 5;

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

/** The first usable authorization server of the list. */
async function named(parts: DiscoveryParts, metadata: ResourceMetadata): Promise<AuthorizationServer> {
  const issuers = await candidates(parts, metadata.authorizationServers);
  for (const issuer of issuers) {
    try {
      return await serverOf(parts, issuer);
    } catch (error) {
      // With one server its own error says most.
      if (!McpError.is(error) || issuers.length === 1) throw error;
    }
  }
  throw parts.steps.failure(
    `none of the ${issuers.length} authorization servers of ${parts.url} can be used`,
    "Correct the first of them that is yours, or remove it from `authorization_servers`.",
    "no_server_metadata",
  );
}

/** The authorization servers to try, in order. Throws if there is none. */
async function candidates(parts: DiscoveryParts, listed: readonly string[]): Promise<readonly string[]> {
  const { url, steps, chooseServer, known = [] } = parts;
  const chosen = chooseServer === undefined ? undefined : await hookResult("chooseServer", () => chooseServer(listed));
  const usable = chooseServer === undefined ? listed : listed.filter((issuer) => issuer === chosen);
  if (usable.length === 0) {
    throw steps.failure(
      `${url} names no authorization server${chooseServer === undefined ? "" : " that was chosen"}`,
      "List it in `authorization_servers` of the server's metadata.",
      "no_authorization_server",
    );
  }
  const preferred = known.filter((issuer) => usable.includes(issuer));
  return [...new Set([...preferred, ...usable])].slice(0, MAX_SERVERS);
}

async function serverOf({ url, fetch, policy, steps }: DiscoveryParts, issuer: string): Promise<AuthorizationServer> {
  const problem = policy.problemOf(issuer);
  if (problem !== undefined) {
    steps.note("authorization server", problem, issuer);
    throw steps.failure(
      `the authorization server of ${url} must not be contacted: its address ${problem}`,
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
