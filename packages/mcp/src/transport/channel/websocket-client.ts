import { platform as runtimePlatform } from "#platform";
import { shownUrl } from "../../http/shown-url.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Transport } from "../transport.js";
import { channelTransport } from "./client.js";
import {
  isConnecting,
  SUBPROTOCOL,
  type WebSocketChannelOptions,
  type WebSocketLike,
  webSocketChannel,
} from "./websocket.js";

/** Makes a WebSocket that is opening. */
export type OpenWebSocket = (url: string, protocol: string) => WebSocketLike | Promise<WebSocketLike>;

/** How a WebSocket is opened and bounded. */
export interface WebSocketTransportOptions extends Omit<WebSocketChannelOptions, "platform" | "holdInputAbove"> {
  platform?: Platform;
  /** How a socket is made; default the runtime's own `WebSocket`. Give it to set headers, where the runtime can. */
  openWebSocket?: OpenWebSocket;
}

/** A client transport over a WebSocket. `open` resolves when the socket is open and rejects when it cannot be. */
export function webSocketTransport(url: string | URL, options: WebSocketTransportOptions = {}): Transport {
  const target = shownUrl(String(url));
  const openWebSocket = options.openWebSocket ?? openRuntimeWebSocket;
  let inner: Transport | undefined;
  let closed = false;
  const opened = () => {
    if (inner !== undefined) return inner;
    throw new McpError("connection_closed", "the transport is not open", { fix: "Call `connect` first." });
  };
  return {
    kind: "channel",
    target,
    async open(receiver) {
      const socket = await openWebSocket(String(url), SUBPROTOCOL);
      inner = channelTransport(
        webSocketChannel(socket, { ...options, platform: options.platform ?? runtimePlatform }),
        target,
      );
      if (closed) return inner.close();
      const ready = whenOpen(socket, target);
      // Before the socket is open, so that no message can come earlier than somebody listens.
      await inner.open(receiver);
      await ready;
    },
    request: async (request) => opened().request(request),
    notify: (notification) => opened().notify(notification),
    abandon: (id, reason) => inner?.abandon(id, reason),
    async close() {
      closed = true;
      await inner?.close();
    },
  };
}

function openRuntimeWebSocket(url: string, protocol: string): WebSocketLike {
  const { WebSocket } = globalThis as { WebSocket?: new (url: string, protocol: string) => WebSocketLike };
  if (WebSocket !== undefined) return new WebSocket(url, protocol);
  throw new McpError("unsupported", "this runtime has no WebSocket", {
    fix: "Pass `openWebSocket`; on Node 20 use the transport of `@parley/mcp/node`, which takes the `ws` package.",
  });
}

function whenOpen(socket: WebSocketLike, target: string): Promise<void> {
  if (!isConnecting(socket)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let why = "";
    let cause: unknown;
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", (event) => {
      // Browsers say nothing here; `ws` and Node's own sockets do.
      if ("error" in event) cause = event.error;
      if ("message" in event) why = String(event.message);
    });
    socket.addEventListener("close", ({ code }) => {
      why ||= `code ${code}`;
      const error = new McpError("connect_failed", `the WebSocket to ${target} could not be opened: ${why}`, {
        cause,
        fix: "Check the address, and that the server there accepts the subprotocol `mcp`.",
      });
      reject(error);
    });
  });
}
