import type { MaybePromise } from "../../encoding/maybe-promise.js";
import { canonicalResource } from "../discovery/discover.js";
import { hookResult } from "../discovery/steps.js";
import type { Renewal } from "./renewal.js";

/**
 * Stores credentials between connections: registrations and tokens, each as a text under a key. The values are secrets.
 * An implementation must not log them. If several users share it, it must separate their values.
 */
export interface TokenStore {
  /** Returns the value of a key, or undefined if there is none. */
  get(key: string): MaybePromise<string | undefined>;
  /**
   * Stores a value. Must resolve only when the value would survive a crash, because the refresh token that it replaces
   * is already spent.
   */
  set(key: string, value: string): MaybePromise<void>;
  /** Deletes a value. Does nothing if the key has none. */
  delete(key: string): MaybePromise<void>;
  /**
   * Runs `work` under a lock for the key, exclusive among all processes that use this store, so that a refresh token is
   * used only once. Locks of different keys must not block each other: `work` may acquire the lock of another key. When
   * `signal` aborts, the lock is no longer needed and waiting for it may stop. Default: no lock between processes.
   */
  lock?<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/**
 * Stores credentials in memory until the process ends.
 *
 * @example
 * ```ts
 * import { browserLogin, openInBrowser } from "@parley/mcp/login";
 * import { memoryTokenStore, oauth } from "@parley/mcp/auth";
 *
 * const auth = oauth({ login: browserLogin({ open: openInBrowser }), store: memoryTokenStore() });
 * ```
 */
export function memoryTokenStore(): TokenStore {
  const values = new Map<string, string>();
  return {
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, value),
    delete: (key) => void values.delete(key),
  };
}

/** Wraps a store so that its errors name the function that failed. */
export function namedStore(store: TokenStore): TokenStore {
  return {
    get: (key) => hookResult("store.get", () => store.get(key)),
    set: (key, value) => hookResult("store.set", () => store.set(key, value)),
    delete: (key) => hookResult("store.delete", () => store.delete(key)),
    ...(store.lock === undefined ? {} : { lock: (key, work, signal) => runLocked(store, key, work, signal) }),
  };
}

/** Runs `work` under the lock of the store, or without a lock if the store has none. */
export function locked<T>(store: TokenStore, key: string, work: () => Promise<T>): Promise<T> {
  return store.lock === undefined ? work() : store.lock(key, work);
}

/** Runs `work` under a lock. Passes the errors of `work` on unchanged, because they are not failures of the store. */
function runLocked<T>(
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

/** A token with its issuer, resource, client and key. */
export interface TokenRecord {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly scheme: "Bearer" | "DPoP";
  /** The requested scopes, and the granted ones that were not requested. */
  readonly scopes: readonly string[];
  readonly refreshToken?: string | undefined;
  /** Expiry of the access token, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
  /** The private key that the token is bound to. */
  readonly dpopKey?: JsonWebKey | undefined;
}

/** Reads and writes the tokens of one server. Tokens are stored by issuer and never used for another issuer. */
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

  /** Deletes the tokens of the current issuer, and the stored reference to this issuer. */
  async clear(): Promise<void> {
    const issuer = await this.#store.get(this.#pointer());
    if (issuer !== undefined) await this.forget(issuer);
    await this.#store.delete(this.#pointer());
  }

  /**
   * Runs `work` under the lock for this server's tokens. If `fromUser` is true (tokens come from a user's login, not
   * from a grant), deadlines are paused while waiting for the lock.
   */
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
    // The process that holds the lock may be waiting for its user to log in.
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

/** Parses a stored record. Undefined if it is invalid, so that the user logs in again. */
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
    // Safe: every member was checked except the elements of `scopes` and the key, which is checked on import.
    return value as TokenRecord;
  } catch {
    return undefined;
  }
}
