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

/** The provider where the proxy logs users in, and the one application that is registered there. */
export interface UpstreamOptions {
  /** The issuer of the provider. Unless `endpoints` is set, the proxy reads the metadata that the issuer publishes. */
  issuer: string;
  /**
   * The application that you registered with the provider by hand. Its redirect address is `/oauth/callback` on this
   * server.
   */
  client: OAuthClient;
  /** Scopes to request from the provider, for example `["openid", "email"]`. Default: none. */
  scopes?: readonly string[] | undefined;
  /** The endpoints of a provider without metadata, such as GitHub. Default: those in its metadata. */
  endpoints?: { authorization: string; token: string } | undefined;
  /**
   * Accepted signature algorithms of the provider's identity tokens, such as `["ES256"]`. Default: those that its
   * metadata lists, else all asymmetric ones. Any of them is safe, because the tokens come directly from the token
   * endpoint and the connection authenticates them.
   */
  idTokenAlgorithms?: readonly string[] | undefined;
  /** Additional parameters for the provider's login page. Default: none. */
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** A login at the provider. */
export interface UpstreamLogin {
  /** The provider's tokens. Use them to call the provider, for example to look up the user. */
  readonly tokens: UpstreamTokens;
  /** The claims of the identity token. Undefined if the provider issued none. */
  readonly idToken: Readonly<Record<string, unknown>> | undefined;
}

/** Configuration of `Upstream`. */
interface UpstreamConfig {
  readonly options: UpstreamOptions;
  readonly redirectUri: string;
  readonly fetch: BoundedFetch;
  readonly policy: UrlPolicy;
  readonly platform: Platform;
}

/** Logs users in at the provider and refreshes its tokens, as a client of the provider. */
export class Upstream {
  readonly #config: UpstreamConfig;
  readonly #metadata = once(() => this.#find());

  constructor(config: UpstreamConfig) {
    this.#config = config;
  }

  /** Returns the address of the provider's login page. */
  async loginUrl(state: string, verifier: string): Promise<string> {
    const { options, redirectUri } = this.#config;
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

  /** Exchanges the code in the provider's redirect. Rejects if the redirect does not come from the provider. */
  async finish(answer: URLSearchParams, state: string, verifier: string): Promise<UpstreamLogin> {
    const { options, redirectUri, fetch, platform } = this.#config;
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
    const granted = await oauth.processAuthorizationCodeResponse(accepting, me, await normalizedResponse(response));
    return {
      idToken: oauth.getValidatedIdTokenClaims(granted),
      tokens: {
        accessToken: granted.access_token,
        refreshToken: granted.refresh_token,
        expiresAt: granted.expires_in === undefined ? undefined : platform.now() + granted.expires_in * 1_000,
      },
    };
  }

  /**
   * Refreshes the provider's tokens. Rejects if the request fails, for example because the provider has ended the
   * login.
   */
  async refresh({ refreshToken = "" }: UpstreamTokens): Promise<UpstreamTokens> {
    const { options, fetch, platform } = this.#config;
    const server = await this.#metadata();
    const request = { server, client: options.client, fetch, platform, dpop: undefined };
    const granted = await requestToken(request, "refresh_token", { refresh_token: refreshToken });
    const { accessToken, expiresAt } = granted;
    return { accessToken, refreshToken: granted.refreshToken ?? refreshToken, expiresAt };
  }

  /** Returns the accepted algorithms. Never includes `none`: an unsigned identity token is not accepted. */
  #algorithms({ id_token_signing_alg_values_supported: listed }: oauth.AuthorizationServer): string[] {
    const wanted = this.#config.options.idTokenAlgorithms ?? listed ?? DEFAULT_ALGORITHMS;
    return wanted.filter((algorithm) => algorithm !== "none");
  }

  async #find(): Promise<oauth.AuthorizationServer> {
    const { options, fetch, policy } = this.#config;
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
 * Converts a token response to the standard form: GitHub sends a form unless JSON is requested, and other providers
 * send null or an empty refresh token for missing values.
 */
async function normalizedResponse(response: Response): Promise<Response> {
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

/** Options for `UpstreamAccess`. */
interface UpstreamAccessOptions {
  readonly grants: ProxyGrants;
  readonly upstream: Upstream;
  readonly kv: KeyValue;
  readonly platform: Platform;
}

/**
 * Lifetime of the renewal lease. If the node that holds the lease crashes, other nodes wait this long. A running node
 * extends its lease.
 */
const LEASE_MS = 5_000;
const EXTEND_MS = 1_500;
/** Interval at which a waiting node checks if another node has finished the renewal. */
const POLL_MS = 100;
/**
 * Maximum number of checks. They last one minute in total, longer than the timeout of a request to the provider. After
 * that, the renewal counts as failed.
 */
const MAX_POLLS = 600;
/**
 * Time for which a failed renewal is recorded, so that the waiting nodes do not all send another request to the
 * provider.
 */
const FAILED_MS = 1_000;
const [HELD, FAILED] = ["held", "failed"];

/** Returns the provider's tokens, for calls that the server makes on behalf of its callers. */
export class UpstreamAccess {
  readonly #options: UpstreamAccessOptions;
  /** One renewal per grant: providers end a login if its refresh token is used twice. */
  readonly #renewing = new Map<string, Promise<string | undefined>>();

  constructor(options: UpstreamAccessOptions) {
    this.#options = options;
  }

  /**
   * Returns the token of a caller, renewed if it has expired. Undefined if the caller has no grant, the login has ended
   * or the renewal failed.
   */
  async token(caller: Principal): Promise<string | undefined> {
    const id = caller.claims?.["grant"];
    if (typeof id !== "string") return undefined;
    const renewing = this.#renewing.get(id);
    if (renewing !== undefined) return renewing;
    const grant = await this.#options.grants.find(id);
    if (grant === undefined) return undefined;
    const { accessToken, expiresAt, refreshToken } = grant.upstream;
    if (expiresAt === undefined || expiresAt > this.#options.platform.now()) return accessToken;
    if (refreshToken === undefined) return undefined;
    const mine =
      this.#renewing.get(id) ?? this.#renewOnOneNode(id, accessToken).finally(() => this.#renewing.delete(id));
    this.#renewing.set(id, mine);
    return mine;
  }

  /** Renews a token on one node at a time. The other nodes wait for the result. Undefined if the renewal failed. */
  async #renewOnOneNode(id: string, old: string): Promise<string | undefined> {
    const { grants, kv, platform } = this.#options;
    const key = grants.key("renewal", id);
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const lease = await kv.get(key);
      // Read the grant after the lease: if a renewal has just released the lease, its result is already in the grant.
      const grant = await grants.find(id);
      if (grant === undefined) return undefined;
      if (grant.upstream.accessToken !== old) return grant.upstream.accessToken;
      if (lease?.value === FAILED && polls > 0) return undefined;
      if (lease?.value !== HELD) {
        const version = await kv.set(key, HELD, { ttlMs: LEASE_MS, ifVersion: lease?.version ?? 0 });
        if (version !== undefined) return this.#renewUnderLease(id, old, key, version);
      }
      await pause(platform, POLL_MS, undefined, true);
    }
    return undefined;
  }

  /** Renews a token under the lease, then releases the lease. */
  async #renewUnderLease(id: string, old: string, key: string, version: number): Promise<string | undefined> {
    const { grants, kv } = this.#options;
    const stop = this.#extend(key);
    let isDone = false;
    try {
      const grant = await grants.find(id);
      // Another node may have finished after the grant was read and before the lease was acquired.
      isDone = grant?.upstream.accessToken !== old;
      if (grant === undefined || isDone) return grant?.upstream.accessToken;
      const fresh = await this.#options.upstream.refresh(grant.upstream).catch(() => undefined);
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

  /** Extends the lease until the returned function is called. */
  #extend(key: string): () => void {
    const { kv, platform } = this.#options;
    let timer = platform.timer(EXTEND_MS, extend);
    async function extend(): Promise<void> {
      timer = platform.timer(EXTEND_MS, extend);
      try {
        await kv.touch(key, LEASE_MS);
      } catch {
        // If the storage fails, the lease expires, so that another node can acquire it.
      }
    }
    return () => timer.cancel();
  }
}
