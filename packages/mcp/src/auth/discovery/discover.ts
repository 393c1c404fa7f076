import type { AuthorizationServer } from "oauth4webapi";
import { McpError } from "../../protocol/error.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { UrlPolicy } from "../url/url-policy.js";
import type { Challenge } from "./challenge.js";
import { listMember, readMetadata, textMember } from "./metadata-document.js";
import { defaultServer, findServerMetadata } from "./server-metadata.js";
import { hookResult, type Steps } from "./steps.js";

/** The result of discovery: everything that a client needs to request a token. */
export interface DiscoveryResult {
  /** The resource that tokens are requested for (RFC 8707). */
  readonly resource: string;
  /** Metadata of the authorization server to use. */
  readonly server: AuthorizationServer;
  /** Scopes that the server lists as its basic set. Undefined if it lists none. */
  readonly scopes: readonly string[] | undefined;
  /** True if the server accepts only tokens that are bound to a key (DPoP). */
  readonly requiresDpop: boolean;
}

interface DiscoveryOptions {
  readonly url: string;
  readonly fetch: BoundedFetch;
  readonly policy: UrlPolicy;
  readonly steps: Steps;
  /**
   * Chooses among several authorization servers. Default: `known` ones are tried first, and the first server whose
   * metadata can be read is used.
   */
  readonly chooseServer?: ((issuers: readonly string[]) => string | undefined) | undefined;
  /** Issuers for which there is a configured client or a stored token, best first. */
  readonly known?: readonly string[] | undefined;
}

/**
 * Maximum number of authorization servers that are tried, because each may need several requests. Further ones in the
 * list are ignored.
 */
const MAX_SERVERS = 5;

/** Finds the authorization server to request a token from, and the resource and scopes to request it for. */
export async function discover(options: DiscoveryOptions, challenge: Challenge | undefined): Promise<DiscoveryResult> {
  const { url, fetch, steps } = options;
  const metadata = await findResourceMetadata(fetch, url, challenge?.params.get("resource_metadata"), steps);
  const server = await (metadata === undefined ? serverWithoutMetadata(options) : serverByMetadata(options, metadata));
  return {
    resource: metadata?.resource ?? canonicalResource(url),
    server,
    scopes: metadata?.scopes,
    requiresDpop: metadata?.requiresDpop ?? false,
  };
}

/** Returns the first usable authorization server of the list. */
async function serverByMetadata(options: DiscoveryOptions, metadata: ResourceMetadata): Promise<AuthorizationServer> {
  const issuers = await candidates(options, metadata.authorizationServers);
  for (const issuer of issuers) {
    try {
      return await serverOf(options, issuer);
    } catch (error) {
      // With a single server, its own error is the most precise.
      if (!McpError.is(error) || issuers.length === 1) throw error;
    }
  }
  throw options.steps.failure(
    `none of the ${issuers.length} authorization servers of ${options.url} can be used`,
    "Correct one of them, or remove those that are not in use from `authorization_servers`.",
    "no_server_metadata",
  );
}

/** Returns the authorization servers to try, in order. Throws if there is none. */
async function candidates(options: DiscoveryOptions, listed: readonly string[]): Promise<readonly string[]> {
  const { url, steps, chooseServer, known = [] } = options;
  const chosen = chooseServer === undefined ? undefined : await hookResult("chooseServer", () => chooseServer(listed));
  const usable = chooseServer === undefined ? listed : listed.filter((issuer) => issuer === chosen);
  if (usable.length === 0) {
    throw steps.failure(
      chooseServer === undefined
        ? `${url} names no authorization server`
        : `\`chooseServer\` chose none of the authorization servers of ${url}`,
      chooseServer === undefined
        ? "List one in `authorization_servers` of the server's metadata."
        : "Return one of the issuers that were passed to `chooseServer`.",
      "no_authorization_server",
    );
  }
  const preferred = known.filter((issuer) => usable.includes(issuer));
  return [...new Set([...preferred, ...usable])].slice(0, MAX_SERVERS);
}

async function serverOf({ url, fetch, policy, steps }: DiscoveryOptions, issuer: string): Promise<AuthorizationServer> {
  const problem = policy.problemOf(issuer);
  if (problem !== undefined) {
    steps.note("authorization server", problem, issuer);
    throw steps.failure(
      `the authorization server of ${url} must not be contacted: its address ${problem}`,
      "Use an https address on the public internet, or set `allowPrivateNetwork` if it is inside your network.",
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

/**
 * Returns the origin of the MCP server as the authorization server, as in revision 2025-03-26. If the origin publishes
 * no metadata, the default paths are used.
 */
async function serverWithoutMetadata({ url, fetch, policy, steps }: DiscoveryOptions): Promise<AuthorizationServer> {
  const { origin } = new URL(url);
  // The issuer was derived from the address, so its spelling is not known: it may end with a slash.
  const found = await findServerMetadata(fetch, origin, policy, steps, [origin, `${origin}/`]);
  if (found !== undefined) return found;
  steps.note("authorization server", "no metadata was found, so the default paths are used", origin);
  return defaultServer(origin);
}

/** The metadata of a protected server (RFC 9728). */
interface ResourceMetadata {
  /** The resource exactly as published. It is sent with every token request. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[] | undefined;
  readonly requiresDpop: boolean;
}

const STEP = "protected resource metadata";

/**
 * Finds the metadata of a server: at the address in its challenge, at the well-known address with its path, or at the
 * root. Undefined if there is none. Throws if the document is for another server.
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
    const document = await readMetadata(fetch, url, STEP, steps);
    if (document !== undefined) return readDocument(document, server, steps);
  }
  return undefined;
}

function metadataPlaces(server: string, fromChallenge: string | undefined, steps: Steps): string[] {
  const { origin, pathname } = new URL(server);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const places = pathname === "/" ? [root] : [`${root}${pathname}`, root];
  if (fromChallenge === undefined) return places;
  // Use only an address on the server's own origin. Otherwise one server could publish metadata for another.
  if (URL.canParse(fromChallenge) && new URL(fromChallenge).origin === origin) {
    return [...new Set([fromChallenge, ...places])];
  }
  steps.note(STEP, "the address in the challenge is on another origin and is not used", fromChallenge);
  return places;
}

function readDocument(document: Record<string, unknown>, server: string, steps: Steps): ResourceMetadata {
  const resource = textMember(document, "resource");
  if (resource === undefined || !isResourceOf(resource, server)) {
    throw steps.failure(
      `the metadata of ${server} is for another resource: ${JSON.stringify(resource?.slice(0, 200))}`,
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

/** True if the resource is the server's address or a parent of it on the same origin. */
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
 * Returns the resource of a server without metadata: its address with scheme and host in lower case, without a fragment
 * and without the slash of an empty path.
 *
 * Spec: Authorization, "Canonical Server URI",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#canonical-server-uri
 */
export function canonicalResource(server: string): string {
  const { origin, pathname, search } = new URL(server);
  return `${origin}${pathname === "/" ? "" : pathname}${search}`;
}
