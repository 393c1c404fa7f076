import { platform as runtimePlatform } from "#platform";
import { shownUrl } from "../../http/shown-url.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { lateTransport } from "../late-transport.js";
import type { Transport } from "../transport.js";
import type { WebSocketChannelOptions, WebSocketLike } from "./websocket.js";

/** Opens a WebSocket. It may still be connecting when returned. */
export type OpenWebSocket = (url: string, protocol: string) => WebSocketLike | Promise<WebSocketLike>;

/** Options of a WebSocket transport. */
export interface WebSocketTransportOptions extends Omit<WebSocketChannelOptions, "platform" | "holdInputAbove"> {
  /** Replaces the clock, timers and network of the runtime, for example in a test. Default: those of the runtime. */
  platform?: Platform | undefined;
  /** Opens the socket, for example with headers. Default: the `WebSocket` of the runtime. */
  openWebSocket?: OpenWebSocket | undefined;
}

/**
 * Creates a client transport over a WebSocket. `open` resolves when the socket is open, and rejects if the socket
 * cannot be opened.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function webSocketTransport(url: string | URL, options: WebSocketTransportOptions = {}): Transport {
  checkOptions(
    "webSocketTransport",
    options,
    "maxQueuedMessages maxQueuedBytes maxMessageBytes closeTimeoutMs openWebSocket platform",
  );
  const { platform = runtimePlatform } = options;
  const target = shownUrl(String(url));
  return lateTransport(target, async () => {
    const { startWebSocket } = await import("./websocket-connection.js");
    return startWebSocket(String(url), target, { ...options, platform });
  });
}
