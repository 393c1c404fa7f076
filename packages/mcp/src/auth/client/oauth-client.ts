import * as oauth from "oauth4webapi";
import { toBase64 } from "../../encoding/base64.js";

/** A client that an authorization server knows. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /**
   * The issuer that knows this client. The client is never shown to another one. Default: whichever the server names; a secret
   * belongs to the first issuer that it is sent to, which the token store remembers.
   */
  readonly issuer?: string | undefined;
  /** How the client proves who it is. Default: the strongest way that both sides support. */
  readonly authMethod?: ClientAuthMethod | undefined;
  /** Signs assertions for `private_key_jwt`. */
  readonly privateKey?: CryptoKey | oauth.PrivateKey | undefined;
}

/** How a client proves who it is at the token endpoint. */
export type ClientAuthMethod = "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none";

/** The methods that the client can use, best first. */
function possible({ clientSecret, privateKey }: OAuthClient): ClientAuthMethod[] {
  if (privateKey !== undefined) return ["private_key_jwt"];
  return clientSecret === undefined ? ["none"] : ["client_secret_basic", "client_secret_post"];
}

/** The method to use: what was registered, else the first that both sides can. RFC 8414: without a list it is Basic. */
function authMethodOf(client: OAuthClient, server: oauth.AuthorizationServer): ClientAuthMethod {
  const [first = "none", ...others] = possible(client);
  if (client.authMethod !== undefined) return client.authMethod;
  const supported = server.token_endpoint_auth_methods_supported;
  return supported === undefined ? first : ([first, ...others].find((method) => supported.includes(method)) ?? first);
}

/** Makes the authentication of the client for `oauth4webapi`. Throws if the client lacks what the method needs. */
export function clientAuthentication(client: OAuthClient, server: oauth.AuthorizationServer): oauth.ClientAuth {
  const method = authMethodOf(client, server);
  if (method === "none") return oauth.None();
  if (method === "private_key_jwt") {
    if (client.privateKey === undefined) throw new TypeError("the method private_key_jwt needs `privateKey`");
    // Servers disagree whether the audience is the issuer or the token endpoint; the issuer is what RFC 7523bis asks for.
    return oauth.PrivateKeyJwt(client.privateKey);
  }
  if (client.clientSecret === undefined) throw new TypeError(`the method ${method} needs \`clientSecret\``);
  return method === "client_secret_basic" ? basic(client.clientSecret) : oauth.ClientSecretPost(client.clientSecret);
}

/**
 * RFC 6749, 2.3.1: id and secret are form-encoded. `oauth4webapi` also escapes what needs no escape, such as `-`, which servers that
 * do not decode take for another client.
 */
function basic(secret: string): oauth.ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    headers.set("authorization", `Basic ${credentials(id, secret)}`);
  };
}

/** A value as it is spelled in the body of a form. */
export const formEncoded = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);

function credentials(id: string, secret: string): string {
  return toBase64(new TextEncoder().encode(`${formEncoded(id)}:${formEncoded(secret)}`));
}

/** A client's secret, and the header that it is sent in. */
export function secretsOf({ clientId, clientSecret }: OAuthClient): string[] {
  if (clientSecret === undefined) return [];
  return [clientSecret, credentials(clientId, clientSecret)];
}
