import { shownUrl } from "../../http/shown-url.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import type { WebSocketLike } from "../../transport/channel/websocket.js";
import type { WebSocketTransportOptions } from "../../transport/channel/websocket-client.js";
import { lateTransport } from "../../transport/late-transport.js";
import type { Transport } from "../../transport/transport.js";
import { platform as nodePlatform } from "../platform.js";
import { loadWs } from "./ws-package.js";

/** Options of a WebSocket transport on Node. */
export interface NodeWebSocketOptions extends Omit<WebSocketTransportOptions, "platform"> {
  /** Headers of the opening request, for example `authorization`. They require the `ws` package. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the runtime's clock, timers and network, for example in a test. Default: the runtime's own. */
  platform?: Platform | undefined;
}

/**
 * Creates a client transport over a WebSocket on Node. Uses the runtime's own `WebSocket` if it exists and no headers
 * are needed, otherwise the optional package `ws`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/transports.md | Transports}
 */
export function nodeWebSocketTransport(url: string | URL, options: NodeWebSocketOptions = {}): Transport {
  checkOptions(
    "nodeWebSocketTransport",
    options,
    "maxQueuedMessages maxQueuedBytes maxMessageBytes closeTimeoutMs openWebSocket headers platform",
  );
  const { headers, platform = nodePlatform, ...rest } = options;
  const own = headers === undefined && "WebSocket" in globalThis;
  const openWebSocket = async (target: string, protocol: string): Promise<WebSocketLike> => {
    const { WebSocket } = await loadWs();
    return new WebSocket(target, protocol, { headers: { ...headers }, perMessageDeflate: false });
  };
  const target = shownUrl(String(url));
  return lateTransport(target, async () => {
    const { startWebSocket } = await import("../../transport/channel/websocket-connection.js");
    return startWebSocket(String(url), target, { ...(own ? {} : { openWebSocket }), ...rest, platform });
  });
}
