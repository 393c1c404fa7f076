import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { networkOf, type Transport } from "../transport.js";
import { channelTransport } from "./client.js";
import { isConnecting, SUBPROTOCOL, type WebSocketLike, webSocketChannel } from "./websocket.js";
import type { WebSocketTransportOptions } from "./websocket-client.js";

/** Opens a WebSocket. `webSocketTransport` imports this module on demand. */
export async function startWebSocket(
  url: string,
  target: string,
  options: WebSocketTransportOptions & { platform: Platform },
): Promise<Transport> {
  const socket = await (options.openWebSocket ?? openRuntimeWebSocket)(url, SUBPROTOCOL);
  const inner = channelTransport(webSocketChannel(socket, options), target);
  return {
    kind: inner.kind,
    target,
    network: networkOf(url, "websocket"),
    async open(receiver) {
      const ready = whenOpen(socket, target);
      // The channel opens before the socket does, so that no message arrives without a listener.
      await inner.open(receiver);
      await ready;
    },
    request: (request) => inner.request(request),
    notify: (notification) => inner.notify(notification),
    abandon: (id, reason) => inner.abandon(id, reason),
    close: () => inner.close(),
  };
}

function openRuntimeWebSocket(url: string, protocol: string): WebSocketLike {
  const { WebSocket } = globalThis as { WebSocket?: new (url: string, protocol: string) => WebSocketLike };
  if (WebSocket !== undefined) return new WebSocket(url, protocol);
  throw new McpError("unsupported", "this runtime has no WebSocket", {
    fix: "Pass `openWebSocket`; on Node 20 use `nodeWebSocketTransport` of `@parley/mcp/node`, which takes the `ws` package.",
  });
}

function whenOpen(socket: WebSocketLike, target: string): Promise<void> {
  if (!isConnecting(socket)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let why = "";
    let cause: unknown;
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", (event) => {
      // Only `ws` and Node's own WebSocket report a reason.
      if ("error" in event) cause = event.error;
      if ("message" in event) why = String(event.message);
    });
    socket.addEventListener("close", ({ code }) => {
      why ||= `code ${code}`;
      const error = new McpError("connect_failed", `the WebSocket to ${target} could not be opened: ${why}`, {
        cause,
        fix: "Check the address, and that the server accepts the subprotocol `mcp`.",
      });
      reject(error);
    });
  });
}
