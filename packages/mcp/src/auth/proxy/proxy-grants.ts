import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { KeyValue, Storage } from "../../storage/storage.js";
import { isDocumentId } from "./proxy-client.js";
import { Revocations } from "./revocations.js";
import type { SealedJson } from "./sealed-json.js";

/** The tokens of the upstream provider. They never leave the proxy. */
export interface UpstreamTokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly expiresAt?: number | undefined;
}

/** The access that a user has allowed one client. */
export interface ProxyGrant {
  /** The client, as `clientKey` names it. */
  readonly client: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly scopes: readonly string[];
  readonly upstream: UpstreamTokens;
  /** Which refresh token of this grant is the good one. */
  readonly turn: number;
  /** When the last refresh token was replaced, in milliseconds since the epoch. */
  readonly turnedAt?: number | undefined;
}

/** A code that a client exchanges for tokens, once. */
export interface ProxyCode {
  readonly grantId: string;
  /** The client, as `clientKey` names it. */
  readonly client: string;
  readonly redirectUri: string;
  readonly challenge: string;
}

const CODE_MS = 60_000;
/** A grant is changed by its client and by calls to the provider: rarely two at once. */
const MAX_TRIES = 10;

/**
 * Keeps grants and codes in the storage, where all nodes find them. The values are sealed, so that a copy of the storage gives no
 * access, and the keys are digests of what clients hold.
 */
export class ProxyGrants {
  readonly #kv: KeyValue;
  readonly #sealed: SealedJson;
  readonly #platform: Platform;
  readonly #grantMs: number;
  readonly #revocations: Revocations;

  constructor(storage: Storage, sealed: SealedJson, platform: Platform, grantMs: number) {
    this.#kv = storage.kv;
    this.#revocations = new Revocations(storage, platform);
    this.#sealed = sealed;
    this.#platform = platform;
    this.#grantMs = grantMs;
  }

  /** An unguessable text. */
  random(): string {
    return toBase64Url(this.#platform.randomBytes(32));
  }

  digest(text: string): string {
    return toBase64Url(this.#platform.sha256(new TextEncoder().encode(text)));
  }

  /** A short name of a client: the address of its document, or a digest of an id that holds a whole description. */
  clientKey(clientId: string): string {
    return isDocumentId(clientId) ? clientId : this.digest(clientId);
  }

  async create(grant: ProxyGrant): Promise<string> {
    const id = this.random();
    await this.#kv.set(this.key("grant", id), await this.#sealed.seal("grant", grant, this.#grantMs), {
      ttlMs: this.#grantMs,
    });
    return id;
  }

  async find(id: string): Promise<ProxyGrant | undefined> {
    const stored = await this.#kv.get(this.key("grant", id));
    return stored === undefined ? undefined : this.#sealed.open<ProxyGrant>("grant", stored.value);
  }

  /** Changes a grant, again if another node did meanwhile; undefined if it is gone, or `update` does not want it any more. */
  async change(id: string, update: (grant: ProxyGrant) => ProxyGrant | undefined): Promise<ProxyGrant | undefined> {
    const key = this.key("grant", id);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = await this.#kv.get(key);
      const grant = stored === undefined ? undefined : await this.#sealed.open<ProxyGrant>("grant", stored.value);
      const next = grant === undefined ? undefined : update(grant);
      if (stored === undefined || next === undefined) return undefined;
      const value = await this.#sealed.seal("grant", next, this.#grantMs);
      const version = await this.#kv.set(key, value, { ttlMs: this.#grantMs, ifVersion: stored.version });
      if (version !== undefined) return next;
    }
    return undefined;
  }

  /** Deletes a grant, and closes what is open with it on every node. */
  async revoke(id: string): Promise<void> {
    const key = this.key("grant", id);
    await this.#kv.delete(key);
    await this.#revocations.publish(key);
  }

  /** Calls `act` once when the grant is revoked, on whichever node. Returns a function that stops that. */
  onRevoked(id: string, act: () => void): () => void {
    return this.#revocations.watch(this.key("grant", id), act);
  }

  async createCode(code: ProxyCode): Promise<string> {
    const text = this.random();
    await this.#kv.set(this.key("code", text), await this.#sealed.seal("code", code, CODE_MS), { ttlMs: CODE_MS });
    return text;
  }

  /** The code, if this is its first use. A second use ends the grant: one of the two users stole it. */
  async useCode(text: string): Promise<ProxyCode | undefined> {
    const key = this.key("code", text);
    const stored = await this.#kv.get(key);
    const code = stored === undefined ? undefined : await this.#sealed.open<ProxyCode>("code", stored.value);
    if (stored === undefined || code === undefined) return undefined;
    if (await this.#isFirstUse(text)) return code;
    await this.revoke(code.grantId);
    return undefined;
  }

  async #isFirstUse(code: string): Promise<boolean> {
    return (await this.#kv.set(this.key("used code", code), "", { ttlMs: CODE_MS, ifVersion: 0 })) !== undefined;
  }

  /** The key in the storage of what is kept under a text that only its holder knows. */
  key(purpose: string, text: string): string {
    return `oauth ${purpose} ${this.digest(text)}`;
  }
}
