import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { McpError } from "../../protocol/error.js";
import type { WebSocketLike } from "../../transport/channel/websocket.js";

/** The part of a `ws` WebSocket that is used here. */
export interface WsSocket extends WebSocketLike {
  on(event: "pong", listener: () => void): unknown;
  ping(): void;
  terminate(): void;
}

/** The part of a `ws` server that is used here. */
interface WsServer {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, opened: (socket: WsSocket) => void): void;
}

/** The optional package `ws`. Declared here, so that programs compile without it and without its types. */
export interface WsPackage {
  WebSocket: new (
    url: string,
    protocol: string,
    options: { headers: Record<string, string>; perMessageDeflate: boolean },
  ) => WsSocket;
  WebSocketServer: new (options: {
    noServer: boolean;
    maxPayload: number;
    perMessageDeflate: boolean;
    handleProtocols: () => string;
  }) => WsServer;
}

/** Loads the optional package `ws`. Throws `unsupported` if it is not installed. */
export async function loadWs(): Promise<WsPackage> {
  try {
    return await import("ws");
  } catch (cause) {
    const fix = "Run `npm install ws`; it is an optional peer dependency.";
    throw new McpError("unsupported", "the package `ws` is required for WebSockets here", { cause, fix });
  }
}
