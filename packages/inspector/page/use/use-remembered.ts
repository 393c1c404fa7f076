import { useState } from "preact/hooks";

/** What the page keeps while other views are shown; the oldest is forgotten. */
const MOST_KEPT = 500;
const kept = new Map<string, unknown>();

/** Keeps a value under a key. */
export function remember(key: string, value: unknown): void {
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}

/** A state that outlives its component: another tab, another tool, and back. One component at a time uses a key. */
export function useRemembered<T>(key: string, initial: () => T): readonly [T, (value: T) => void] {
  const [, setTurn] = useState(0);
  if (!kept.has(key)) remember(key, initial());
  const set = (value: T) => {
    remember(key, value);
    setTurn((turn) => turn + 1);
  };
  // Safe: only this hook and `remember` write under the key, with values of the same kind.
  return [kept.get(key) as T, set];
}
