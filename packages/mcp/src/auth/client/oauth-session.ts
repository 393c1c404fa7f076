import * as oauth from "oauth4webapi";
import type { Sender } from "../../http/http.js";
import type { Platform } from "../../platform/platform.js";
import type { Challenge } from "../discovery/challenge.js";
import { type Discovered, discover } from "../discovery/discover.js";
import { Steps, saidBy } from "../discovery/steps.js";
import { type BoundedFetch, boundedFetch } from "../url/bounded-fetch.js";
import { type UrlPolicy, urlPolicy } from "../url/url-policy.js";
import { loginByCode } from "./code-flow.js";
import { loginByDevice } from "./device-flow.js";
import { DpopKey } from "./dpop.js";
import { Identities } from "./identity.js";
import type { OAuthClient } from "./oauth-client.js";
import type { OAuthSettings } from "./oauth-settings.js";
import { StoredTokens, type TokenRecord } from "./token-record.js";
import { type GrantedToken, requestToken, splitScopes } from "./token-request.js";

/** Why a request was refused. */
export interface Refused {
  readonly status: 401 | 403;
  readonly challenge: Challenge | undefined;
  /** The token that the request carried. */
  readonly used: string | undefined;
}

/** Renewed this long before it expires, so that no request arrives with a token that has just ended. */
const EARLY_MS = 30_000;

/**
 * The credential of one server: found once, renewed once however many requests ask for it, and kept by its issuer.
 */
export class OAuthSession {
  readonly #url: string;
  readonly #settings: OAuthSettings;
  readonly #platform: Platform;
  readonly #policy: UrlPolicy;
  readonly #fetch: BoundedFetch;
  readonly #tokens: StoredTokens;
  readonly #identities: Identities;
  readonly #ended = new AbortController();
  #record: TokenRecord | undefined;
  #dpop: DpopKey | undefined;
  #loading: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;

  constructor(url: string, settings: OAuthSettings, sender: Sender, platform: Platform) {
    this.#url = url;
    this.#settings = settings;
    this.#platform = platform;
    this.#policy = urlPolicy({ server: url, allowPrivateNetwork: settings.allowPrivateNetwork });
    this.#fetch = boundedFetch({ sender, policy: this.#policy, platform });
    this.#tokens = new StoredTokens(settings.store, url);
    this.#identities = new Identities(settings.identity, settings.store, this.#fetch);
  }

  /** The token to send now, if that can be said without waiting. */
  get ready(): TokenRecord | undefined {
    const record = this.#record;
    return record !== undefined && record.scheme === "Bearer" && !this.#isOld(record) ? record : undefined;
  }

  /** The headers of a request, after loading or renewing what must be; none if there is no token yet. */
  async headersFor(method: string, url: string): Promise<{ headers: string[]; token: string | undefined }> {
    await this.#load();
    const old = this.#record;
    if (old?.refreshToken !== undefined && this.#isOld(old)) {
      // A server that is out of reach must not cost a token that may still be good.
      await this.renew({ status: 401, challenge: undefined, used: old.accessToken }).catch(() => {});
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

  /**
   * Whether asking again can help: not for a token that was already asked for with these scopes.
   */
  mayStepUp({ challenge, used }: Refused): boolean {
    const wanted = splitScopes(challenge?.params.get("scope") ?? "");
    const record = this.#record;
    return (
      record !== undefined && (record.accessToken !== used || wanted.some((scope) => !record.scopes.includes(scope)))
    );
  }

  /** Gets another token than the refused one. All requests that wait for it share one attempt. */
  renew(refused: Refused): Promise<void> {
    if (this.#record !== undefined && this.#record.accessToken !== refused.used) return Promise.resolve();
    this.#renewing ??= this.#tokens
      .exclusively(() => this.#renew(refused))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
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
    const { server } = await this.#discover(undefined, new Steps());
    if (server.issuer !== record.issuer || server.revocation_endpoint === undefined) return;
    const me = { client_id: record.clientId };
    const token = record.refreshToken ?? record.accessToken;
    await this.#fetch(server.revocation_endpoint, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ ...me, token }).toString(),
    });
  }

  #load(): Promise<void> {
    this.#loading ??= (async () => {
      await this.#adopt(await this.#tokens.load());
    })();
    return this.#loading;
  }

  async #adopt(record: TokenRecord | undefined): Promise<void> {
    if (record?.dpopKey !== undefined) this.#dpop = await DpopKey.from(record.dpopKey);
    this.#record = record;
  }

  #isOld({ expiresAt }: TokenRecord): boolean {
    return expiresAt !== undefined && expiresAt - EARLY_MS < this.#platform.now();
  }

  async #renew(refused: Refused): Promise<void> {
    const stored = await this.#tokens.load();
    // Another process has been here meanwhile.
    if (stored !== undefined && stored.accessToken !== refused.used && !this.#isOld(stored)) return this.#adopt(stored);
    const steps = new Steps();
    const found = await this.#discover(refused.challenge, steps);
    // A token of another issuer is worth nothing at the server's new one, and must not be shown to it.
    const held = this.#record?.issuer === found.server.issuer ? this.#record : undefined;
    if (refused.status === 401 && held?.refreshToken !== undefined && (await this.#refresh(held, found, steps))) return;
    await this.#obtain(found, this.#scopesFor(refused, found, held), refused, steps);
  }

  #discover(challenge: Challenge | undefined, steps: Steps): Promise<Discovered> {
    const { chooseServer } = this.#settings;
    return discover({ url: this.#url, fetch: this.#fetch, policy: this.#policy, steps, chooseServer }, challenge);
  }

  /**
   * What the challenge asks for, else what the server lists, else nothing; beyond what is held already.
   *
   * Spec: Authorization, "Scope Selection Strategy",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy
   */
  #scopesFor({ status, challenge }: Refused, found: Discovered, held: TokenRecord | undefined): string[] {
    const challenged = challenge?.params.get("scope");
    const basic = this.#settings.scopes ?? found.scopes ?? [];
    const wanted = challenged === undefined ? basic : splitScopes(challenged);
    const scopes = new Set(status === 403 ? [...(held?.scopes ?? []), ...wanted] : wanted);
    const isOffline = found.server.scopes_supported?.includes("offline_access") === true;
    if (isOffline && this.#settings.offlineAccess && this.#settings.login !== undefined) scopes.add("offline_access");
    return [...scopes];
  }

  /** Whether a refresh gave a new token. A failure that may pass keeps the old ones and is thrown. */
  async #refresh(held: TokenRecord, found: Discovered, steps: Steps): Promise<boolean> {
    const { server, resource } = found;
    const client = await this.#identities.find(
      { server, redirectUri: undefined, applicationType: "native", scopes: held.scopes, clientId: held.clientId },
      steps,
    );
    try {
      const parts = { server, client, fetch: this.#fetch, platform: this.#platform, dpop: this.#dpop };
      const refreshToken = held.refreshToken ?? "";
      const granted = await requestToken(parts, "refresh_token", { refresh_token: refreshToken, resource });
      // RFC 6749, 6: a server that sends no new refresh token means that the old one stays good.
      await this.#keep(client, found, held.scopes, { ...granted, refreshToken: granted.refreshToken ?? refreshToken });
      return true;
    } catch (error) {
      steps.note("refresh", saidBy(error), server.token_endpoint);
      if (error instanceof oauth.ResponseBodyError && ENDED.has(error.error)) return false;
      throw steps.failure("the token could not be renewed", "Try again: the refresh token was kept.");
    }
  }

  async #obtain(found: Discovered, scopes: readonly string[], refused: Refused, steps: Steps): Promise<void> {
    const { login, grant } = this.#settings;
    const { server } = found;
    await this.#prepareDpop(found, refused.challenge, steps);
    const parts = { fetch: this.#fetch, platform: this.#platform, dpop: this.#dpop };
    try {
      if (grant !== undefined) {
        const { client } = grant;
        const extra = await grant.parameters({ ...found, scopes, fetch: this.#fetch });
        const wanted = scopes.length === 0 ? {} : { scope: scopes.join(" ") };
        const parameters = { ...extra, resource: found.resource, ...wanted };
        const granted = await requestToken({ ...parts, server, client }, grant.grantType, parameters);
        return await this.#keep(client, found, scopes, granted);
      }
      if (login === undefined) {
        throw steps.failure(`${this.#url} wants a user to log in`, "Pass `login` or `grant` to `oauth`.");
      }
      const loginParts = { ...parts, identities: this.#identities, steps, signal: this.#ended.signal };
      const { client, granted } = await (login.kind === "redirect"
        ? loginByCode(login, found, scopes, loginParts)
        : loginByDevice(login, found, scopes, loginParts));
      await this.#keep(client, found, scopes, granted);
    } catch (error) {
      throw await this.#explained(error, server, steps);
    }
  }

  /** An error of the token endpoint, with all that was tried before it. */
  async #explained(error: unknown, server: oauth.AuthorizationServer, steps: Steps): Promise<unknown> {
    if (!(error instanceof oauth.ResponseBodyError) && !(error instanceof oauth.OperationProcessingError)) return error;
    // A registration that was deleted on the server would fail for ever.
    const code = error instanceof oauth.ResponseBodyError ? error.error : undefined;
    if (code === "invalid_client") await this.#identities.forget(server.issuer);
    const reason = error instanceof oauth.ResponseBodyError ? (error.error_description ?? error.error) : error.message;
    steps.note(
      "token request",
      `${code === undefined ? "" : `${code}: `}${reason.slice(0, 300)}`,
      server.token_endpoint,
    );
    return steps.failure(`${server.issuer} gave no token`, "Look at what the token endpoint says.");
  }

  async #prepareDpop(found: Discovered, challenge: Challenge | undefined, steps: Steps): Promise<void> {
    const { dpop } = this.#settings;
    const algorithms = found.server.dpop_signing_alg_values_supported;
    const isAsked = challenge?.scheme === "dpop" || found.requiresDpop || dpop === true;
    if (dpop === false || !isAsked) return;
    if (algorithms !== undefined && !algorithms.includes("ES256")) {
      steps.note("proof of possession", `the server supports ${algorithms.join(", ")}, not ES256`);
      return;
    }
    this.#dpop ??= await DpopKey.create();
  }

  async #keep(client: OAuthClient, found: Discovered, asked: readonly string[], granted: GrantedToken): Promise<void> {
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
    // Before it is used: a crash must not lose the only copy of a refresh token.
    await this.#tokens.save(record);
    this.#record = record;
  }
}

/** Errors after which a refresh token is good for nothing. */
const ENDED: ReadonlySet<string> = new Set([
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
]);
