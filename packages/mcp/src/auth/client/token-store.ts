import type { MaybePromise } from "../../encoding/maybe-promise.js";
import { hookResult } from "../discovery/hook-result.js";

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

/** What `work` throws is passed on as it is: the store did not fail. */
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
