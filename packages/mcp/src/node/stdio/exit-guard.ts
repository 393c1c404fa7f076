const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const endings = new Set<() => void>();

/**
 * Calls `end` when this process ends while it can still act: on exit, and on a signal that nobody else handles.
 * Returns the function that takes the promise back.
 *
 * A child in its own process group does not see the terminal's Ctrl-C; without this it would outlive its parent.
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
  // The program has its own way to end, and our `exit` listener still comes after it.
  if (process.listenerCount(signal) > 1) return;
  endAll();
  for (const name of SIGNALS) process.off(name, onSignal);
  // With no listener left the signal has its usual effect.
  process.kill(process.pid, signal);
}
