import type { AddressInfo, ListenOptions, Server, Socket } from "node:net";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { type ServedStream, type ServeStreamOptions, serveStream } from "../../transport/channel/stream-server.js";
import { isLoopbackAddress } from "../../transport/http/server/options.js";
import { endpointOf, type Servable } from "../../transport/servable.js";
import type { Principal } from "../../transport/transport.js";
import { builtin } from "../builtin.js";
import { decodeUtf8 } from "../decode-utf8.js";
import { platform as nodePlatform } from "../platform.js";
import type { SocketAddress } from "./socket-client.js";
import { framingNamed, type SocketFraming } from "./socket-framing.js";
import { socketStream } from "./socket-stream.js";
import { removeStaleSocket } from "./stale-socket.js";

/** Who may connect to a socket, and what is bounded. */
export interface ServeSocketOptions extends Omit<ServeStreamOptions, "platform" | "decode" | "framing" | "principal"> {
  /** How messages are marked when written; default as the client marks its own. */
  framing?: SocketFraming;
  /** Connections at one time; default 1,024. More are closed at once. */
  maxConnections?: number;
  /** Says who a new connection belongs to; undefined refuses it. */
  authenticate?(socket: Socket): Principal | undefined | Promise<Principal | undefined>;
  /** Serves everybody who can reach an address beyond loopback. Without this and `authenticate` it does not start. */
  allowUnauthenticated?: boolean;
  platform?: Platform;
}

/** A server that listens on a socket. */
export interface SocketHandle {
  /** Where clients connect, with the port that was picked. */
  readonly address: SocketAddress;
  /** Resolves once, when the server has stopped. */
  readonly closed: Promise<void>;
  /** Ends all connections; requests in flight are aborted. */
  close(): Promise<void>;
  /** Takes no new connections, lets requests in flight finish for up to `ms` (default `drainMs`), then closes. */
  drain(ms?: number): Promise<void>;
}

/**
 * Serves TCP clients, or the users of a Unix socket. Resolves when it accepts connections. TCP listens on 127.0.0.1
 * unless another `host` is given; a Unix socket is readable for its owner only.
 */
export async function serveSocket(
  server: Servable,
  address: SocketAddress,
  options: ServeSocketOptions = {},
): Promise<SocketHandle> {
  refuseStrangers(address, options);
  const endpoint = endpointOf(server);
  const { platform = nodePlatform, framing = "auto" } = options;
  const peers = new Set<ServedStream>();
  const serve = (socket: Socket, principal: Principal | undefined) => {
    const settings = { ...options, platform, decode: decodeUtf8, framing: framingNamed(framing) };
    const stream = socketStream(socket, true);
    const peer = serveStream(endpoint, stream, principal === undefined ? settings : { ...settings, principal });
    peers.add(peer);
    void peer.closed.then(() => peers.delete(peer));
  };
  /** Connections of whom it is not yet known whose they are. */
  const arrivals = new Set<Socket>();
  const listener = builtin("node:net").createServer(
    { allowHalfOpen: true, noDelay: true, pauseOnConnect: true },
    (socket) => {
      arrivals.add(socket);
      void admit(socket, options).then((verdict) => {
        arrivals.delete(socket);
        if (verdict.admitted && !socket.destroyed) serve(socket, verdict.principal);
      });
    },
  );
  listener.maxConnections = options.maxConnections ?? 1024;
  const bound = await listen(listener, address);
  const closed = new Promise<void>((resolve) => listener.once("close", () => resolve()));
  const stop = async (end: (peer: ServedStream) => Promise<void>) => {
    listener.close();
    for (const socket of arrivals) socket.destroy();
    await Promise.all([...peers].map(end));
    await closed;
  };
  return { address: bound, closed, close: () => stop((p) => p.close()), drain: (ms) => stop((p) => p.drain(ms)) };
}

function refuseStrangers(address: SocketAddress, options: ServeSocketOptions): void {
  if ("path" in address || isLoopbackAddress(address.host ?? "127.0.0.1")) return;
  if (options.authenticate !== undefined || options.allowUnauthenticated === true) return;
  throw new McpError(
    "invalid_definition",
    `the server has the address ${address.host} and no \`authenticate\` option`,
    {
      fix: "Give `authenticate`, or `allowUnauthenticated: true` if everybody who can reach it may use every tool.",
    },
  );
}

async function admit(
  socket: Socket,
  { authenticate }: ServeSocketOptions,
): Promise<{ admitted: boolean; principal?: Principal }> {
  socket.on("error", () => {});
  if (authenticate === undefined) return { admitted: true };
  try {
    const principal = await authenticate(socket);
    if (principal !== undefined) return { admitted: true, principal };
  } catch {
    // A check that fails admits nobody.
  }
  socket.destroy();
  return { admitted: false };
}

async function listen(listener: Server, address: SocketAddress): Promise<SocketAddress> {
  if ("path" in address) await removeStaleSocket(address.path);
  const where: ListenOptions = "path" in address ? { ...address } : { host: "127.0.0.1", ...address };
  await new Promise<void>((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException) => {
      const name = "path" in address ? address.path : `${where.host} port ${address.port}`;
      const fix = cause.code === "EADDRINUSE" ? "Stop the other program, or choose another address." : undefined;
      const message = `the server cannot listen on ${name}: ${cause.code ?? cause.message}`;
      reject(new McpError("connect_failed", message, { cause, ...(fix === undefined ? {} : { fix }) }));
    };
    listener.once("error", failed);
    listener.listen(where, () => {
      listener.off("error", failed);
      // Later errors concern single connections; they must not end the process.
      listener.on("error", () => {});
      resolve();
    });
  });
  if ("path" in address) {
    if (process.platform !== "win32") builtin("node:fs").chmodSync(address.path, 0o600);
    return address;
  }
  // A server that listens on TCP has an address object.
  const { port } = listener.address() as AddressInfo;
  return { host: where.host ?? "127.0.0.1", port };
}
