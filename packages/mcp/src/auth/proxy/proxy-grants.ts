import { toBase64Url } from "../../encoding/base64.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Platform, Timer } from "../../platform/platform.js";
import type { Secrets } from "../../seal/secrets.js";
import type { KeyValue, Storage } from "../../storage/storage.js";
import { once } from "../discovery/steps.js";
import { isDocumentId } from "./redirect-rules.js";

/** Seals values with an end, so that clients and browsers can carry them and neither read nor change them. */
export class SealedJson {
  readonly #secrets: Secrets;
  readonly #platform: Platform;
  readonly #audience: string;

  /** `audience` binds everything sealed here: a proxy for another resource opens none of it, even with the same secret (RFC 8707). */
  constructor(secrets: Secrets, platform: Platform, audience = "") {
    this.#secrets = secrets;
    this.#platform = platform;
    this.#audience = audience;
  }

  seal(purpose: string, value: object, ttlMs: number): Promise<string> {
    return this.#secrets.seal(this.#use(purpose), JSON.stringify({ value, until: this.#platform.now() + ttlMs }));
  }

  /** Opens a text that was sealed for this purpose; undefined if it was not, or has expired. `T` is the type that `seal` was given. */
  async open<T extends object>(purpose: string, sealed: string): Promise<T | undefined> {
    const opened = await this.#secrets.open(this.#use(purpose), sealed);
    if ("fault" in opened) return undefined;
    // Only `seal` makes texts that open.
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
 * Publishes the deletion of stored keys, and notifies the connections of every node that depend on them. It subscribes with the
 * first connection. Each one is also checked against the storage once the subscription stands and after each of its
 * interruptions, so that no deletion is missed in between. At most the open connections are remembered.
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

  /** Notifies all nodes that a key was deleted: this one also if the storage fails, which rejects. */
  async publish(key: string): Promise<void> {
    this.#revoked(key);
    await this.#storage.pubsub.publish(TOPIC, key);
  }

  /** Calls `act` once when the key is deleted, or if it is gone already. Returns a function that stops that. */
  watch(key: string, act: () => void): () => void {
    // A function of its own, because the same one may watch twice.
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
      const problem = `the storage cannot tell which logins were revoked: ${thrownMessage(error)}`;
      this.#platform.warn(
        `${problem}. It is asked again every ${RETRY_MS} ms; until then their connections stay open.`,
      );
    }
    this.#retry ??= this.#platform.timer(RETRY_MS, () => {
      this.#retry = undefined;
      if (this.#watchers.size > 0) void this.#check([...this.#watchers.keys()]);
    });
  }
}

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
interface ProxyCode {
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

/** Marks of one list. */
const MAX_MARKS = 64;
/** Lists in the storage. With `MAX_MARKS` they hold 16,384 marks in less than 1 MiB, however many strangers begin a login. */
const LISTS = 256;
/** A list is written by two requests at once rarely, and by more hardly ever. */
const MAX_MARK_TRIES = 20;
/** 132 bits of a digest. */
const MARK_LENGTH = 22;

/** The digest of a text that was used, and when it may be forgotten. */
type Mark = readonly [digest: string, until: number];

/** Resolves to true for the first call with a digest, on any node, within `ttlMs`. */
export type FirstUse = (digest: string, ttlMs: number) => Promise<boolean>;

/**
 * Remembers which pages and logins were used, for all nodes, in a fixed number of keys: these steps cost a stranger nothing, so they
 * must not fill the storage. A full list forgets its oldest mark. A forgotten mark gives no access: the cookie of the browser and
 * the provider's one-time code are still needed.
 */
export function usedMarks(kv: KeyValue, now: () => number): FirstUse {
  return async (digest, ttlMs) => {
    const key = `oauth used ${listOf(digest)}`;
    const mark = digest.slice(0, MARK_LENGTH);
    for (let tries = 0; tries < MAX_MARK_TRIES; tries++) {
      const stored = await kv.get(key);
      const time = now();
      // Only this function writes these keys.
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

/** The list of a digest: by its last characters, which are as random as the rest. */
function listOf(digest: string): number {
  let sum = 0;
  for (const character of digest.slice(-8)) sum = (sum * 31 + character.charCodeAt(0)) % 65_521;
  return sum % LISTS;
}
