import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Principal } from "../../http/authentication.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import {
  type AuthorizationOptions,
  authenticationOf,
  isPrincipal,
  readAuthentication,
} from "../../transport/authentication.js";
import type { QueueLimits } from "../../transport/channel/outbox.js";
import { type ServeChannelOptions, type ServedChannel, startChannel } from "../../transport/channel/server.js";
import { SUBPROTOCOL, webSocketChannel } from "../../transport/channel/websocket.js";
import {
  type HttpServerOptions,
  isLoopbackAddress,
  requireAuthentication,
} from "../../transport/http/server/options.js";
import { originGuard } from "../../transport/http/server/origin.js";
import { disposable, endpointOf, type ListeningHandle, type Servable } from "../../transport/serve-handle.js";
import type { Endpoint, NetworkInfo } from "../../transport/transport.js";
import { builtin } from "../builtin.js";
import { endedOnSignals } from "../end-on-signals.js";
import { bind, withBoundHost } from "../http/bind.js";
import { authenticationRequest, nodeHandler } from "../http/handler.js";
import { platform as nodePlatform } from "../platform.js";
import { loadWs, type WsSocket } from "./ws-package.js";

/** Access rules and limits of a WebSocket server. */
export interface ServeWebSocketOptions
  extends QueueLimits,
    Omit<ServeChannelOptions, "principal" | "remote" | "network">,
    AuthorizationOptions,
    Pick<HttpServerOptions, "publicUrl" | "allowedHosts" | "allowedOrigins"> {
  /** Port to listen on. 0 picks a free port. Default: 3001. */
  port?: number | undefined;
  /** Address to listen on. Default: loopback, in both address families if available. */
  host?: string | undefined;
  /** Path of the endpoint. Default: `/mcp`. */
  path?: string | undefined;
  /** Maximum number of concurrent connections. Further connections are rejected with 503. Default: 1,024. */
  maxConnections?: number | undefined;
  /**
   * Maximum size of a received message, in bytes. A longer message closes the connection with code 1009. Default: 16
   * MiB.
   */
  maxMessageBytes?: number | undefined;
  /**
   * Interval of pings, in milliseconds. A connection that has not answered when the next ping is due is closed. 0
   * disables pings. Default: 30 s.
   */
  pingEveryMs?: number | undefined;
  /** Replaces the runtime's clock, timers and network, for example in a test. Default: the runtime's own. */
  platform?: Platform | undefined;
}

const OPTIONS =
  "auth authenticate authenticateMs allowUnauthenticated publicUrl allowedHosts allowedOrigins maxInFlight maxFaults onFault maxQueuedMessages maxQueuedBytes port host path maxConnections maxMessageBytes pingEveryMs platform";
/**
 * Maximum length of a connection's output queue, in UTF-16 units. Beyond it, the server stops reading from the client.
 */
const HOLD_INPUT_ABOVE = 1024 * 1024;
const network: NetworkInfo = { transport: "tcp", protocol: "websocket" };

/**
 * Serves clients over WebSockets with the optional package `ws`. Resolves when the server accepts connections. Rejects
 * if the address is not available, or if other machines could call the server and the options do not state who may call
 * it.
 */
export async function serveWebSocket(server: Servable, options: ServeWebSocketOptions = {}): Promise<ListeningHandle> {
  checkOptions("serveWebSocket", options, OPTIONS);
  const { host, port = 3001, path = "/mcp", platform = nodePlatform } = options;
  if (host !== undefined && !isLoopbackAddress(host)) requireAuthentication(options, `the address ${host}`);
  const endpoint = endpointOf(server);
  const checkOpening = openingCheck(endpoint, withBoundHost(options), path, platform);
  const { WebSocketServer } = await loadWs();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxMessageBytes ?? 16 * 1024 * 1024,
    // Compression costs memory per connection, and compressing secrets with attacker-chosen text can reveal them.
    perMessageDeflate: false,
    handleProtocols: () => SUBPROTOCOL,
  });
  const peers = new Set<ServedChannel>();
  const serve = (socket: WsSocket, principal: Principal | undefined) => {
    const channel = webSocketChannel(socket, { ...options, platform, holdInputAbove: HOLD_INPUT_ABOVE });
    const remote = options.allowUnauthenticated === true;
    const peer = startChannel(endpoint, channel, { ...options, remote, network, ...(principal && { principal }) });
    peers.add(peer);
    const stopPings = ping(socket, options.pingEveryMs ?? 30_000, platform);
    void peer.closed.then(() => {
      stopPings();
      peers.delete(peer);
    });
  };
  /** Connections that are not authenticated yet. */
  const arrivals = new Set<Duplex>();
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => {});
    if (peers.size + arrivals.size >= (options.maxConnections ?? 1024)) return refuse(socket, TOO_MANY);
    arrivals.add(socket);
    const verdict = await checkOpening(request);
    arrivals.delete(socket);
    if (socket.destroyed) return;
    if ("status" in verdict) return refuse(socket, verdict);
    sockets.handleUpgrade(request, socket, head, (opened) => serve(opened, verdict.principal));
  };
  const make = () =>
    builtin("node:http")
      .createServer(documents.answer)
      .on("upgrade", (request, socket, head) => void upgrade(request, socket, head));
  const documents = documentsOf(server, withBoundHost(options), platform);
  const bound = await bind(make, host, port);
  const stop = async (graceMs: number) => {
    bound.stopListening();
    for (const socket of arrivals) socket.destroy();
    await Promise.all([...peers].map((peer) => peer.drain(graceMs)));
    await Promise.all([documents.close(), bound.close()]);
  };
  const { port: boundPort, closed } = bound;
  const drain = (graceMs = 2000) => stop(graceMs);
  const url = `ws://${bound.host}:${boundPort}${path}`;
  const handle = disposable({ url, port: boundPort, closed, close: () => stop(0), drain });
  return endedOnSignals(handle, endpoint, platform);
}

interface Refusal {
  status: number;
  message?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

const TOO_MANY: Refusal = { status: 503, message: "too many connections (maxConnections)" };

/** Returns a function that checks an opening request, in the order that reveals least to an unauthorized caller. */
function openingCheck(endpoint: Endpoint, options: ServeWebSocketOptions, path: string, platform: Platform) {
  const { auth, publicUrl = auth?.resource } = options;
  const guard = originGuard({ ...options, publicUrl });
  const authenticate = authenticationOf(options, platform);
  if (guard.beyondLoopback) requireAuthentication(options, "an allowed host beyond loopback");
  return async (request: IncomingMessage): Promise<Refusal | { principal?: Principal }> => {
    const { host = "", origin } = request.headers;
    // Node reads only the first of several Host headers, and a proxy in front may have used another one for routing. A
    // request with several Host headers is therefore rejected.
    if ((request.headersDistinct["host"]?.length ?? 0) > 1) {
      return { status: 400, message: "the request has more than one Host" };
    }
    if (!guard.host(host)) return { status: 403, message: `the Host ${host} is not in \`allowedHosts\`` };
    if (origin !== undefined && !guard.origin(origin)) {
      return { status: 403, message: `the Origin ${origin} is not in \`allowedOrigins\`` };
    }
    if (pathOf(request) !== path) return { status: 404, message: `not found; the endpoint is ${path}` };
    const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
    if (!offered.includes(SUBPROTOCOL)) return { status: 400, message: `the subprotocol must be \`${SUBPROTOCOL}\`` };
    if (authenticate === undefined) return {};
    try {
      const identity = readAuthentication(await authenticate(authenticationRequest(request), request), endpoint);
      return isPrincipal(identity) ? { principal: identity } : { message: "not authenticated", ...identity };
    } catch (error) {
      platform.warn(`\`authenticate\` failed: ${String(error)}`);
      return { status: 500, message: "authentication failed with an error" };
    }
  };
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? url;
}

/** Answers plain HTTP requests: serves the authorization metadata, and rejects all other requests. */
function documentsOf(server: Servable, options: ServeWebSocketOptions, platform: Platform) {
  const { auth, publicUrl, allowedHosts, allowedOrigins } = options;
  const handler =
    auth && nodeHandler(server, { auth, publicUrl, allowedHosts, allowedOrigins, platform, sessions: false });
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (auth?.paths.has(pathOf(request)) === true) handler?.(request, response);
    else response.writeHead(426, { upgrade: "websocket" }).end();
  };
  return { answer, close: async () => handler?.close() };
}

function refuse(socket: Duplex, { status, message = "refused", headers = {} }: Refusal): void {
  const body = `${message}\n`;
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  // Otherwise a client that does not close its side would keep the connection open.
  socket.once("finish", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${builtin("node:http").STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: text/plain\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n${more.join("")}\r\n${body}`,
  );
}

/** Detects half-open connections, which never report an error, by an unanswered ping. */
function ping(socket: WsSocket, everyMs: number, platform: Platform): () => void {
  if (everyMs <= 0) return () => {};
  let alive = true;
  socket.on("pong", () => {
    alive = true;
  });
  const beat = () => {
    if (!alive) return socket.terminate();
    alive = false;
    socket.ping();
    timer = platform.timer(everyMs, beat);
  };
  let timer = platform.timer(everyMs, beat);
  return () => timer.cancel();
}
