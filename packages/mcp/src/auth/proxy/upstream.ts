import * as oauth from "oauth4webapi";
import type { Principal } from "../../http/authentication.js";
import { pause } from "../../platform/pause.js";
import type { Platform } from "../../platform/platform.js";
import type { KeyValue } from "../../storage/storage.js";
import { clientAuthentication, type OAuthClient } from "../client/oauth-client.js";
import { requestOptions, requestToken } from "../client/token-request.js";
import { parseObject } from "../discovery/metadata-document.js";
import { findServerMetadata } from "../discovery/server-metadata.js";
import { once, Steps } from "../discovery/steps.js";
import { DEFAULT_ALGORITHMS } from "../resource/jwt-verifier.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { UrlPolicy } from "../url/url-policy.js";
import type { ProxyGrants, UpstreamTokens } from "./proxy-grants.js";

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

/** A login at the provider. */
export interface UpstreamLogin {
  readonly tokens: UpstreamTokens;
  /** The claims of the identity token, where the provider gave one. */
  readonly idToken: Readonly<Record<string, unknown>> | undefined;
}

interface UpstreamParts {
  readonly options: UpstreamOptions;
  readonly redirectUri: string;
  readonly fetch: BoundedFetch;
  readonly policy: UrlPolicy;
  readonly platform: Platform;
}

/** The provider, as a client of it sees it. */
export class Upstream {
  readonly #parts: UpstreamParts;
  readonly #metadata = once(() => this.#find());

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

interface UpstreamAccessParts {
  readonly grants: ProxyGrants;
  readonly upstream: Upstream;
  readonly kv: KeyValue;
  readonly platform: Platform;
}

/** How long the other nodes wait for one that crashed while it renewed a token. A node that lives extends it. */
const LEASE_MS = 5_000;
const EXTEND_MS = 1_500;
/** How often a node looks whether another one has finished. */
const POLL_MS = 100;
/** A minute: longer than a provider has for its answer. */
const MAX_POLLS = 600;
/** How long those who waited learn that the provider refused, instead of asking it once each. */
const FAILED_MS = 1_000;
const [HELD, FAILED] = ["held", "failed"];

/** The provider's tokens, for calls that the server makes for its callers. */
export class UpstreamAccess {
  readonly #parts: UpstreamAccessParts;
  /** One renewal for each grant: providers end a login whose refresh token comes twice. */
  readonly #renewing = new Map<string, Promise<string | undefined>>();

  constructor(parts: UpstreamAccessParts) {
    this.#parts = parts;
  }

  /** The token of a caller, renewed if it must be; undefined if the login has ended. */
  async token(caller: Principal): Promise<string | undefined> {
    const id = caller.claims?.["grant"];
    if (typeof id !== "string") return undefined;
    const renewing = this.#renewing.get(id);
    if (renewing !== undefined) return renewing;
    const grant = await this.#parts.grants.find(id);
    if (grant === undefined) return undefined;
    const { accessToken, expiresAt, refreshToken } = grant.upstream;
    if (expiresAt === undefined || expiresAt > this.#parts.platform.now()) return accessToken;
    if (refreshToken === undefined) return undefined;
    const mine = this.#renewing.get(id) ?? this.#renewed(id, accessToken).finally(() => this.#renewing.delete(id));
    this.#renewing.set(id, mine);
    return mine;
  }

  /** Renews a token on one node at a time; the others wait for its result. Undefined if it could not be renewed. */
  async #renewed(id: string, old: string): Promise<string | undefined> {
    const { grants, kv, platform } = this.#parts;
    const key = grants.key("renewal", id);
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const lease = await kv.get(key);
      // Read after the lease: a renewal that ended before is in the grant.
      const grant = await grants.find(id);
      if (grant === undefined) return undefined;
      if (grant.upstream.accessToken !== old) return grant.upstream.accessToken;
      if (lease?.value === FAILED && polls > 0) return undefined;
      if (lease?.value !== HELD) {
        const version = await kv.set(key, HELD, { ttlMs: LEASE_MS, ifVersion: lease?.version ?? 0 });
        if (version !== undefined) return this.#renew(id, old, key, version);
      }
      await pause(platform, POLL_MS, undefined, true);
    }
    return undefined;
  }

  /** Renews a token under the lease, and gives the lease back. */
  async #renew(id: string, old: string, key: string, version: number): Promise<string | undefined> {
    const { grants, kv } = this.#parts;
    const stop = this.#extend(key);
    let isDone = false;
    try {
      const grant = await grants.find(id);
      // Another node may have finished between the look at the grant and the lease.
      isDone = grant?.upstream.accessToken !== old;
      if (grant === undefined || isDone) return grant?.upstream.accessToken;
      const fresh = await this.#parts.upstream.refresh(grant.upstream).catch(() => undefined);
      if (fresh === undefined) return undefined;
      const changed = await grants.change(id, (current) => ({ ...current, upstream: fresh }));
      isDone = true;
      return changed?.upstream.accessToken;
    } finally {
      stop();
      await (isDone
        ? kv.delete(key, { ifVersion: version })
        : kv.set(key, FAILED, { ttlMs: FAILED_MS, ifVersion: version }));
    }
  }

  /** Keeps the lease until the returned function is called. */
  #extend(key: string): () => void {
    const { kv, platform } = this.#parts;
    let timer = platform.timer(EXTEND_MS, extend);
    async function extend(): Promise<void> {
      timer = platform.timer(EXTEND_MS, extend);
      try {
        await kv.touch(key, LEASE_MS);
      } catch {
        // Without the storage the lease runs out, as it must.
      }
    }
    return () => timer.cancel();
  }
}
