import type { IncomingMessage, ServerResponse } from "node:http";
import { checkOptions } from "../../protocol/check-options.js";
import { checkAccess, HTTP_OPTIONS, type HttpServerOptions } from "../../transport/http/server/options.js";
import { LateHandler, loadFailure } from "../../transport/late-handler.js";
import { endpointOf, type ListeningHandle, type Servable, serveHandle } from "../../transport/serve-handle.js";
import type { NodeHandler } from "../http/handler.js";
import type { ServeHttpOptions } from "../http/serve-http.js";
import { platform } from "../platform.js";
import type { SocketAddress } from "../socket/socket-client.js";
import type { ServeSocketOptions, SocketHandle } from "../socket/socket-server.js";
import type { ServeWebSocketOptions } from "../socket/websocket-server.js";

/** The handler after its code is loaded. */
interface LoadedHandler {
  (...args: Parameters<NodeHandler>): void;
  drain(graceMs?: number): Promise<void>;
  close(): void | Promise<void>;
}

// Each function loads its code when it is called, so that a stdio server starts without the code of other transports.

/**
 * Serves a server over HTTP, for clients of every revision. Resolves when the server accepts connections. Rejects if
 * the address is not available, or if other machines could call the server and the options do not state who may call
 * it. `drain` of the handle takes at most 10 s by default.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/http.md | Serving over HTTP}
 */
export async function serveHttp(servable: Servable, options: ServeHttpOptions = {}): Promise<ListeningHandle> {
  const http = await import("../http/serve-http.js");
  return http.serveHttp(servable, options);
}

/**
 * Serves a server inside an existing Node HTTP server. Accepts only loopback host names unless `publicUrl` or
 * `allowedHosts` is set. If either is set, `auth`, `authenticate` or `allowUnauthenticated` is required too.
 *
 * Throws immediately for invalid or unsafe options. The code is loaded afterwards; requests wait until it is ready.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/http.md | Serving over HTTP}
 */
export function nodeHandler(servable: Servable, options: HttpServerOptions = {}): NodeHandler {
  checkOptions("nodeHandler", options, HTTP_OPTIONS);
  checkAccess(options);
  const endpoint = endpointOf(servable);
  const late = new LateHandler<LoadedHandler>(
    import("../http/handler.js").then((http) => http.nodeHandler(endpoint, options)),
    (error) => {
      const { status, body } = loadFailure(options.platform ?? platform, error);
      const answer = (_request: IncomingMessage, response: ServerResponse) =>
        void response.writeHead(status, { "content-type": "application/json" }).end(body);
      return Object.assign(answer, { drain: async () => {}, close() {} });
    },
  );
  const handler = (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown) =>
    void late.use((core) => core(request, response, parsedBody));
  return Object.assign(handler, serveHandle(late));
}

/**
 * Serves clients over TCP or a Unix socket. Resolves when the server accepts connections. TCP listens on 127.0.0.1
 * unless `host` is set. Only the owner can access a Unix socket. `drain` of the handle takes at most `drainMs` unless
 * it is called with another time.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/transports.md | Transports}
 */
export async function serveSocket(
  server: Servable,
  address: SocketAddress,
  options: ServeSocketOptions = {},
): Promise<SocketHandle> {
  const sockets = await import("../socket/socket-server.js");
  return sockets.serveSocket(server, address, options);
}

/**
 * Serves clients over WebSockets with the optional package `ws`. Resolves when the server accepts connections. Rejects
 * if the address is not available, or if other machines could call the server and the options do not state who may call
 * it.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/transports.md | Transports}
 */
export async function serveWebSocket(server: Servable, options: ServeWebSocketOptions = {}): Promise<ListeningHandle> {
  const sockets = await import("../socket/websocket-server.js");
  return sockets.serveWebSocket(server, options);
}
