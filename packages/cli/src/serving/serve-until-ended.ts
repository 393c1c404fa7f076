import type { ServeHandle } from "@parley/mcp/node";
import type { Io } from "../terminal/io.js";

/** How long calls may go on after a signal. */
const DRAIN_MS = 10_000;

/** Serves until the client is gone or a signal comes; then calls under way may end. */
export async function serveUntilEnded(handle: ServeHandle, { signal }: Io): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([handle.closed, interrupted]);
  await handle.drain(DRAIN_MS);
}
