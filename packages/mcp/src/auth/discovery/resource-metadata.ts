import type { BoundedFetch } from "../url/bounded-fetch.js";
import { listMember, readMetadata, textMember } from "./metadata-document.js";
import type { Steps } from "./steps.js";

/** What a protected server says about its authorization (RFC 9728). */
export interface ResourceMetadata {
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
export async function findResourceMetadata(
  fetch: BoundedFetch,
  server: string,
  fromChallenge: string | undefined,
  steps: Steps,
): Promise<ResourceMetadata | undefined> {
  for (const url of candidates(server, fromChallenge, steps)) {
    const document = await readMetadata(fetch, url, WHAT, steps);
    if (document !== undefined) return readDocument(document, server, steps);
  }
  return undefined;
}

function candidates(server: string, fromChallenge: string | undefined, steps: Steps): string[] {
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
