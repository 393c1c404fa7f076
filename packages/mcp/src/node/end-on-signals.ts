import { thrownMessage } from "../encoding/thrown-message.js";
import { atMost } from "../platform/pause.js";
import type { Platform } from "../platform/platform.js";
import type { Endpoint } from "../transport/transport.js";
import { builtin } from "./builtin.js";

/** Maximum time in milliseconds that a process waits for a server's `terminate` before it exits. */
const END_MS = 5000;
/**
 * Time in milliseconds for the program's own cleanup after `terminate`. Much shorter than the time after which clients
 * send SIGTERM (1.5 s or more).
 */
const EXIT_GRACE_MS = 500;

/** Signals that ask a process to end. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Work to do when a signal arrives. */
interface ShutdownHook {
  readonly end: (handled: boolean) => Promise<void>;
  readonly always: boolean;
  readonly platform: Platform;
}

const shutdownHooks = new Set<ShutdownHook>();

/**
 * Calls `end` when SIGINT or SIGTERM arrives and exits afterwards. Without this, the signal would end the process at
 * once. A program with its own listeners for the signal decides itself when it exits: `end` is then called only if
 * `always` is true, and receives true as `handled`. A second signal ends the process. Returns a function that removes
 * the listeners.
 */
export function endOnSignals(end: (handled: boolean) => Promise<void>, platform: Platform, always = false): () => void {
  // `prependListener` makes `onSignal` run before the program's own listeners, so that it counts all of them. A
  // listener added by `once` is no longer counted after it ran.
  if (shutdownHooks.size === 0) for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  const hook = { end, always, platform };
  shutdownHooks.add(hook);
  return () => {
    if (shutdownHooks.delete(hook) && shutdownHooks.size === 0) stopListening();
  };
}

function onSignal(signal: NodeJS.Signals): void {
  const handled = process.listenerCount(signal) > 1;
  const due = [...shutdownHooks].filter(({ always }) => always || !handled);
  if (due.length === 0) return;
  shutdownHooks.clear();
  stopListening();
  // The convention of shells: 128 plus the number of the signal.
  if (!handled) process.exitCode = 128 + builtin("node:os").constants.signals[signal];
  void Promise.all(due.map(({ end }) => end(handled))).then(() => {
    if (!handled) exitSoon(due[0]?.platform);
  });
}

function stopListening(): void {
  for (const signal of SIGNALS) process.removeListener(signal, onSignal);
}

/** Exits when nothing else keeps the process alive, and after half a second in any case. */
export function exitSoon(platform: Platform | undefined): void {
  platform?.timer(EXIT_GRACE_MS, () => process.exit());
}

/** Closes a server before its process exits, if its handler needs cleanup. Never rejects. Waits at most 5 s. */
export async function endServer(endpoint: Endpoint, platform: Platform): Promise<void> {
  if (endpoint.endsObjects !== true) return;
  const closing = endpoint.close?.() ?? Promise.resolve();
  const ended = closing.catch((error: unknown) => platform.warn(`\`terminate\` failed: ${thrownMessage(error)}`));
  await atMost(platform, END_MS, ended, true);
}

/** Closes a server and its handle when the process is asked to end, if the server's handler needs cleanup. */
export function endedOnSignals<H extends { readonly closed: Promise<void>; close(): Promise<void> }>(
  handle: H,
  endpoint: Endpoint,
  platform: Platform,
): H {
  if (endpoint.endsObjects !== true) return handle;
  const end = async () => {
    await handle.close();
    await endServer(endpoint, platform);
  };
  void handle.closed.then(endOnSignals(end, platform));
  return handle;
}
