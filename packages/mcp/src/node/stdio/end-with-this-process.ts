const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const endings = new Set<() => void>();

/**
 * Calls `end` when this process exits or receives a signal that the program does not handle. Returns a function that
 * removes the listeners.
 *
 * A child in its own process group does not receive the terminal's Ctrl-C; without this it would outlive its parent.
 */
export function endWithThisProcess(end: () => void): () => void {
  if (endings.size === 0) {
    process.on("exit", endAll);
    for (const signal of SIGNALS) process.on(signal, onSignal);
  }
  endings.add(end);
  return () => {
    if (!endings.delete(end) || endings.size > 0) return;
    process.off("exit", endAll);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

function endAll(): void {
  for (const end of [...endings]) end();
}

function onSignal(signal: NodeJS.Signals): void {
  // The program handles the signal itself; our `exit` listener still runs later.
  if (process.listenerCount(signal) > 1) return;
  endAll();
  for (const name of SIGNALS) process.off(name, onSignal);
  // Without listeners the signal has its default effect.
  process.kill(process.pid, signal);
}
