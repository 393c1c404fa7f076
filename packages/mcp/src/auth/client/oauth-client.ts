import * as oauth from "oauth4webapi";
import { toBase64 } from "../../encoding/base64.js";

/** A client that is registered with an authorization server. */
export interface OAuthClient {
  /** The `client_id` that the authorization server issued. */
  readonly clientId: string;
  /** The client's secret. Default: none, for a public client or one with a `privateKey`. */
  readonly clientSecret?: string | undefined;
  /**
   * The issuer that the client is registered with. The client's credentials are never sent to another issuer. Default:
   * the issuer that the MCP server names. A client with a secret is then bound to the first issuer that receives the
   * secret. The token store records that issuer.
   */
  readonly issuer?: string | undefined;
  /** How the client authenticates at the token endpoint. Default: the strongest method that both sides support. */
  readonly authMethod?: ClientAuthMethod | undefined;
  /** Signs the assertions of `private_key_jwt`. */
  readonly privateKey?: CryptoKey | { readonly key: CryptoKey; readonly kid?: string } | undefined;
}

/** How a client authenticates at the token endpoint. */
export type ClientAuthMethod = "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none";

/** Lists the methods that the client has credentials for, best first. */
function possibleMethods({ clientSecret, privateKey }: OAuthClient): ClientAuthMethod[] {
  if (privateKey !== undefined) return ["private_key_jwt"];
  return clientSecret === undefined ? ["none"] : ["client_secret_basic", "client_secret_post"];
}

/**
 * Selects the method: the configured one, else the first that both sides support, else the first that the client has
 * credentials for. If the server lists no methods, the default of RFC 8414 applies: `client_secret_basic` for a client
 * with a secret.
 */
function authMethodOf(client: OAuthClient, server: oauth.AuthorizationServer): ClientAuthMethod {
  const [first = "none", ...others] = possibleMethods(client);
  if (client.authMethod !== undefined) return client.authMethod;
  const supported = server.token_endpoint_auth_methods_supported;
  return supported === undefined ? first : ([first, ...others].find((method) => supported.includes(method)) ?? first);
}

/** Creates the client authentication for `oauth4webapi`. Throws if the client lacks a credential for the method. */
export function clientAuthentication(client: OAuthClient, server: oauth.AuthorizationServer): oauth.ClientAuth {
  const method = authMethodOf(client, server);
  if (method === "none") return oauth.None();
  if (method === "private_key_jwt") {
    if (client.privateKey === undefined) throw new TypeError("the method private_key_jwt needs `privateKey`");
    // Servers disagree on whether the audience is the issuer or the token endpoint. RFC 7523bis requires the issuer,
    // which `oauth4webapi` uses.
    return oauth.PrivateKeyJwt(client.privateKey);
  }
  if (client.clientSecret === undefined) throw new TypeError(`the method ${method} needs \`clientSecret\``);
  return method === "client_secret_basic"
    ? basicAuthentication(client.clientSecret)
    : oauth.ClientSecretPost(client.clientSecret);
}

/**
 * Form-encodes id and secret as in RFC 6749, 2.3.1. Replaces the function of `oauth4webapi`, which also escapes
 * characters such as `-`, so that a server that does not decode the header would read a different client id.
 */
function basicAuthentication(secret: string): oauth.ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    headers.set("authorization", `Basic ${credentials(id, secret)}`);
  };
}

/** Encodes a value as in a form body. */
export const formEncoded = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);

function credentials(id: string, secret: string): string {
  return toBase64(new TextEncoder().encode(`${formEncoded(id)}:${formEncoded(secret)}`));
}

/** Returns the client's secret in each form in which it is sent. */
export function secretsOf({ clientId, clientSecret }: OAuthClient): string[] {
  if (clientSecret === undefined) return [];
  return [clientSecret, credentials(clientId, clientSecret)];
}
