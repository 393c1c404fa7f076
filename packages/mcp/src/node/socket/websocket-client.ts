import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { WebSocketLike } from "../../transport/channel/websocket.js";
import {
  webSocketTransport as neutralTransport,
  type WebSocketTransportOptions,
} from "../../transport/channel/websocket-client.js";
import type { Transport } from "../../transport/transport.js";
import { platform as nodePlatform } from "../platform.js";

/** How a WebSocket is opened on Node. */
export interface NodeWebSocketOptions extends Omit<WebSocketTransportOptions, "platform"> {
  /** Headers of the opening request, for example `authorization`; they need the `ws` package. */
  headers?: Readonly<Record<string, string>>;
  platform?: Platform;
}

/**
 * A client transport over a WebSocket, on Node: by the runtime's own `WebSocket` where there is one and no headers are
 * asked for, else by the optional package `ws`.
 */
export function webSocketTransport(url: string | URL, options: NodeWebSocketOptions = {}): Transport {
  const { headers, platform = nodePlatform, ...rest } = options;
  const own = headers === undefined && "WebSocket" in globalThis;
  const openWebSocket = async (target: string, protocol: string): Promise<WebSocketLike> => {
    const { WebSocket } = await loadWs();
    return new WebSocket(target, protocol, { headers: { ...headers }, perMessageDeflate: false });
  };
  return neutralTransport(url, { ...(own ? {} : { openWebSocket }), ...rest, platform });
}

/** Loads the optional package `ws`, or says that it is needed. */
export async function loadWs(): Promise<typeof import("ws")> {
  try {
    return await import("ws");
  } catch (cause) {
    const fix = "Run `npm install ws`; it is an optional peer dependency.";
    throw new McpError("unsupported", "WebSockets need the package `ws` here", { cause, fix });
  }
}
