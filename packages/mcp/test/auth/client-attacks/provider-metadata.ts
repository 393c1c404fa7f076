/** The metadata of a provider, with `ORIGIN` for its host, and where it is published. */
export interface Provider {
  readonly name: string;
  /** The path of the issuer. */
  readonly path: string;
  /** The one path with the document. */
  readonly at: string;
  readonly document: Readonly<Record<string, unknown>>;
  /** Whether a client can register itself there. */
  readonly registers: boolean;
  /** Why a login is refused, even with a configured client; undefined if it succeeds. */
  readonly refusal?: string;
}

const endpoints = {
  authorization_endpoint: "ORIGIN/authorize",
  token_endpoint: "ORIGIN/token",
  jwks_uri: "ORIGIN/jwks",
};
const confidential = ["client_secret_post", "client_secret_basic", "private_key_jwt"];
const NO_PKCE = "does not support PKCE with S256, so a login would not be safe";

/** Written by hand after what these providers publish: null and missing members, and members that nobody knows. */
export const PROVIDERS: readonly Provider[] = [
  {
    name: "Entra ID, v2.0",
    path: "/8f1e/v2.0",
    at: "/8f1e/v2.0/.well-known/openid-configuration",
    registers: false,
    refusal: NO_PKCE,
    document: {
      ...endpoints,
      issuer: "ORIGIN/8f1e/v2.0",
      token_endpoint_auth_methods_supported: confidential,
      response_modes_supported: ["query", "fragment", "form_post"],
      subject_types_supported: ["pairwise"],
      response_types_supported: ["code", "id_token", "code id_token", "id_token token"],
      scopes_supported: ["openid", "profile", "email", "offline_access"],
      request_uri_parameter_supported: false,
      http_logout_supported: true,
      tenant_region_scope: null,
      cloud_instance_name: "microsoftonline.com",
    },
  },
  {
    name: "Okta, a custom authorization server",
    path: "/oauth2/default",
    at: "/.well-known/oauth-authorization-server/oauth2/default",
    registers: true,
    document: {
      ...endpoints,
      issuer: "ORIGIN/oauth2/default",
      registration_endpoint: "ORIGIN/register",
      response_types_supported: ["code", "token", "id_token", "code id_token", "code token"],
      grant_types_supported: ["authorization_code", "implicit", "refresh_token", "password", "client_credentials"],
      scopes_supported: ["openid", "profile", "email", "address", "phone", "offline_access", "device_sso"],
      token_endpoint_auth_methods_supported: [...confidential, "client_secret_jwt", "none"],
      code_challenge_methods_supported: ["S256"],
      request_parameter_supported: true,
      dpop_signing_alg_values_supported: ["RS256", "ES256"],
    },
  },
  {
    name: "Auth0, whose issuer ends with a slash",
    path: "/",
    at: "/.well-known/openid-configuration",
    registers: true,
    document: {
      ...endpoints,
      issuer: "ORIGIN/",
      device_authorization_endpoint: "ORIGIN/oauth/device/code",
      registration_endpoint: "ORIGIN/register",
      revocation_endpoint: "ORIGIN/revoke",
      mfa_challenge_endpoint: "ORIGIN/mfa/challenge",
      scopes_supported: ["openid", "profile", "offline_access", "name"],
      response_types_supported: ["code", "token"],
      code_challenge_methods_supported: ["S256", "plain"],
      token_endpoint_auth_methods_supported: [...confidential, "none"],
      request_uri_parameter_supported: null,
    },
  },
  {
    name: "Cognito",
    path: "/eu-west-1_AbCdEf",
    at: "/eu-west-1_AbCdEf/.well-known/openid-configuration",
    registers: false,
    refusal: NO_PKCE,
    document: {
      ...endpoints,
      issuer: "ORIGIN/eu-west-1_AbCdEf",
      id_token_signing_alg_values_supported: ["RS256"],
      response_types_supported: ["code", "token"],
      scopes_supported: ["openid", "email", "phone", "profile"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
    },
  },
  {
    name: "Google",
    path: "",
    at: "/.well-known/openid-configuration",
    registers: false,
    document: {
      ...endpoints,
      issuer: "ORIGIN",
      device_authorization_endpoint: "ORIGIN/device/code",
      revocation_endpoint: "ORIGIN/revoke",
      response_types_supported: ["code", "token", "none"],
      scopes_supported: ["openid", "email", "profile"],
      token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
      code_challenge_methods_supported: ["plain", "S256"],
    },
  },
  {
    name: "Keycloak",
    path: "/realms/shop",
    at: "/realms/shop/.well-known/openid-configuration",
    registers: true,
    document: {
      ...endpoints,
      issuer: "ORIGIN/realms/shop",
      registration_endpoint: "ORIGIN/register",
      introspection_endpoint: "ORIGIN/introspect",
      pushed_authorization_request_endpoint: "ORIGIN/par",
      require_pushed_authorization_requests: false,
      mtls_endpoint_aliases: { token_endpoint: "ORIGIN/mtls/token" },
      token_endpoint_auth_methods_supported: ["private_key_jwt", "client_secret_basic", "none", "tls_client_auth"],
      code_challenge_methods_supported: ["plain", "S256"],
      authorization_response_iss_parameter_supported: true,
      acr_values_supported: ["0", "1"],
      dpop_signing_alg_values_supported: ["PS384", "ES384", "ES256"],
    },
  },
  {
    name: "WorkOS",
    path: "",
    at: "/.well-known/oauth-authorization-server",
    registers: true,
    document: {
      ...endpoints,
      issuer: "ORIGIN",
      introspection_endpoint: "ORIGIN/introspect",
      registration_endpoint: "ORIGIN/register",
      scopes_supported: ["email", "offline_access", "openid", "profile"],
      response_modes_supported: ["query"],
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_post", "client_secret_basic"],
      code_challenge_methods_supported: ["S256"],
      service_documentation: null,
      revocation_endpoint: null,
      device_authorization_endpoint: null,
    },
  },
];
