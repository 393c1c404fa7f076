import * as oauth from "oauth4webapi";
import type { Platform } from "../../platform/platform.js";
import { clientAuthentication, type OAuthClient } from "../client/oauth-client.js";
import { requestOptions, requestToken } from "../client/token-request.js";
import { parseObject } from "../discovery/metadata-document.js";
import { findServerMetadata } from "../discovery/server-metadata.js";
import { Steps } from "../discovery/steps.js";
import { DEFAULT_ALGORITHMS } from "../resource/jwt-verifier.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { UrlPolicy } from "../url/url-policy.js";
import type { UpstreamTokens } from "./proxy-grants.js";

/** The provider behind the proxy, and the one application that it knows. */
export interface UpstreamOptions {
  /** The issuer, for providers with metadata. */
  issuer: string;
  /** The application that was registered with the provider by hand. Its redirect address is `/oauth/callback` of this server. */
  client: OAuthClient;
  /** Scopes that are asked of the provider, for example `["openid", "email"]`. */
  scopes?: readonly string[] | undefined;
  /** The endpoints of providers without metadata, such as GitHub. */
  endpoints?: { authorization: string; token: string } | undefined;
  /**
   * The signature algorithms of the provider's identity tokens, such as `["ES256"]`. Default: those that its metadata lists, else
   * every asymmetric one. The tokens come from the token endpoint itself, so that the connection vouches for them.
   */
  idTokenAlgorithms?: readonly string[] | undefined;
  /** More parameters for the provider's login page. */
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** Who logged in at the provider. */
export interface UpstreamLogin {
  readonly tokens: UpstreamTokens;
  /** The claims of the identity token, where the provider gave one. */
  readonly idToken: Readonly<Record<string, unknown>> | undefined;
}

/** The parts of `Upstream`. */
export interface UpstreamParts {
  readonly options: UpstreamOptions;
  readonly redirectUri: string;
  readonly fetch: BoundedFetch;
  readonly policy: UrlPolicy;
  readonly platform: Platform;
}

/** The provider, as a client of it sees it. */
export class Upstream {
  readonly #parts: UpstreamParts;
  #server: Promise<oauth.AuthorizationServer> | undefined;

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
  }

  /** The address of the provider's login page. */
  async loginUrl(state: string, verifier: string): Promise<string> {
    const { options, redirectUri } = this.#parts;
    const server = await this.#metadata();
    const url = new URL(server.authorization_endpoint ?? "");
    const parameters = {
      ...options.parameters,
      response_type: "code",
      client_id: options.client.clientId,
      redirect_uri: redirectUri,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(options.scopes === undefined ? {} : { scope: options.scopes.join(" ") }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Exchanges the code in the provider's answer. Rejects for an answer that is not the provider's own. */
  async finish(answer: URLSearchParams, state: string, verifier: string): Promise<UpstreamLogin> {
    const { options, redirectUri, fetch, platform } = this.#parts;
    const server = await this.#metadata();
    const me: oauth.Client = { client_id: options.client.clientId };
    const valid = oauth.validateAuthResponse(server, me, answer, state);
    const authentication = clientAuthentication(options.client, server);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      me,
      authentication,
      valid,
      redirectUri,
      verifier,
      requestOptions(fetch),
    );
    const accepting = { ...server, id_token_signing_alg_values_supported: this.#algorithms(server) };
    const granted = await oauth.processAuthorizationCodeResponse(accepting, me, await tidied(response));
    return {
      idToken: oauth.getValidatedIdTokenClaims(granted),
      tokens: {
        accessToken: granted.access_token,
        refreshToken: granted.refresh_token,
        expiresAt: granted.expires_in === undefined ? undefined : platform.now() + granted.expires_in * 1_000,
      },
    };
  }

  /** New tokens for old ones. Rejects if the provider has ended the login. */
  async refresh({ refreshToken = "" }: UpstreamTokens): Promise<UpstreamTokens> {
    const { options, fetch, platform } = this.#parts;
    const server = await this.#metadata();
    const parts = { server, client: options.client, fetch, platform, dpop: undefined };
    const granted = await requestToken(parts, "refresh_token", { refresh_token: refreshToken });
    const { accessToken, expiresAt } = granted;
    return { accessToken, refreshToken: granted.refreshToken ?? refreshToken, expiresAt };
  }

  /** An identity token without a signature is never accepted. */
  #algorithms({ id_token_signing_alg_values_supported: listed }: oauth.AuthorizationServer): string[] {
    const wanted = this.#parts.options.idTokenAlgorithms ?? listed ?? DEFAULT_ALGORITHMS;
    return wanted.filter((algorithm) => algorithm !== "none");
  }

  /** Fetched once; a failure is tried again with the next login. */
  #metadata(): Promise<oauth.AuthorizationServer> {
    this.#server ??= this.#find().catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
    return this.#server;
  }

  async #find(): Promise<oauth.AuthorizationServer> {
    const { options, fetch, policy } = this.#parts;
    const { issuer, endpoints } = options;
    if (endpoints !== undefined) {
      return { issuer, authorization_endpoint: endpoints.authorization, token_endpoint: endpoints.token };
    }
    const steps = new Steps();
    const found = await findServerMetadata(fetch, issuer, policy, steps);
    if (found?.authorization_endpoint !== undefined) return found;
    throw steps.failure(`the provider ${issuer} publishes no metadata`, "Set `endpoints` of `upstream`.");
  }
}

/**
 * The answer of a token endpoint in the form that the specification has: GitHub answers a form unless it is asked for JSON, and
 * other providers send null, or an empty refresh token, for what they do not give.
 */
async function tidied(response: Response): Promise<Response> {
  const text = await response.text();
  const isForm = /^application\/x-www-form-urlencoded/.test(response.headers.get("content-type") ?? "");
  const headers = isForm ? { "content-type": "application/json" } : response.headers;
  const members = isForm ? Object.fromEntries(new URLSearchParams(text)) : parseObject(text);
  const given = Object.entries(members ?? {}).filter(
    ([name, value]) => value !== null && `${name} ${value}` !== "refresh_token ",
  );
  const body = members === undefined ? text : JSON.stringify(Object.fromEntries(given));
  return new Response(body, { status: response.status, headers });
}
