import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { type ServeStreamOptions, serveStream } from "../../transport/channel/stream-server.js";
import type { NetworkFacts } from "../../transport/network-facts.js";
import { endpointOf, type Servable } from "../../transport/servable.js";
import type { ServeHandle } from "../../transport/serve-handle.js";
import { decodeUtf8 } from "../decode-utf8.js";
import { endOnSignals, endServer, exitSoon } from "../end-on-signals.js";
import { platform as nodePlatform } from "../platform.js";
import { watchParent } from "./parent-watch.js";
import { processStream } from "./process-stream.js";
import { guardStdout } from "./stdout-guard.js";

/** How the process behaves while it serves its parent. */
export interface ServeStdioOptions extends Omit<ServeStreamOptions, "platform" | "decode" | "framing" | "network"> {
  /**
   * Exit the process when the client is gone; default true. It exits when nothing else keeps it alive, and after half a
   * second in any case. With false the program decides; it can await `closed`.
   */
  exit?: boolean | undefined;
  /** Redirect what the program prints to stdout to stderr; default true, because stray output breaks the protocol. */
  guardStdout?: boolean | undefined;
  /** Treat the exit of the parent process like the end of stdin; default true. */
  watchParent?: boolean | undefined;
  /** Replaces the runtime's clock, timers and network, for example in a test. Default: the runtime's own. */
  platform?: Platform | undefined;
}

const PIPE: NetworkFacts = { transport: "pipe" };

/**
 * Serves the process that started this one, over stdin and stdout. Serving begins with the call itself; the promise resolves
 * at once, with the same handle that every transport has.
 *
 * Stops when stdin ends, when stdout is closed, or when the parent process is gone: requests in flight are answered
 * first (`drainMs`, default 2 s), then the process exits with code 0. SIGINT and SIGTERM end the process as always. In each case
 * `terminate` of a handler object is called first.
 *
 * Spec: Transports, "stdio", https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export async function serveStdio(server: Servable, options: ServeStdioOptions = {}): Promise<ServeHandle> {
  checkOptions(
    "serveStdio",
    options,
    "principal remote maxInFlight maxFaults onFault maxMessageBytes maxQueuedMessages maxQueuedBytes holdInputAbove drainMs exit guardStdout watchParent platform",
  );
  const { platform = nodePlatform, exit = true } = options;
  if (options.guardStdout !== false) guardStdout();
  const endpoint = endpointOf(server);
  const served = serveStream(endpoint, processStream(), { ...options, platform, network: PIPE, decode: decodeUtf8 });
  const unwatch = options.watchParent === false ? () => {} : watchParent(platform, () => void served.drain());
  let exits = exit;
  const closed = served.closed.then(async () => {
    unwatch();
    if (!exit) return;
    await endServer(endpoint, platform);
    if (exits) exitSoon(platform);
  });
  if (exit && endpoint.endsObjects === true) {
    // Also where the program listens to the signal: without its pipe this process has no client.
    const end = (handled: boolean) => {
      if (handled) exits = false;
      return served.close().then(() => closed);
    };
    void closed.then(endOnSignals(end, platform, true));
  }
  return { ...served, closed };
}
