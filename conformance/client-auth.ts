import {
  clientCredentials,
  enterpriseManaged,
  type Grant,
  type OAuth,
  oauth,
  redirectLogin,
  workloadIdentity,
} from "@parley/mcp/auth";
import { importPKCS8 } from "jose";

/** What the referee tells about clients and keys. */
export interface AuthContext {
  client_id?: string;
  client_secret?: string;
  issuer?: string;
  private_key_pem?: string;
  signing_algorithm?: string;
  idp_client_id?: string;
  idp_id_token?: string;
  idp_issuer?: string;
  idp_token_endpoint?: string;
  valid_jwt?: string;
}

const REDIRECT_URI = "http://127.0.0.1:33418/callback";

/** The referee's authorization server sends the user back at once, so that no browser is needed. */
const login = redirectLogin({
  redirectUri: REDIRECT_URI,
  async visit(url) {
    const { headers } = await fetch(url, { redirect: "manual" });
    return new URL(headers.get("location") ?? "", url);
  },
});

/** The credentials of a scenario. */
export async function authOf(scenario: string, context: AuthContext): Promise<OAuth> {
  const grant = await grantOf(scenario, context);
  if (grant !== undefined) return oauth({ grant });
  const { client_id: clientId, client_secret: clientSecret, issuer } = context;
  return oauth({
    login,
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    ...(clientId === undefined ? {} : { client: { clientId, clientSecret, issuer } }),
  });
}

async function grantOf(scenario: string, context: AuthContext): Promise<Grant | undefined> {
  const { client_id: clientId = "", client_secret: clientSecret } = context;
  switch (scenario) {
    case "auth/client-credentials-basic":
      return clientCredentials({ clientId, clientSecret });
    case "auth/client-credentials-jwt": {
      const { private_key_pem: pem = "", signing_algorithm: algorithm = "ES256" } = context;
      return clientCredentials({ clientId, privateKey: await importPKCS8(pem, algorithm) });
    }
    case "auth/wif-jwt-bearer":
      return workloadIdentity({ client: { clientId }, assertion: context.valid_jwt ?? "" });
    case "auth/enterprise-managed-authorization":
      return enterpriseManaged({
        client: { clientId, clientSecret },
        identityProvider: {
          clientId: context.idp_client_id ?? "",
          issuer: context.idp_issuer ?? "",
          tokenEndpoint: context.idp_token_endpoint ?? "",
        },
        idToken: context.idp_id_token ?? "",
      });
    default:
      return undefined;
  }
}
