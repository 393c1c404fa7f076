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

/** Access rules and limits of a socket server. */
export interface ServeSocketOptions extends Omit<ServeStreamOptions, "platform" | "decode" | "framing" | "principal"> {
  /** How messages are delimited when written; default the client's form. */
  framing?: SocketFraming;
  /** Concurrent connections; default 1,024, a common limit of open files. Further ones are closed. */
  maxConnections?: number;
  /** Says who a new connection belongs to; undefined refuses it. */
  authenticate?(socket: Socket): Principal | undefined | Promise<Principal | undefined>;
  /** Allows everyone to connect at an address other than loopback, which otherwise requires `authenticate`. */
  allowUnauthenticated?: boolean;
  platform?: Platform;
}

/** A server that listens on a socket. */
export interface SocketHandle {
  /** The address for clients, with the actual port. */
  readonly address: SocketAddress;
  /** Resolves once, when the server has stopped. */
  readonly closed: Promise<void>;
  /** Ends all connections; requests in flight are aborted. */
  close(): Promise<void>;
  /** Stops accepting connections, lets requests in flight finish for up to `ms` (default `drainMs`), then closes. */
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
  /** Connections that are not authenticated yet. */
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
    `the address ${address.host} is not loopback and there is no \`authenticate\` option`,
    {
      fix: "Pass `authenticate`, or `allowUnauthenticated: true` if everyone who can reach it may use every tool.",
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
    // A failed check rejects the connection.
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
  // Safe: a server that listens on TCP has an address object.
  const { port } = listener.address() as AddressInfo;
  return { host: where.host ?? "127.0.0.1", port };
}

/**
 * Removes the file of a Unix socket that no process listens on: a killed server leaves it behind, and it would block the
 * next one. A file that is not a socket, or a socket that accepts connections, is left alone.
 */
async function removeStaleSocket(path: string): Promise<void> {
  if (process.platform === "win32" || !isSocket(path)) return;
  const refused = await new Promise<boolean>((resolve) => {
    const probe = builtin("node:net").connect(path, () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
  if (refused) builtin("node:fs").rmSync(path, { force: true });
}

function isSocket(path: string): boolean {
  try {
    return builtin("node:fs").lstatSync(path).isSocket();
  } catch {
    return false;
  }
}
