/**
 * The functions to run when one signal aborts, keyed by the functions that remove them. One listener serves all of
 * them.
 */
class AbortListener {
  readonly runs = new Map<() => void, () => void>();

  handleEvent(): void {
    // The iteration skips functions that are removed meanwhile, as the runtime does with removed listeners.
    for (const run of this.runs.values()) run();
    this.runs.clear();
  }
}

const listeners = new WeakMap<AbortSignal, AbortListener>();

function nothing(): void {}

/**
 * Calls `run` once when `signal` aborts, or now if the signal has already aborted. Returns the function that removes
 * `run`. Does nothing without a signal. `run` must not throw. If the signal may already have aborted, `run` must not
 * use the returned function, because `run` is then called before this function returns.
 *
 * All functions for one signal share one listener, so that the runtime does not warn of a leak if many calls share a
 * signal.
 */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal === undefined) return nothing;
  if (signal.aborted) {
    run();
    return nothing;
  }
  const listener = listeners.get(signal) ?? listen(signal);
  const remove = () => {
    if (!listener.runs.delete(remove) || listener.runs.size > 0 || signal.aborted) return;
    signal.removeEventListener("abort", listener);
    listeners.delete(signal);
  };
  listener.runs.set(remove, run);
  return remove;
}

function listen(signal: AbortSignal): AbortListener {
  const listener = new AbortListener();
  listeners.set(signal, listener);
  signal.addEventListener("abort", listener, { once: true });
  return listener;
}
