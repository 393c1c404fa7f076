import type { Sender } from "../../http/http.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Challenge } from "../discovery/challenge.js";
import { type DiscoveryResult, discover } from "../discovery/discover.js";
import { errorMessage, isHookFailure, once, Steps } from "../discovery/steps.js";
import { type BoundedFetch, boundedFetch } from "../url/bounded-fetch.js";
import { type UrlPolicy, urlPolicy } from "../url/url-policy.js";
import { Identities } from "./identity.js";
import type { OAuthClient } from "./oauth-client.js";
import { lacksRequired, type OAuthSettings, obtainToken, wantedScopes } from "./obtain-token.js";
import { Renewal, type TokenWaiter } from "./renewal.js";
import {
  DpopKey,
  FINAL_ERRORS,
  type GrantedToken,
  requestToken,
  revokeToken,
  splitScopes,
  tokenFailure,
  wantsDpop,
} from "./token-request.js";
import { StoredTokens, type TokenRecord } from "./token-store.js";

/** A refused request, or a request whose token must be replaced before the request is sent. */
export interface RefusedRequest {
  readonly status: 401 | 403;
  readonly challenge: Challenge | undefined;
  /** The token that the request carried. */
  readonly used: string | undefined;
  /** True if the token is only about to expire. The server has not refused it, so the user is not asked to log in. */
  readonly isEarly?: boolean | undefined;
}

/** Tokens are renewed this long before they expire, so that a token is still valid when the server checks it. */
const EARLY_MS = 30_000;
/**
 * After a failed early renewal, the session tries no other early renewal for this time. Requests use the old token
 * meanwhile.
 */
const EARLY_PAUSE_MS = 5_000;

/** The credentials for one server. Concurrent requests share one renewal. Tokens are stored by issuer. */
export class OAuthSession {
  readonly #url: string;
  readonly #settings: OAuthSettings;
  readonly #platform: Platform;
  readonly #policy: UrlPolicy;
  readonly #sender: Sender;
  readonly #tokens: StoredTokens;
  readonly #identities: Identities;
  readonly #load = once(async () => this.#adopt(await this.#tokens.load()));
  #record: TokenRecord | undefined;
  /** True if the store could not save the record. The stored record is then older than the one in memory. */
  #isUnsaved = false;
  /** The token of the last login or grant. If the server refuses it, another login would not help. */
  #obtained: string | undefined;
  #earlyAfter = Number.NEGATIVE_INFINITY;
  #dpop: DpopKey | undefined;
  #renewal: Renewal | undefined;

  constructor(url: string, settings: OAuthSettings, sender: Sender, platform: Platform) {
    this.#url = url;
    this.#settings = settings;
    this.#platform = platform;
    this.#policy = urlPolicy({ server: url, allowPrivateNetwork: settings.allowPrivateNetwork });
    this.#sender = sender;
    this.#tokens = new StoredTokens(settings.store, url);
    this.#identities = new Identities(settings.identity, settings.store, settings.bindings);
  }

  /** The bearer token to send if it is available without waiting. */
  get ready(): TokenRecord | undefined {
    const record = this.#record;
    if (record === undefined || record.scheme !== "Bearer" || this.#isOld(record)) return undefined;
    return lacksRequired(record, this.#settings) ? undefined : record;
  }

  /**
   * Returns the authorization headers of a request. Loads or renews the token first if necessary. The headers are empty
   * if there is no token yet.
   */
  async headersFor(
    method: string,
    url: string,
    waiter: TokenWaiter,
  ): Promise<{ headers: string[]; token: string | undefined }> {
    await this.#load();
    const old = this.#record;
    if (old !== undefined && lacksRequired(old, this.#settings))
      await this.renew({ status: 403, challenge: undefined, used: old.accessToken }, waiter);
    if (old !== undefined && this.#mayBeEarly(old)) {
      const refused = { status: 401, challenge: undefined, used: old.accessToken, isEarly: true } as const;
      await this.renew(refused, waiter).catch((error: unknown) => {
        // Use the old token if the early renewal failed, for example because the issuer is unreachable. Errors of the
        // program's functions propagate.
        if (!McpError.is(error) || error.kind !== "authorization_failed" || isHookFailure(error)) throw error;
        this.#earlyAfter = this.#platform.monotonic() + EARLY_PAUSE_MS;
      });
    }
    const record = this.#record;
    if (record === undefined) return { headers: [], token: undefined };
    const headers = ["authorization", `${record.scheme} ${record.accessToken}`];
    if (record.scheme === "DPoP" && this.#dpop !== undefined) {
      headers.push("dpop", await this.#dpop.proof(method, url, record.accessToken, this.#platform));
    }
    return { headers, token: record.accessToken };
  }

  /**
   * Stores the nonce that a server requires in proofs. Returns false if tokens are not bound to a key, because a nonce
   * is then useless.
   */
  rememberNonce(url: string, nonce: string): boolean {
    this.#dpop?.setNonce(new URL(url).origin, nonce);
    return this.#dpop !== undefined;
  }

  /**
   * True if a step-up can help: the token has changed meanwhile, or the challenge names a scope that was not requested
   * before.
   */
  mayStepUp({ challenge, used }: RefusedRequest): boolean {
    const wanted = splitScopes(challenge?.params.get("scope") ?? "");
    const record = this.#record;
    return (
      record !== undefined && (record.accessToken !== used || wanted.some((scope) => !record.scopes.includes(scope)))
    );
  }

  /** True if this token came from the last login or grant. */
  isNewest(token: string | undefined): boolean {
    return token !== undefined && token === this.#obtained;
  }

  /**
   * Replaces the refused token. All waiting requests share one attempt, which is aborted when the last of them is
   * cancelled.
   */
  async renew(refused: RefusedRequest, waiter: TokenWaiter): Promise<void> {
    // Wait until an aborted attempt has ended, because it may still be using the refresh token.
    while (this.#renewal?.signal.aborted === true) await this.#renewal.done.catch(() => {});
    if (waiter.isCancelled || (this.#record !== undefined && this.#record.accessToken !== refused.used)) return;
    this.#renewal ??= new Renewal(this.#platform, async (renewal) => {
      try {
        const fromUser = this.#settings.grant === undefined;
        await this.#tokens.exclusively(() => this.#renew(refused, renewal), renewal, fromUser);
      } finally {
        this.#renewal = undefined;
      }
    });
    await this.#renewal.join(waiter);
  }

  /** Removes a cancelled request from the requests that wait for the renewal. */
  leave(waiter: TokenWaiter, reason: Error): void {
    this.#renewal?.leave(waiter, reason);
  }

  /** Deletes the tokens in memory and in the store, and revokes them if the server supports it. */
  async logout(): Promise<void> {
    await this.#load();
    const record = this.#record;
    this.#record = undefined;
    if (record === undefined) return;
    await this.#tokens.forget(record.issuer);
    await this.#revoke(record).catch(() => {});
  }

  async #revoke(record: TokenRecord): Promise<void> {
    const steps = new Steps();
    const fetch = this.#fetch();
    const { server } = await this.#discover(undefined, steps, fetch);
    if (server.issuer !== record.issuer) return;
    const client = await this.#identities.holder(record, server, this.#settings.grant?.client);
    const token = record.refreshToken ?? record.accessToken;
    if (client !== undefined) await revokeToken({ server, client, fetch }, token);
  }

  #fetch(signal?: AbortSignal): BoundedFetch {
    return boundedFetch({ sender: this.#sender, policy: this.#policy, platform: this.#platform, signal });
  }

  async #adopt(record: TokenRecord | undefined): Promise<void> {
    if (record?.dpopKey !== undefined) this.#dpop = await DpopKey.from(record.dpopKey);
    this.#record = record;
  }

  #isOld({ expiresAt }: TokenRecord): boolean {
    return expiresAt !== undefined && expiresAt - EARLY_MS < this.#platform.now();
  }

  #mayBeEarly(record: TokenRecord): boolean {
    const canRenew = record.refreshToken !== undefined || this.#settings.grant !== undefined;
    return canRenew && this.#isOld(record) && this.#platform.monotonic() >= this.#earlyAfter;
  }

  async #renew(refused: RefusedRequest, renewal: Renewal): Promise<void> {
    renewal.signal.throwIfAborted();
    const stored = this.#isUnsaved ? undefined : await this.#tokens.load();
    // If another process has renewed the token meanwhile, the refresh token in memory is already spent.
    if (stored !== undefined && stored.accessToken !== this.#record?.accessToken) await this.#adopt(stored);
    if (stored !== undefined && stored.accessToken !== refused.used && !this.#isOld(stored)) return;
    const steps = new Steps();
    const found = await this.#discover(refused.challenge, steps, this.#fetch(renewal.signal));
    renewal.signal.throwIfAborted();
    // A token of another issuer is useless at the server's new issuer and must not be sent to it.
    const held = this.#record?.issuer === found.server.issuer ? this.#record : undefined;
    if (refused.status === 401 && held !== undefined && (await this.#refresh(held, found, steps, renewal))) return;
    if (refused.isEarly === true && this.#settings.grant === undefined) return;
    const { status, challenge } = refused;
    const scopes = wantedScopes({ status, challenge, found, held }, this.#settings);
    renewal.signal.throwIfAborted();
    await this.#obtain(found, scopes, refused, steps, renewal);
  }

  #discover(challenge: Challenge | undefined, steps: Steps, fetch: BoundedFetch): Promise<DiscoveryResult> {
    const { chooseServer, grant, identity } = this.#settings;
    const own = grant === undefined ? identity.clients : [grant.client];
    const known = [...own.map(({ issuer }) => issuer), this.#record?.issuer].filter((issuer) => issuer !== undefined);
    const options = { url: this.#url, fetch, policy: this.#policy, steps, chooseServer, known };
    return discover(options, challenge);
  }

  /**
   * Refreshes the token. Returns false if that is not possible, or if the user logged out meanwhile. Throws, and
   * retains the tokens, if the failure may be temporary.
   */
  async #refresh(held: TokenRecord, found: DiscoveryResult, steps: Steps, renewal: Renewal): Promise<boolean> {
    const { refreshToken } = held;
    const { server, resource } = found;
    const client = await this.#identities.holder(held, server, this.#settings.grant?.client);
    if (refreshToken === undefined || client === undefined) return false;
    const spend = this.#fetch(renewal.graceSignal);
    const request = { server, client, fetch: spend, platform: this.#platform, dpop: this.#dpop };
    let granted: GrantedToken;
    try {
      granted = await requestToken(request, "refresh_token", { refresh_token: refreshToken, resource });
    } catch (error) {
      const failure = tokenFailure(error);
      steps.note("refresh", failure?.text ?? errorMessage(error), server.token_endpoint);
      if (!FINAL_ERRORS.has(failure?.code)) {
        throw steps.failure("the token could not be renewed", "Try again. The refresh token is still stored.");
      }
      await this.#dropRefreshToken(held, failure?.code);
      return false;
    }
    if (this.#record !== held) {
      // The user logged out meanwhile. Storing the new token would log the user in again.
      await revokeToken({ ...request, fetch: this.#fetch() }, granted.refreshToken ?? granted.accessToken).catch(
        () => {},
      );
      return false;
    }
    // RFC 6749, 6: if the response has no refresh token, the old one remains valid.
    await this.#save(client, found, held.scopes, { ...granted, refreshToken: granted.refreshToken ?? refreshToken });
    return true;
  }

  /**
   * Deletes the refresh token that the server rejected for good, and the registration if the server rejected the
   * client.
   */
  async #dropRefreshToken(held: TokenRecord, code: string | undefined): Promise<void> {
    if (code === "invalid_client") await this.#identities.forget(held.issuer);
    const { refreshToken: _spent, ...rest } = held;
    this.#record = rest;
    await this.#tokens.save(rest);
  }

  async #obtain(
    found: DiscoveryResult,
    scopes: readonly string[],
    refused: RefusedRequest,
    steps: Steps,
    renewal: Renewal,
  ): Promise<void> {
    if (wantsDpop(this.#settings.dpop, found, refused.challenge, steps)) this.#dpop ??= await DpopKey.create();
    const { client, granted } = await obtainToken(this.#settings, found, scopes, {
      url: this.#url,
      fetch: this.#fetch(renewal.signal),
      spend: this.#fetch(renewal.graceSignal),
      platform: this.#platform,
      dpop: this.#dpop,
      identities: this.#identities,
      // For a step-up, this is the token that lacks a scope.
      held: refused.status === 403 ? this.#record : undefined,
      steps,
      signal: renewal.signal,
      whileAsking: (work) => renewal.whileAsking(work),
    });
    this.#obtained = granted.accessToken;
    await this.#save(client, found, scopes, granted);
  }

  async #save(
    client: OAuthClient,
    found: DiscoveryResult,
    asked: readonly string[],
    granted: GrantedToken,
  ): Promise<void> {
    if (this.#settings.dpop === true && granted.scheme !== "DPoP") {
      throw new McpError("authorization_failed", `${found.server.issuer} issued a token that is not bound to a key`, {
        fix: "Set `dpop` to `auto` if tokens without proof of possession are acceptable.",
      });
    }
    const bound = granted.scheme === "DPoP" ? await this.#dpop?.export() : undefined;
    const record: TokenRecord = {
      issuer: found.server.issuer,
      resource: found.resource,
      clientId: client.clientId,
      accessToken: granted.accessToken,
      scheme: granted.scheme,
      scopes: [...new Set([...asked, ...(granted.scopes ?? [])])],
      ...(granted.refreshToken === undefined ? {} : { refreshToken: granted.refreshToken }),
      ...(granted.expiresAt === undefined ? {} : { expiresAt: granted.expiresAt }),
      ...(bound === undefined ? {} : { dpopKey: bound }),
    };
    this.#record = record;
    this.#isUnsaved = true;
    // Save before use: a crash must not lose the only copy of a refresh token. If the store fails, the request fails,
    // but the token stays in memory for later requests.
    await this.#tokens.save(record);
    this.#isUnsaved = false;
  }
}
