import { thrownMessage } from "../encoding/thrown-message.js";
import { atMost } from "../platform/pause.js";
import type { Platform } from "../platform/platform.js";
import type { Endpoint } from "../transport/transport.js";
import { builtin } from "./builtin.js";

/** How long the end of a process waits for a server's `terminate`. */
const END_MS = 5000;
/** How long the program may clean up afterwards; clients send SIGTERM after 1.5 s or more. */
const EXIT_GRACE_MS = 500;

/** The signals that ask a process to end. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

interface Ending {
  readonly end: (handled: boolean) => Promise<void>;
  readonly always: boolean;
  readonly platform: Platform;
}

const endings = new Set<Ending>();

/**
 * Calls `end` when SIGINT or SIGTERM arrives, and exits afterwards, because the signal would otherwise end the process at once. A
 * program with listeners of its own for the signal decides itself how and when it exits; `end` is then called only with `always`, and
 * with true. A second signal ends the process. Returns a function that stops it.
 */
export function endOnSignals(end: (handled: boolean) => Promise<void>, platform: Platform, always = false): () => void {
  // Before the program's own listeners: those added by `once` are no longer counted after they ran.
  if (endings.size === 0) for (const signal of SIGNALS) process.prependListener(signal, received);
  const ending = { end, always, platform };
  endings.add(ending);
  return () => {
    if (endings.delete(ending) && endings.size === 0) stopListening();
  };
}

function received(signal: NodeJS.Signals): void {
  const handled = process.listenerCount(signal) > 1;
  const due = [...endings].filter(({ always }) => always || !handled);
  if (due.length === 0) return;
  endings.clear();
  stopListening();
  // As shells write it: 128 and the number of the signal.
  if (!handled) process.exitCode = 128 + builtin("node:os").constants.signals[signal];
  void Promise.all(due.map(({ end }) => end(handled))).then(() => {
    if (!handled) exitSoon(due[0]?.platform);
  });
}

function stopListening(): void {
  for (const signal of SIGNALS) process.removeListener(signal, received);
}

/** Exits when nothing else keeps the process alive, and after half a second in any case. */
export function exitSoon(platform: Platform | undefined): void {
  platform?.timer(EXIT_GRACE_MS, () => process.exit());
}

/** Closes a server whose handler has something to end, before its process exits. Never rejects; waits for 5 s at most. */
export async function endServer(endpoint: Endpoint, platform: Platform): Promise<void> {
  if (endpoint.endsObjects !== true) return;
  const closing = endpoint.close?.() ?? Promise.resolve();
  const ended = closing.catch((error: unknown) => platform.warn(`\`terminate\` failed: ${thrownMessage(error)}`));
  await atMost(platform, END_MS, ended, true);
}

/** Ends a server and its handle when the process is asked to end, if the server's handler has something to end. */
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
