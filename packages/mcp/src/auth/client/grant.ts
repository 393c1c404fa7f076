import * as oauth from "oauth4webapi";
import type { Discovered } from "../discovery/discover.js";
import { hookResult } from "../discovery/steps.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { OAuthClient } from "./oauth-client.js";
import { postTokenRequest } from "./token-request.js";

/** The request that a grant makes parameters for. */
export interface GrantRequest extends Discovered {
  readonly scopes: readonly string[];
  /** Sends within the rules for addresses, sizes and times. */
  readonly fetch: BoundedFetch;
}

/** How a program gets a token without a user: the client to be, and what to send to the token endpoint. */
export interface Grant {
  readonly client: OAuthClient;
  readonly grantType: string;
  /** Parameters of the token request beside `resource` and `scope`. */
  parameters(request: GrantRequest): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
}

/** The grant of a program that acts for itself. Prefer `privateKey` to `clientSecret`. */
export function clientCredentials(client: OAuthClient): Grant {
  return { client, grantType: "client_credentials", parameters: () => ({}) };
}

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Options for `workloadIdentity`. */
export interface WorkloadIdentityOptions {
  /** The client that the authorization server knows the workload as. */
  client: OAuthClient;
  /** The token that the platform gives to the workload; a function is called for each request, because such tokens expire. */
  assertion: string | (() => string | Promise<string>);
}

/** The grant of a workload that its platform vouches for: Kubernetes, a cloud, a build system. */
export function workloadIdentity({ client, assertion }: WorkloadIdentityOptions): Grant {
  return {
    client,
    grantType: JWT_BEARER,
    parameters: async () => ({
      // Files of Kubernetes may end with a line break.
      assertion: (typeof assertion === "string" ? assertion : await hookResult("assertion", assertion)).trim(),
    }),
  };
}

/** Options for `enterpriseManaged`. */
export interface EnterpriseManagedOptions {
  /** The client at the authorization server of the MCP server. */
  client: OAuthClient;
  /** The client at the identity provider of the company. */
  identityProvider: OAuthClient & { issuer: string; tokenEndpoint: string };
  /** The user's identity token; a function is called for each request. */
  idToken: string | (() => string | Promise<string>);
}

const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
/** RFC 8693, 2.2.1: the type of what is no access token, in the lower case of `oauth4webapi`. */
const NOT_APPLICABLE = "n_a";

/** The grant of a company that manages access by its identity provider: the user's identity becomes an assertion for each server. */
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
      // Anything else, such as an access token of the provider, is not for the server's authorization server to see.
      if (processed["issued_token_type"] !== ID_JAG || processed.token_type !== NOT_APPLICABLE) {
        throw new oauth.OperationProcessingError(
          `${provider.issuer} answered the token exchange with something that is no ID-JAG`,
        );
      }
      return { assertion: processed.access_token };
    },
  };
}
