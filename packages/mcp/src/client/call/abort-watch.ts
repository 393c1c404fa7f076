const watchers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `run` once when `signal` aborts; the returned function ends that. Any number of watchers cost one listener, so that a
 * signal shared by many calls raises no warning of the runtime.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const known = watchers.get(signal) ?? listen(signal);
  known.add(run);
  return () => {
    known.delete(run);
    if (known.size === 0) unlisten(signal, known);
  };
}

const listeners = new WeakMap<Set<() => void>, () => void>();

function listen(signal: AbortSignal): Set<() => void> {
  const runs = new Set<() => void>();
  const aborted = () => {
    watchers.delete(signal);
    for (const run of [...runs]) run();
  };
  watchers.set(signal, runs);
  listeners.set(runs, aborted);
  signal.addEventListener("abort", aborted, { once: true });
  return runs;
}

function unlisten(signal: AbortSignal, runs: Set<() => void>): void {
  const aborted = listeners.get(runs);
  if (aborted !== undefined) signal.removeEventListener("abort", aborted);
  if (watchers.get(signal) === runs) watchers.delete(signal);
}
