import { useState } from "preact/hooks";

/** Maximum number of cached values. Beyond it, the oldest value is evicted. */
const MAX_CACHED = 500;
const cache = new Map<string, unknown>();

/** Caches a value under a key. */
export function cacheState(key: string, value: unknown): void {
  cache.delete(key);
  cache.set(key, value);
  const [oldest] = cache.keys();
  if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
}

/**
 * State that survives when its component is unmounted, such as when the user switches to another tab or tool and back.
 * Only one component may use a key at a time.
 */
export function useCachedState<T>(key: string, initial: () => T): readonly [T, (value: T) => void] {
  const [, setTurn] = useState(0);
  if (!cache.has(key)) cacheState(key, initial());
  const set = (value: T) => {
    cacheState(key, value);
    setTurn((turn) => turn + 1);
  };
  // Safe: only this hook and `cacheState` write under the key, with values of one type.
  return [cache.get(key) as T, set];
}
