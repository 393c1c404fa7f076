import * as oauth from "oauth4webapi";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { clientAuthentication, type OAuthClient } from "./oauth-client.js";
import type { TokenRecord } from "./token-record.js";
import { requestOptions } from "./token-request.js";

/** Revokes a token where the server offers it (RFC 7009); with the refresh token, everything that came from it ends. */
export async function revokeToken(
  fetch: BoundedFetch,
  server: oauth.AuthorizationServer,
  client: OAuthClient,
  { refreshToken, accessToken }: TokenRecord,
): Promise<void> {
  if (server.revocation_endpoint === undefined) return;
  const me: oauth.Client = { client_id: client.clientId };
  const authentication = clientAuthentication(client, server);
  await oauth.revocationRequest(server, me, authentication, refreshToken ?? accessToken, requestOptions(fetch));
}
