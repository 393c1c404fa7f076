import type { AuthorizationServer } from "oauth4webapi";
import { McpError } from "../../protocol/error.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { UrlPolicy } from "../url/url-policy.js";
import type { Challenge } from "./challenge.js";
import { listMember, readMetadata, textMember } from "./metadata-document.js";
import { defaultServer, findServerMetadata } from "./server-metadata.js";
import { hookResult, type Steps } from "./steps.js";

/** All that a client must know to ask for a token. */
export interface Discovered {
  readonly resource: string;
  readonly server: AuthorizationServer;
  /** Scopes that the server lists as its basic set; undefined if it lists none. */
  readonly scopes: readonly string[] | undefined;
  readonly requiresDpop: boolean;
}

interface DiscoveryParts {
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

/** The metadata of a protected server (RFC 9728). */
interface ResourceMetadata {
  /** The resource, character for character as published; it goes into every request for a token. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[] | undefined;
  readonly requiresDpop: boolean;
}

const WHAT = "protected resource metadata";

/**
 * Finds the metadata of a server: at the address in its challenge, else at the well-known address with its path, else at the
 * root. Undefined if there is none. Throws if the document speaks of another server.
 *
 * Spec: Authorization, "Authorization Server Location",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#authorization-server-location
 */
async function findResourceMetadata(
  fetch: BoundedFetch,
  server: string,
  fromChallenge: string | undefined,
  steps: Steps,
): Promise<ResourceMetadata | undefined> {
  for (const url of metadataPlaces(server, fromChallenge, steps)) {
    const document = await readMetadata(fetch, url, WHAT, steps);
    if (document !== undefined) return readDocument(document, server, steps);
  }
  return undefined;
}

function metadataPlaces(server: string, fromChallenge: string | undefined, steps: Steps): string[] {
  const { origin, pathname } = new URL(server);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const places = pathname === "/" ? [root] : [`${root}${pathname}`, root];
  if (fromChallenge === undefined) return places;
  // A challenge that leads elsewhere would let one server speak for another.
  if (URL.canParse(fromChallenge) && new URL(fromChallenge).origin === origin) {
    return [...new Set([fromChallenge, ...places])];
  }
  steps.note(WHAT, "the address in the challenge is on another origin and is not used", fromChallenge);
  return places;
}

function readDocument(document: Record<string, unknown>, server: string, steps: Steps): ResourceMetadata {
  const resource = textMember(document, "resource");
  if (resource === undefined || !isResourceOf(resource, server)) {
    throw steps.failure(
      `the metadata of ${server} is about another resource: ${JSON.stringify(resource?.slice(0, 200))}`,
      "Correct `resource` in the server's metadata: it must be the server's address, or the beginning of it.",
      "wrong_resource",
    );
  }
  const authorizationServers = listMember(document, "authorization_servers") ?? [];
  return {
    resource,
    authorizationServers,
    scopes: listMember(document, "scopes_supported"),
    requiresDpop: document["dpop_bound_access_tokens_required"] === true,
  };
}

/** Whether a resource is the server's address or a parent of it on the same origin. */
function isResourceOf(resource: string, server: string): boolean {
  if (!URL.canParse(resource) || resource.includes("#")) return false;
  const [parent, child] = [new URL(resource), new URL(server)];
  if (
    parent.origin !== child.origin ||
    `${parent.username}${parent.password}` !== "" ||
    (parent.search !== "" && parent.search !== child.search)
  ) {
    return false;
  }
  const folder = parent.pathname.endsWith("/") ? parent.pathname : `${parent.pathname}/`;
  return child.pathname === parent.pathname || child.pathname.startsWith(folder);
}

/**
 * The resource of a server without metadata: its address in lower case, without a fragment, and without the slash of an empty path.
 *
 * Spec: Authorization, "Canonical Server URI",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#canonical-server-uri
 */
export function canonicalResource(server: string): string {
  const { origin, pathname, search } = new URL(server);
  return `${origin}${pathname === "/" ? "" : pathname}${search}`;
}
