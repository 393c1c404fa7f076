import { transports } from "#transports";
import { createOAuthProxy, type OAuthProxy, type OAuthProxyOptions } from "./auth/proxy/oauth-proxy.js";

export {
  clientCredentials,
  type EnterpriseManagedOptions,
  enterpriseManaged,
  type Grant,
  type GrantRequest,
  type WorkloadIdentityOptions,
  workloadIdentity,
} from "./auth/client/grant.js";
export {
  type DevicePrompt,
  deviceLogin,
  type Login,
  type LoginAttempt,
  type RedirectLoginOptions,
  redirectLogin,
} from "./auth/client/login.js";
export { bearerToken, type OAuth, type OAuthOptions, oauth } from "./auth/client/oauth.js";
export type { ClientAuthMethod, OAuthClient } from "./auth/client/oauth-client.js";
export { memoryTokenStore, type TokenStore } from "./auth/client/token-store.js";
export type { AuthorizationStep } from "./auth/discovery/steps.js";
export type { OAuthProxy, OAuthProxyOptions } from "./auth/proxy/oauth-proxy.js";
export type { ProxyIdentity } from "./auth/proxy/proxy-login.js";
export type { UpstreamLogin, UpstreamOptions } from "./auth/proxy/upstream.js";
export type { TrustedIssuer } from "./auth/resource/jwt-verifier.js";
export type { ProtectedResource } from "./auth/resource/protected-resource.js";
export { type ResourceServerOptions, resourceServer } from "./auth/resource/resource-server.js";
export { type TokenExchange, type TokenExchangeOptions, tokenExchange } from "./auth/resource/token-exchange.js";
export type { TokenRefusal } from "./auth/resource/token-refusal.js";
export {
  InvalidToken,
  type InvalidTokenDetails,
  type TokenRefusalReason,
  type TokenVerifier,
  type VerifiedToken,
} from "./auth/resource/verified-token.js";
export type { AuthorizedTarget, RequestAuthorization } from "./http/request-authorization.js";

/**
 * Lets MCP clients log in at a provider that offers no dynamic registration, such as GitHub, Google or Entra. For MCP
 * clients, this server is the authorization server. For the provider, this server is one registered application.
 *
 * Clients get tokens that this server issues for itself. The provider's tokens stay in the storage, sealed. Users
 * consent to each client.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/oauth-proxy.md | OAuth proxy}
 */
export function oauthProxy(options: OAuthProxyOptions): OAuthProxy {
  return createOAuthProxy(options, transports.sender);
}
