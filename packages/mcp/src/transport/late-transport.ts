import { McpError } from "../protocol/error.js";
import type { Transport } from "./transport.js";

/**
 * Creates a channel transport whose implementation `make` loads on `open`, so that a program that never connects does
 * not load it. `make` should stop when `signal` aborts. If `make` returns a transport after that, the transport is
 * closed at once.
 */
export function lateTransport(target: string, make: (signal: AbortSignal) => Promise<Transport>): Transport {
  const closing = new AbortController();
  let inner: Transport | undefined;
  const opened = () => {
    if (inner === undefined) throw notOpen();
    return inner;
  };
  return {
    kind: "channel",
    target,
    get network() {
      return inner?.network;
    },
    async open(receiver) {
      const made = await make(closing.signal);
      if (closing.signal.aborted) {
        await made.close();
        throw closedWhileOpening(target);
      }
      inner = made;
      return made.open(receiver);
    },
    request: (request) => (inner === undefined ? Promise.reject(notOpen()) : inner.request(request)),
    notify: (notification) => opened().notify(notification),
    abandon: (id, reason) => inner?.abandon(id, reason),
    explain: (cause) => inner?.explain?.(cause) ?? (cause instanceof Error ? cause : new Error(String(cause))),
    async close() {
      closing.abort();
      await inner?.close();
    },
  };
}

/** Creates the error of `open` for a transport that was closed meanwhile. */
export function closedWhileOpening(target: string): McpError {
  return new McpError("connection_closed", `the connection to ${target} was closed while it was being opened`);
}

function notOpen(): McpError {
  return new McpError("connection_closed", "the transport is not open", { fix: "Call `connect` first." });
}
