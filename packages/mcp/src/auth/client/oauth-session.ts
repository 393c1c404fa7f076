import type { Sender } from "../../http/http.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Challenge } from "../discovery/challenge.js";
import { type Discovered, discover } from "../discovery/discover.js";
import { isHookFailure, once, Steps, saidBy } from "../discovery/steps.js";
import { type BoundedFetch, boundedFetch } from "../url/bounded-fetch.js";
import { type UrlPolicy, urlPolicy } from "../url/url-policy.js";
import { Identities } from "./identity.js";
import type { OAuthClient } from "./oauth-client.js";
import { lacksRequired, type OAuthSettings, obtainToken, wantedScopes } from "./obtain-token.js";
import { Renewal, type TokenWaiter } from "./renewal.js";
import {
  DpopKey,
  ENDED,
  type GrantedToken,
  requestToken,
  revokeToken,
  splitScopes,
  tokenFailure,
  wantsDpop,
} from "./token-request.js";
import { StoredTokens, type TokenRecord } from "./token-store.js";

/** Why a request was refused. */
export interface Refused {
  readonly status: 401 | 403;
  readonly challenge: Challenge | undefined;
  /** The token that the request carried. */
  readonly used: string | undefined;
  /** The token is about to expire; nobody has refused it yet, and no user is asked for another. */
  readonly isEarly?: boolean | undefined;
}

/** Renewed this long before it expires, so that no request arrives with a token that has just ended. */
const EARLY_MS = 30_000;
/** How long requests use the old token when it could not be renewed early. */
const EARLY_PAUSE_MS = 5_000;

/** The credential of one server: found once, renewed once however many requests ask for it, and kept by its issuer. */
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
  /** Whether the store failed to take the record, so that what it holds is older. */
  #isUnsaved = false;
  /** The token that the last login or grant gave; asking again for what was refused would not end. */
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

  /** The token to send now, if that can be said without waiting. */
  get ready(): TokenRecord | undefined {
    const record = this.#record;
    if (record === undefined || record.scheme !== "Bearer" || this.#isOld(record)) return undefined;
    return lacksRequired(record, this.#settings) ? undefined : record;
  }

  /** The headers of a request, after loading or renewing what must be; none if there is no token yet. */
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
        // Keep the token if the issuer is unreachable; errors of the program's functions propagate.
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

  /** Remembers a nonce that the server wants in proofs. */
  learnNonce(url: string, nonce: string): boolean {
    this.#dpop?.learn(new URL(url).origin, nonce);
    return this.#dpop !== undefined;
  }

  /** Whether asking again can help: not for a token that was already asked for with these scopes. */
  mayStepUp({ challenge, used }: Refused): boolean {
    const wanted = splitScopes(challenge?.params.get("scope") ?? "");
    const record = this.#record;
    return (
      record !== undefined && (record.accessToken !== used || wanted.some((scope) => !record.scopes.includes(scope)))
    );
  }

  /** Whether this token was the newest that could be had when it was refused. */
  isNewest(token: string | undefined): boolean {
    return token !== undefined && token === this.#obtained;
  }

  /** Gets another token than the refused one. All requests that wait for it share one attempt, which ends with the last of them. */
  async renew(refused: Refused, waiter: TokenWaiter): Promise<void> {
    // An attempt that was given up may still spend the refresh token.
    while (this.#renewal?.signal.aborted === true) await this.#renewal.done.catch(() => {});
    if (waiter.gone || (this.#record !== undefined && this.#record.accessToken !== refused.used)) return;
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

  /** The request does not want a token any more. */
  leave(waiter: TokenWaiter, reason: Error): void {
    this.#renewal?.leave(waiter, reason);
  }

  /** Forgets the tokens, here and in the store, and revokes them where the server offers it. */
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

  async #renew(refused: Refused, renewal: Renewal): Promise<void> {
    renewal.signal.throwIfAborted();
    const stored = this.#isUnsaved ? undefined : await this.#tokens.load();
    // Another process may have been here meanwhile; then the refresh token in memory is spent.
    if (stored !== undefined && stored.accessToken !== this.#record?.accessToken) await this.#adopt(stored);
    if (stored !== undefined && stored.accessToken !== refused.used && !this.#isOld(stored)) return;
    const steps = new Steps();
    const found = await this.#discover(refused.challenge, steps, this.#fetch(renewal.signal));
    renewal.signal.throwIfAborted();
    // A token of another issuer is worth nothing at the server's new one, and must not be shown to it.
    const held = this.#record?.issuer === found.server.issuer ? this.#record : undefined;
    if (refused.status === 401 && held !== undefined && (await this.#refresh(held, found, steps, renewal))) return;
    if (refused.isEarly === true && this.#settings.grant === undefined) return;
    const { status, challenge } = refused;
    const scopes = wantedScopes({ status, challenge, found, held }, this.#settings);
    renewal.signal.throwIfAborted();
    await this.#obtain(found, scopes, refused, steps, renewal);
  }

  #discover(challenge: Challenge | undefined, steps: Steps, fetch: BoundedFetch): Promise<Discovered> {
    const { chooseServer, grant, identity } = this.#settings;
    const own = grant === undefined ? identity.clients : [grant.client];
    const known = [...own.map(({ issuer }) => issuer), this.#record?.issuer].filter((issuer) => issuer !== undefined);
    const parts = { url: this.#url, fetch, policy: this.#policy, steps, chooseServer, known };
    return discover(parts, challenge);
  }

  /** Whether a refresh gave a new token. A failure that may pass keeps the old ones and is thrown. */
  async #refresh(held: TokenRecord, found: Discovered, steps: Steps, renewal: Renewal): Promise<boolean> {
    const { refreshToken } = held;
    const { server, resource } = found;
    const client = await this.#identities.holder(held, server, this.#settings.grant?.client);
    if (refreshToken === undefined || client === undefined) return false;
    const spend = this.#fetch(renewal.spending);
    const parts = { server, client, fetch: spend, platform: this.#platform, dpop: this.#dpop };
    let granted: GrantedToken;
    try {
      granted = await requestToken(parts, "refresh_token", { refresh_token: refreshToken, resource });
    } catch (error) {
      const failure = tokenFailure(error);
      steps.note("refresh", failure?.text ?? saidBy(error), server.token_endpoint);
      if (!ENDED.has(failure?.code)) {
        throw steps.failure("the token could not be renewed", "Try again: the refresh token was kept.");
      }
      await this.#drop(held, failure?.code);
      return false;
    }
    if (this.#record !== held) {
      // The user logged out meanwhile, and would be logged in again.
      await revokeToken({ ...parts, fetch: this.#fetch() }, granted.refreshToken ?? granted.accessToken).catch(
        () => {},
      );
      return false;
    }
    // RFC 6749, 6: a server that sends no new refresh token means that the old one stays good.
    await this.#keep(client, found, held.scopes, { ...granted, refreshToken: granted.refreshToken ?? refreshToken });
    return true;
  }

  /** Forgets what the server will never accept again. */
  async #drop(held: TokenRecord, code: string | undefined): Promise<void> {
    if (code === "invalid_client") await this.#identities.forget(held.issuer);
    const { refreshToken: _spent, ...rest } = held;
    this.#record = rest;
    await this.#tokens.save(rest);
  }

  async #obtain(
    found: Discovered,
    scopes: readonly string[],
    refused: Refused,
    steps: Steps,
    renewal: Renewal,
  ): Promise<void> {
    if (wantsDpop(this.#settings.dpop, found, refused.challenge, steps)) this.#dpop ??= await DpopKey.create();
    const { client, granted } = await obtainToken(this.#settings, found, scopes, {
      url: this.#url,
      fetch: this.#fetch(renewal.signal),
      spend: this.#fetch(renewal.spending),
      platform: this.#platform,
      dpop: this.#dpop,
      identities: this.#identities,
      // Step-up: the token that lacks a scope.
      held: refused.status === 403 ? this.#record : undefined,
      steps,
      signal: renewal.signal,
      whileAsking: (work) => renewal.whileAsking(work),
    });
    this.#obtained = granted.accessToken;
    await this.#keep(client, found, scopes, granted);
  }

  async #keep(client: OAuthClient, found: Discovered, asked: readonly string[], granted: GrantedToken): Promise<void> {
    if (this.#settings.dpop === true && granted.scheme !== "DPoP") {
      throw new McpError("authorization_failed", `${found.server.issuer} gave a token that is bound to no key`, {
        fix: "Set `dpop` to `auto` if tokens without proof of possession are good enough.",
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
    // Before it is used: a crash must not lose the only copy of a refresh token. A store that fails is reported, and the token stays.
    await this.#tokens.save(record);
    this.#isUnsaved = false;
  }
}
