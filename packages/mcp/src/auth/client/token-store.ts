import type { MaybePromise } from "../../encoding/maybe-promise.js";

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
   * once. Default: only this process takes turns.
   */
  lock?<T>(key: string, work: () => Promise<T>): Promise<T>;
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
