/** The functions to run when one signal aborts, by the functions that remove them. One listener serves all of them. */
class AbortListener {
  readonly runs = new Map<() => void, () => void>();

  handleEvent(): void {
    // A function that is removed meanwhile is not called, like listeners of the platform.
    for (const run of this.runs.values()) run();
    this.runs.clear();
  }
}

const listeners = new WeakMap<AbortSignal, AbortListener>();

function nothing(): void {}

/**
 * Calls `run` once when `signal` aborts, or now if it has aborted. Returns the function that removes `run`. Does
 * nothing without a signal. Any number of functions cost one listener, so a signal that many calls share causes no leak
 * warning of the runtime. `run` must not throw. It cannot use the returned function if the signal may already have
 * aborted.
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
