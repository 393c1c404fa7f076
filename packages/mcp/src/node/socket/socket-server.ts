import type { AddressInfo, ListenOptions, Server, Socket } from "node:net";
import type { Principal } from "../../http/authentication.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import {
  type AuthenticationOptions,
  authenticationOf,
  isPrincipal,
  readAuthentication,
} from "../../transport/authentication.js";
import { type ServeStreamOptions, serveStream } from "../../transport/channel/stream-server.js";
import { isLoopbackAddress, requireAuthentication } from "../../transport/http/server/options.js";
import { disposable, endpointOf, type Servable, type ServeHandle } from "../../transport/serve-handle.js";
import type { Endpoint, NetworkInfo } from "../../transport/transport.js";
import { builtin } from "../builtin.js";
import { decodeUtf8 } from "../decode-utf8.js";
import { endedOnSignals } from "../end-on-signals.js";
import { checkPort } from "../http/bind.js";
import { platform as nodePlatform } from "../platform.js";
import { type SocketAddress, shownAddress } from "./socket-client.js";
import { framingNamed, type SocketFraming, socketStream } from "./socket-stream.js";

/** Access rules and limits of a socket server. */
export interface ServeSocketOptions
  extends AuthenticationOptions,
    Omit<ServeStreamOptions, "platform" | "decode" | "framing" | "principal" | "remote" | "network"> {
  /** Delimiter of written messages. Default: the form that the client uses. */
  framing?: SocketFraming | undefined;
  /**
   * Maximum number of concurrent connections. Further connections are closed. Default: 1,024, a common limit of open
   * files.
   */
  maxConnections?: number | undefined;
  /** Replaces the runtime's clock, timers and network, for example in a test. Default: the runtime's own. */
  platform?: Platform | undefined;
}

/** A server that listens on a socket. */
export interface SocketHandle extends ServeHandle {
  /** Address for display: `tcp://127.0.0.1:4000`, or `unix:` followed by a path. */
  readonly url: string;
  /** Address for `socketTransport`, with the actual port. */
  readonly address: SocketAddress;
}

/**
 * Serves clients over TCP or a Unix socket. Resolves when the server accepts connections. TCP listens on 127.0.0.1
 * unless `host` is set. Only the owner can access a Unix socket. `drain` of the handle takes at most `drainMs` unless
 * it is called with another time.
 */
export async function serveSocket(
  server: Servable,
  address: SocketAddress,
  options: ServeSocketOptions = {},
): Promise<SocketHandle> {
  checkOptions(
    "serveSocket",
    options,
    "authenticate authenticateMs allowUnauthenticated maxInFlight maxFaults onFault maxMessageBytes maxQueuedMessages maxQueuedBytes holdInputAbove drainMs framing maxConnections platform",
  );
  if (!("path" in address)) checkPort(address.port);
  if (!("path" in address) && !isLoopbackAddress(address.host ?? "127.0.0.1")) {
    requireAuthentication(options, `the address ${address.host}`);
  }
  const endpoint = endpointOf(server);
  const { platform = nodePlatform, framing = "auto" } = options;
  const network: NetworkInfo = { transport: "path" in address ? "unix" : "tcp" };
  const peers = new Set<ServeHandle>();
  const serve = (socket: Socket, principal: Principal | undefined) => {
    const remote = options.allowUnauthenticated === true;
    const settings = { ...options, remote, network, platform, decode: decodeUtf8, framing: framingNamed(framing) };
    const stream = socketStream(socket, true);
    const peer = serveStream(endpoint, stream, principal === undefined ? settings : { ...settings, principal });
    peers.add(peer);
    void peer.closed.then(() => peers.delete(peer));
  };
  /** Connections that are not authenticated yet. */
  const arrivals = new Set<Socket>();
  const authenticate = authenticationOf(options, platform);
  const listener = builtin("node:net").createServer(
    { allowHalfOpen: true, noDelay: true, pauseOnConnect: true },
    (socket) => {
      arrivals.add(socket);
      void admit(socket, authenticate, endpoint, platform).then((verdict) => {
        arrivals.delete(socket);
        if (verdict.admitted && !socket.destroyed) serve(socket, verdict.principal);
      });
    },
  );
  listener.maxConnections = options.maxConnections ?? 1024;
  const bound = await listen(listener, address);
  const closed = new Promise<void>((resolve) => listener.once("close", () => resolve()));
  const stop = async (end: (peer: ServeHandle) => Promise<void>) => {
    listener.close();
    for (const socket of arrivals) socket.destroy();
    await Promise.all([...peers].map(end));
    await closed;
  };
  const handle = disposable({
    url: shownAddress(bound),
    address: bound,
    closed,
    close: () => stop((peer) => peer.close()),
    drain: (graceMs?: number) => stop((peer) => peer.drain(graceMs)),
  });
  return endedOnSignals(handle, endpoint, platform);
}

async function admit(
  socket: Socket,
  authenticate: ServeSocketOptions["authenticate"],
  endpoint: Endpoint,
  platform: Platform,
): Promise<{ admitted: boolean; principal?: Principal }> {
  socket.on("error", () => {});
  if (authenticate === undefined) return { admitted: true };
  try {
    const { remoteAddress } = socket;
    const request = { header: () => undefined, headers: () => ({}), remoteAddress };
    const identity = readAuthentication(await authenticate(request, socket), endpoint);
    if (isPrincipal(identity)) return { admitted: true, principal: identity };
  } catch (error) {
    // A failed check rejects the connection.
    platform.warn(`\`authenticate\` failed: ${String(error)}`);
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
    const restore = "path" in address ? ownerOnly() : () => {};
    listener.listen(where, () => {
      listener.off("error", failed);
      // Later errors concern single connections. They must not end the process.
      listener.on("error", () => {});
      resolve();
    });
    restore();
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
 * Makes new files accessible only to their owner, because otherwise another user could connect before `chmod` restricts
 * the socket file. The returned function ends this. Call it in the same turn.
 */
function ownerOnly(): () => void {
  try {
    const mask = process.umask(0o177);
    return () => process.umask(mask);
  } catch {
    // Worker threads cannot change the umask. `chmod` restricts the file after its creation.
    return () => {};
  }
}

/**
 * Removes the file of a Unix socket on which no process listens. A killed server leaves the file behind, and the file
 * would block the next server. Leaves other files and live sockets alone.
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
