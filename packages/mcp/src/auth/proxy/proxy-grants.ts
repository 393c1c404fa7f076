import { toBase64Url } from "../../encoding/base64.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Platform, Timer } from "../../platform/platform.js";
import type { Secrets } from "../../seal/secrets.js";
import type { KeyValue, Storage } from "../../storage/storage.js";
import { once } from "../discovery/steps.js";
import { isDocumentId } from "./redirect-rules.js";

/** Seals values with an expiry time. Clients and browsers can carry them but neither read nor change them. */
export class SealedJson {
  readonly #secrets: Secrets;
  readonly #platform: Platform;
  readonly #audience: string;

  /**
   * `audience` becomes part of every seal: a proxy for another resource cannot open the values, even with the same
   * secret (RFC 8707).
   */
  constructor(secrets: Secrets, platform: Platform, audience = "") {
    this.#secrets = secrets;
    this.#platform = platform;
    this.#audience = audience;
  }

  seal(purpose: string, value: object, ttlMs: number): Promise<string> {
    return this.#secrets.seal(this.#use(purpose), JSON.stringify({ value, until: this.#platform.now() + ttlMs }));
  }

  /**
   * Opens a text that was sealed for this purpose and audience. Undefined if the text is anything else or has expired.
   * `T` is the type that was passed to `seal`.
   */
  async open<T extends object>(purpose: string, sealed: string): Promise<T | undefined> {
    const opened = await this.#secrets.open(this.#use(purpose), sealed);
    if ("fault" in opened) return undefined;
    // Safe: only texts that `seal` created can be opened.
    const { value, until } = JSON.parse(opened.text) as { value: T; until: number };
    return until > this.#platform.now() ? value : undefined;
  }

  #use(purpose: string): string {
    return `proxy ${purpose} ${this.#audience}`.trimEnd();
  }
}

const TOPIC = "oauth revoked";
const RETRY_MS = 5_000;

/**
 * Publishes the deletion of stored keys, and notifies the connections that depend on these keys, on every node.
 * Subscribes when the first connection starts to watch. Checks each key in the storage after the subscription starts
 * and after each interruption, so that no deletion is missed. Holds only the keys of open connections in memory.
 */
export class Revocations {
  readonly #storage: Storage;
  readonly #platform: Platform;
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #subscribe = once(async () =>
    this.#storage.pubsub.subscribe(
      TOPIC,
      (key) => this.#revoked(key),
      () => void this.#check([...this.#watchers.keys()]),
    ),
  );
  #retry: Timer | undefined;
  #hasWarned = false;

  constructor(storage: Storage, platform: Platform) {
    this.#storage = storage;
    this.#platform = platform;
  }

  /** Notifies all nodes that a key was deleted. If the storage fails, notifies only this node and rejects. */
  async publish(key: string): Promise<void> {
    this.#revoked(key);
    await this.#storage.pubsub.publish(TOPIC, key);
  }

  /** Calls `act` once when the key is deleted, or if it does not exist. Returns a function that stops watching. */
  watch(key: string, act: () => void): () => void {
    // A separate function for each watch, because the same `act` may be passed twice.
    const watcher = () => act();
    const watchers = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, watchers.add(watcher));
    void this.#check([key]);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(key) === watchers) this.#watchers.delete(key);
    };
  }

  #revoked(key: string): void {
    const watchers = this.#watchers.get(key) ?? [];
    this.#watchers.delete(key);
    for (const watcher of watchers) watcher();
  }

  async #check(keys: readonly string[]): Promise<void> {
    try {
      await this.#subscribe();
      for (const key of keys) {
        if (this.#watchers.has(key) && (await this.#storage.kv.get(key)) === undefined) this.#revoked(key);
      }
      this.#hasWarned = false;
    } catch (error) {
      this.#checkLater(error);
    }
  }

  #checkLater(error: unknown): void {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      const problem = `revoked logins could not be read from the storage: ${thrownMessage(error)}`;
      this.#platform.warn(
        `${problem}. The next attempt follows in ${RETRY_MS} ms. Until then, connections of revoked logins stay open.`,
      );
    }
    this.#retry ??= this.#platform.timer(RETRY_MS, () => {
      this.#retry = undefined;
      if (this.#watchers.size > 0) void this.#check([...this.#watchers.keys()]);
    });
  }
}

/** The tokens of the upstream provider. The proxy never sends them to clients. */
export interface UpstreamTokens {
  /** Access token for calls to the provider. */
  readonly accessToken: string;
  /** Refresh token, if the provider issued one. */
  readonly refreshToken?: string | undefined;
  /** Expiry of the access token in milliseconds since the epoch. Undefined if the provider did not state it. */
  readonly expiresAt?: number | undefined;
}

/** The access that a user granted to one client. */
export interface ProxyGrant {
  /** The client's key from `clientKey`. */
  readonly client: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly scopes: readonly string[];
  readonly upstream: UpstreamTokens;
  /** Sequence number of the refresh token that is valid now. */
  readonly turn: number;
  /** Time of the last refresh, in milliseconds since the epoch. */
  readonly turnedAt?: number | undefined;
}

/** A code that a client can exchange for tokens once. */
interface ProxyCode {
  readonly grantId: string;
  /** The client's key from `clientKey`. */
  readonly client: string;
  readonly redirectUri: string;
  readonly challenge: string;
}

const CODE_MS = 60_000;
/**
 * Maximum number of attempts to change a grant. After the last one, `change` returns undefined. Conflicts are rare,
 * because only refreshes by the client and calls to the provider change a grant.
 */
const MAX_TRIES = 10;

/**
 * Stores grants and codes for all nodes. Values are sealed, so that a copy of the storage gives no access. Keys are
 * digests of ids and codes, which only clients have.
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

  /** Returns an unguessable text. */
  random(): string {
    return toBase64Url(this.#platform.randomBytes(32));
  }

  digest(text: string): string {
    return toBase64Url(this.#platform.sha256(new TextEncoder().encode(text)));
  }

  /**
   * Returns a short key of a client: the address of its metadata document, or else a digest of its id, which contains
   * the whole description of the client.
   */
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

  /**
   * Updates a grant. Retries if another request has changed it meanwhile. Undefined if the grant does not exist,
   * `update` returns undefined, or every attempt met a conflict.
   */
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

  /** Deletes a grant and notifies every node, so that each node closes the connections that depend on the grant. */
  async revoke(id: string): Promise<void> {
    const key = this.key("grant", id);
    await this.#kv.delete(key);
    await this.#revocations.publish(key);
  }

  /**
   * Calls `act` once when the grant is revoked on any node, or if it no longer exists. Returns a function that stops
   * watching.
   */
  onRevoked(id: string, act: () => void): () => void {
    return this.#revocations.watch(this.key("grant", id), act);
  }

  async createCode(code: ProxyCode): Promise<string> {
    const text = this.random();
    await this.#kv.set(this.key("code", text), await this.#sealed.seal("code", code, CODE_MS), { ttlMs: CODE_MS });
    return text;
  }

  /**
   * Returns the code on its first use. A second use revokes the grant, because one of the two senders has stolen the
   * code.
   */
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

  /** Returns the storage key for a secret text. The key contains only a digest of the text. */
  key(purpose: string, text: string): string {
    return `oauth ${purpose} ${this.digest(text)}`;
  }
}

/** Maximum number of marks (see `Mark`) in one list. Beyond that, the oldest mark is dropped. */
const MAX_MARKS = 64;
/**
 * Number of lists of marks in the storage. Together they hold at most 16,384 marks in less than 1 MiB, however many
 * logins strangers start.
 */
const LISTS = 256;
/**
 * Maximum number of attempts to write a list. Two requests rarely write the same list at once. After the last attempt,
 * the text counts as used.
 */
const MAX_MARK_TRIES = 20;
/** Length of a mark: 132 bits of a digest. */
const MARK_LENGTH = 22;

/** The digest of a used text, and the time when the mark expires. */
type Mark = readonly [digest: string, until: number];

/**
 * Resolves with true for the first call with a digest within `ttlMs`, counted over all nodes. Resolves with false for a
 * later call, or if conflicts prevent the mark from being stored.
 */
export type FirstUse = (digest: string, ttlMs: number) => Promise<boolean>;

/**
 * Creates the function that marks used consent pages and logins, for all nodes, in a fixed number of keys. Strangers
 * can reach these steps for free, so the marks must not fill the storage. A full list drops its oldest mark. A dropped
 * mark gives no access: the browser's cookie and the provider's one-time code are still required.
 */
export function usedMarks(kv: KeyValue, now: () => number): FirstUse {
  return async (digest, ttlMs) => {
    const key = `oauth used ${listOf(digest)}`;
    const mark = digest.slice(0, MARK_LENGTH);
    for (let tries = 0; tries < MAX_MARK_TRIES; tries++) {
      const stored = await kv.get(key);
      const time = now();
      // Safe: only this function writes these keys.
      const known = stored === undefined ? [] : (JSON.parse(stored.value) as Mark[]);
      const marks = known.filter(([, until]) => until > time);
      if (marks.some(([one]) => one === mark)) return false;
      const value = JSON.stringify([...marks, [mark, time + ttlMs]].slice(-MAX_MARKS));
      const version = await kv.set(key, value, { ttlMs, ifVersion: stored?.version ?? 0 });
      if (version !== undefined) return true;
    }
    return false;
  };
}

/** Selects the list of a digest by its last characters, which are as random as the others. */
function listOf(digest: string): number {
  let sum = 0;
  for (const character of digest.slice(-8)) sum = (sum * 31 + character.charCodeAt(0)) % 65_521;
  return sum % LISTS;
}
