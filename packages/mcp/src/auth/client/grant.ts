import * as oauth from "oauth4webapi";
import { hookResult } from "../discovery/steps.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { OAuthClient } from "./oauth-client.js";
import { postTokenRequest } from "./token-request.js";

/** The token request that a grant supplies parameters for. */
export interface GrantRequest {
  /** The resource that the token is requested for (RFC 8707). */
  readonly resource: string;
  /** Metadata of the authorization server (RFC 8414). */
  readonly server: { readonly issuer: string; readonly [member: string]: unknown };
  /** Scopes that the token is requested with. May be empty. */
  readonly scopes: readonly string[];
  /** True if the server accepts only tokens that are bound to a key (DPoP). */
  readonly requiresDpop: boolean;
  /** Sends a request, within limits on addresses, sizes and times. */
  readonly fetch: BoundedFetch;
}

/**
 * A way for a program to get a token without a user: the client to act as, and the parameters for the token endpoint.
 */
export interface Grant {
  /** The client that requests the token. */
  readonly client: OAuthClient;
  /** Value of `grant_type` in the token request. */
  readonly grantType: string;
  /** Parameters of the token request in addition to `resource` and `scope`. */
  parameters(request: GrantRequest): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
}

/**
 * Returns the grant for a program that acts on its own behalf. Prefer `privateKey` to `clientSecret`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/machine-to-machine.md | Machine to machine}
 */
export function clientCredentials(client: OAuthClient): Grant {
  return { client, grantType: "client_credentials", parameters: () => ({}) };
}

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Options for `workloadIdentity`. */
export interface WorkloadIdentityOptions {
  /** The client that the workload is registered as at the authorization server. */
  client: OAuthClient;
  /**
   * The token that the platform issues to the workload. A function is called for each token request, because such
   * tokens expire.
   */
  assertion: string | (() => string | Promise<string>);
}

/**
 * Returns the grant of a workload whose platform issues identity tokens, such as Kubernetes, a cloud or a build system.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/machine-to-machine.md | Machine to machine}
 */
export function workloadIdentity({ client, assertion }: WorkloadIdentityOptions): Grant {
  return {
    client,
    grantType: JWT_BEARER,
    parameters: async () => ({
      // A token read from a file that Kubernetes mounts may end with a line break.
      assertion: (typeof assertion === "string" ? assertion : await hookResult("assertion", assertion)).trim(),
    }),
  };
}

/** Options for `enterpriseManaged`. */
export interface EnterpriseManagedOptions {
  /** The client at the authorization server of the MCP server. */
  client: OAuthClient;
  /** The client at the company's identity provider, with the issuer and token endpoint of that provider. */
  identityProvider: OAuthClient & { issuer: string; tokenEndpoint: string };
  /** The user's identity token. A function is called for each token request. */
  idToken: string | (() => string | Promise<string>);
}

const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
/**
 * RFC 8693, 2.2.1: the `token_type` of a token that is not an access token, in lower case because `oauth4webapi`
 * lowercases it.
 */
const NOT_APPLICABLE = "n_a";

/**
 * Returns the grant for a company that manages access through its identity provider. The grant exchanges the user's
 * identity token for an assertion (ID-JAG) that the authorization server of the MCP server accepts.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/machine-to-machine.md | Machine to machine}
 */
export function enterpriseManaged({ client, identityProvider, idToken }: EnterpriseManagedOptions): Grant {
  return {
    client,
    grantType: JWT_BEARER,
    async parameters({ server, resource, scopes, fetch }) {
      const provider: oauth.AuthorizationServer = {
        issuer: identityProvider.issuer,
        token_endpoint: identityProvider.tokenEndpoint,
      };
      const processed = await postTokenRequest(
        { server: provider, client: identityProvider, fetch, dpop: undefined },
        TOKEN_EXCHANGE,
        {
          requested_token_type: ID_JAG,
          audience: server.issuer,
          resource,
          subject_token: typeof idToken === "string" ? idToken : await hookResult("idToken", idToken),
          subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
          ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
        },
        [NOT_APPLICABLE],
      );
      // Any other token, such as an access token of the provider, must not be sent to the authorization server of the
      // MCP server.
      if (processed["issued_token_type"] !== ID_JAG || processed.token_type !== NOT_APPLICABLE) {
        throw new oauth.OperationProcessingError(
          `${provider.issuer} answered the token exchange with a token that is not an ID-JAG`,
        );
      }
      return { assertion: processed.access_token };
    },
  };
}
