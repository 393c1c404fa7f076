import type { AuthorizationServer, JsonValue } from "oauth4webapi";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { UrlPolicy } from "../url/url-policy.js";
import { listMember, readMetadata, textMember } from "./metadata-document.js";
import type { Steps } from "./steps.js";

const STEP = "authorization server metadata";
const ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "device_authorization_endpoint",
  "revocation_endpoint",
  "introspection_endpoint",
  "pushed_authorization_request_endpoint",
] as const;
const LISTS = [
  "scopes_supported",
  "code_challenge_methods_supported",
  "token_endpoint_auth_methods_supported",
  "grant_types_supported",
  "response_types_supported",
  "dpop_signing_alg_values_supported",
  "id_token_signing_alg_values_supported",
] as const;
const FLAGS = [
  "authorization_response_iss_parameter_supported",
  "client_id_metadata_document_supported",
  "require_pushed_authorization_requests",
] as const;

/**
 * Reads the metadata of an authorization server. Tries the well-known addresses in the order that the specification
 * defines for issuers with and without a path. Throws unless the document's issuer is one of `spellings`.
 *
 * Spec: Authorization, "Authorization Server Metadata Discovery",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#authorization-server-metadata-discovery
 */
export async function findServerMetadata(
  fetch: BoundedFetch,
  issuer: string,
  policy: UrlPolicy,
  steps: Steps,
  spellings: readonly string[] = [issuer],
): Promise<AuthorizationServer | undefined> {
  for (const url of metadataUrls(issuer)) {
    const document = await readMetadata(fetch, url, STEP, steps);
    if (document === undefined) continue;
    const named = textMember(document, "issuer");
    // A document of another issuer may be a mix-up attack, so none of its members is used.
    if (named === undefined || !spellings.includes(named)) {
      throw steps.failure(
        `the metadata of ${issuer} names another issuer: ${JSON.stringify(named?.slice(0, 200))}`,
        "Correct `issuer` in the metadata or `authorization_servers` of the resource: both must be the same, character for character.",
        "wrong_issuer",
      );
    }
    return readServer(document, named, policy, steps);
  }
  return undefined;
}

/** Lists the addresses where an issuer may publish metadata, in the order to try. */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const oauth = `${origin}/.well-known/oauth-authorization-server`;
  const openid = `${origin}/.well-known/openid-configuration`;
  if (path === "") return [oauth, openid];
  return [`${oauth}${path}`, `${openid}${path}`, `${origin}${path}/.well-known/openid-configuration`];
}

/**
 * Copies the members that the flow uses. Checks the type of each, because providers send null and attackers send
 * anything. Omits endpoints whose address is not allowed.
 */
function readServer(
  document: Record<string, unknown>,
  issuer: string,
  policy: UrlPolicy,
  steps: Steps,
): AuthorizationServer {
  const server: Record<string, JsonValue> = {};
  for (const name of ENDPOINTS) {
    const url = textMember(document, name);
    if (url === undefined) continue;
    const problem = policy.problemOf(url);
    if (problem === undefined) server[name] = url;
    else steps.note(name, `${problem} and is not used`, url);
  }
  for (const name of LISTS) {
    const list = listMember(document, name);
    if (list !== undefined) server[name] = list;
  }
  for (const name of FLAGS) if (document[name] === true) server[name] = true;
  return { issuer, ...server };
}

/**
 * Returns the endpoints of a server of revision 2025-03-26 that has no metadata: fixed paths on its own origin.
 *
 * Spec: Authorization, "Fallbacks for Servers without Metadata Discovery",
 * https://modelcontextprotocol.io/specification/2025-03-26/basic/authorization#fallbacks-for-servers-without-metadata-discovery
 */
export function defaultServer(origin: string): AuthorizationServer {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
  };
}
