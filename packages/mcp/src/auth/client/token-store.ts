import type { MaybePromise } from "../../encoding/maybe-promise.js";
import { canonicalResource } from "../discovery/discover.js";
import { hookResult } from "../discovery/steps.js";
import type { Renewal } from "./renewal.js";

/**
 * Keeps credentials between connections: registrations and tokens, each a text under a key. A store holds secrets; it must not
 * log them, and one that several users share must keep them apart.
 */
export interface TokenStore {
  get(key: string): MaybePromise<string | undefined>;
  /** Resolves when the value would survive a crash: a refresh token that was used once is worth nothing. */
  set(key: string, value: string): MaybePromise<void>;
  delete(key: string): MaybePromise<void>;
  /**
   * Runs `work` while no other process that uses this store runs it for the same key, so that one refresh token is used
   * once. Locks of different keys do not wait for each other: one may be taken while another is held. When `signal` aborts, the
   * turn is not needed any more, and waiting for it may end. Default: only this process takes turns.
   */
  lock?<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Keeps credentials until the process ends. */
export function memoryTokenStore(): TokenStore {
  const values = new Map<string, string>();
  return {
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, value),
    delete: (key) => void values.delete(key),
  };
}

/** A store whose failures say which of its functions failed. */
export function namedStore(store: TokenStore): TokenStore {
  return {
    get: (key) => hookResult("store.get", () => store.get(key)),
    set: (key, value) => hookResult("store.set", () => store.set(key, value)),
    delete: (key) => hookResult("store.delete", () => store.delete(key)),
    ...(store.lock === undefined ? {} : { lock: (key, work, signal) => lockedBy(store, key, work, signal) }),
  };
}

/** Runs `work` while no other process runs it for the same key, where the store can ensure that. */
export function locked<T>(store: TokenStore, key: string, work: () => Promise<T>): Promise<T> {
  return store.lock === undefined ? work() : store.lock(key, work);
}

/** Runs `work` under a lock, and passes on its errors as they are: the store did not fail. */
function lockedBy<T>(
  store: TokenStore,
  key: string,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const failures = new Set<unknown>();
  const watched = () =>
    work().catch((error: unknown) => {
      failures.add(error);
      throw error;
    });
  return hookResult(
    "store.lock",
    () => store.lock?.(key, watched, signal) ?? watched(),
    (error) => failures.has(error) || (signal?.aborted === true && error === signal.reason),
  );
}

/** A token, and all that belongs to it. */
export interface TokenRecord {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly scheme: "Bearer" | "DPoP";
  /** The scopes that were asked for, and those that were granted beyond them. */
  readonly scopes: readonly string[];
  readonly refreshToken?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
  /** The private key that the token is bound to. */
  readonly dpopKey?: JsonWebKey | undefined;
}

/** Reads and writes the tokens of one server. They are kept by issuer, and none is ever used for another. */
export class StoredTokens {
  readonly #store: TokenStore;
  readonly #server: string;

  constructor(store: TokenStore, url: string) {
    this.#store = store;
    this.#server = canonicalResource(url);
  }

  async load(): Promise<TokenRecord | undefined> {
    const issuer = await this.#store.get(this.#pointer());
    const text = issuer === undefined ? undefined : await this.#store.get(this.#key(issuer));
    const record = text === undefined ? undefined : readRecord(text);
    return record?.issuer === issuer ? record : undefined;
  }

  async save(record: TokenRecord): Promise<void> {
    await this.#store.set(this.#key(record.issuer), JSON.stringify(record));
    await this.#store.set(this.#pointer(), record.issuer);
  }

  async forget(issuer: string): Promise<void> {
    await this.#store.delete(this.#key(issuer));
  }

  /** Forgets the tokens of any issuer. */
  async clear(): Promise<void> {
    const issuer = await this.#store.get(this.#pointer());
    if (issuer !== undefined) await this.forget(issuer);
    await this.#store.delete(this.#pointer());
  }

  /** Takes turns with other processes that use the same credential. Deadlines do not count meanwhile if it comes `fromUser`. */
  exclusively(work: () => Promise<void>, renewal: Renewal, fromUser: boolean): Promise<void> {
    if (this.#store.lock === undefined) return work();
    let begin = () => {};
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const watched = () => {
      begin();
      return work();
    };
    const done = this.#store.lock(`tokens ${this.#server}`, watched, renewal.signal);
    // The process that has the turn may be waiting for its user to log in.
    if (fromUser) renewal.whileAsking(() => Promise.race([turn, done])).catch(() => {});
    return done;
  }

  #key(issuer: string): string {
    return `tokens ${issuer} ${this.#server}`;
  }

  #pointer(): string {
    return `issuer of ${this.#server}`;
  }
}

/** A text that is no record is as good as none: the user logs in again. */
function readRecord(text: string): TokenRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { issuer, resource, clientId, accessToken, scheme, scopes, refreshToken, expiresAt } = value as Partial<
      Record<keyof TokenRecord, unknown>
    >;
    const isRead =
      [issuer, resource, clientId, accessToken].every((one) => typeof one === "string") &&
      ["string", "undefined"].includes(typeof refreshToken) &&
      ["number", "undefined"].includes(typeof expiresAt);
    if (!isRead || (scheme !== "Bearer" && scheme !== "DPoP") || !Array.isArray(scopes)) return undefined;
    // Each member was looked at, but the key, which is checked when it is read.
    return value as TokenRecord;
  } catch {
    return undefined;
  }
}
