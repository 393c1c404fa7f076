import type { Server as NodeServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";
import { platform as nodePlatform } from "../platform.js";

/** One or two listening servers that share a port. */
export interface BoundServer {
  /** Host in the form used in URLs, with brackets around IPv6 addresses. */
  readonly host: string;
  /** The actual port. */
  readonly port: number;
  /** Resolves when all servers are closed. */
  readonly closed: Promise<void>;
  /** Stops accepting connections. Existing connections stay open. */
  stopListening(): void;
  /** Closes connections that have no request, and other connections after their current reply. */
  closeIdle(): void;
  /** Closes all connections. Waits up to `graceMs` for connections whose replies are not fully sent. */
  close(graceMs?: number): Promise<void>;
}

/** Maximum number of attempts to find a port that is free in both address families. */
const MAX_ATTEMPTS = 8;

/**
 * Listens on `host`. If `host` is undefined, listens on both loopback addresses, because some clients resolve
 * `localhost` to `::1` first. Without IPv6, listens on IPv4 only.
 */
export async function bind(make: () => NodeServer, host: string | undefined, port: number): Promise<BoundServer> {
  checkPort(port);
  if (host !== undefined) {
    const server = make();
    const actual = await listen(server, host, port);
    return boundServer([server], urlHost(host), actual);
  }
  for (let attempt = 1; ; attempt++) {
    const first = make();
    const actual = await listen(first, "127.0.0.1", port);
    const second = make();
    try {
      await listen(second, "::1", actual);
      return boundServer([first, second], "127.0.0.1", actual);
    } catch (error) {
      if (!isInUse(error)) return boundServer([first], "127.0.0.1", actual);
      await closeServer(first);
      // A random port may be in use in the other family, so try another. A fixed port would still be in use.
      if (port !== 0 || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Throws if `port` is not a valid port. Untyped programs may pass a string, which Node accepts. */
export function checkPort(port: number): void {
  const number = Number(port);
  if (Number.isInteger(number) && number >= 0 && number < 65_536) return;
  throw new McpError("invalid_definition", `\`port\` is ${String(port)}, not a whole number from 0 to 65535`, {
    fix: "Pass the number of a port; 0 picks a free one.",
  });
}

/**
 * Adds `host` to the allowed hosts if it is a numeric address. Such an address is safe, because DNS cannot rebind it.
 */
export function withBoundHost<O extends { host?: string | undefined; allowedHosts?: readonly string[] | undefined }>(
  options: O,
): O {
  const { host } = options;
  if (host === undefined || !/^[0-9.]+$|:/.test(host) || host === "0.0.0.0" || host === "::") return options;
  return { ...options, allowedHosts: [...(options.allowedHosts ?? []), urlHost(host)] };
}

function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

function isInUse(error: unknown): boolean {
  return McpError.is(error) && (error.cause as { code?: unknown } | undefined)?.code === "EADDRINUSE";
}

function listen(server: NodeServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: Error & { code?: string }) => {
      const message = `The server cannot listen on ${host} port ${port}: ${cause.code ?? cause.message}`;
      const fix =
        cause.code === "EADDRINUSE" ? "Stop the other program, or choose another `port`; 0 picks a free one." : "";
      reject(new McpError("connect_failed", message, { cause, ...(fix === "" ? {} : { fix }) }));
    });
    server.listen({ host, port, ipv6Only: host === "::1", backlog: 1024 }, () => {
      // A server that listens on TCP has an address object.
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function closeServer(server: NodeServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** A connection with Node's internal reference to the reply that is being written. */
type HttpSocket = Socket & { readonly _httpMessage?: { once(event: "close", run: () => void): unknown } | null };

/**
 * Closes a connection once it has no request and all written data is sent. Node considers a connection idle as soon as
 * its reply is written, even if the reply is not sent yet.
 */
function closeWhenIdle(socket: HttpSocket): void {
  const reply = socket._httpMessage;
  if (reply === undefined || reply === null) socket.destroySoon();
  else reply.once("close", () => socket.destroySoon());
}

function boundServer(servers: NodeServer[], host: string, port: number): BoundServer {
  let finish: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let left = servers.length;
  const sockets = new Set<Socket>();
  /** Connections as requests see them. With TLS, these are other objects than those in `sockets`. */
  const served = new Set<Socket>();
  const dead = new DeadConnections(nodePlatform, sockets);
  for (const server of servers) {
    server.on("setSecureContext" in server ? "secureConnection" : "connection", (socket: Socket) => {
      served.add(socket);
      socket.once("close", () => served.delete(socket));
    });
    server.on("connection", (socket) => {
      sockets.add(socket);
      dead.watch();
      socket.once("close", () => sockets.delete(socket));
    });
    server.on("close", () => {
      left -= 1;
      if (left === 0) finish();
    });
    // After listening, errors concern single connections. They must not end the process.
    server.on("error", () => {});
  }
  return {
    host,
    port,
    closed,
    stopListening() {
      const { Server } = builtin("node:net");
      for (const server of servers) {
        // `close` of an HTTP server would also close connections whose replies are written but not sent, so use `close`
        // of `net.Server`. In some runtimes an HTTP server is not a `net.Server`.
        if (server instanceof Server) Server.prototype.close.call(server);
        else (server as NodeServer).close();
      }
    },
    closeIdle() {
      for (const socket of served) closeWhenIdle(socket);
    },
    async close(graceMs = 0) {
      this.stopListening();
      dead.close();
      const deadline = nodePlatform.monotonic() + graceMs;
      const isUnsent = (socket: Socket) => socket.writableLength > 0;
      // Wait at least one turn, because replies just written still have to be sent.
      do await new Promise((resolve) => (graceMs === 0 ? setImmediate(resolve) : setTimeout(resolve, 5)));
      while ([...sockets].some(isUnsent) && nodePlatform.monotonic() < deadline);
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
      await closed;
    },
  };
}

/** Interval of the checks for dead connections, in milliseconds. */
const CHECK_MS = 15_000;
/**
 * Number of consecutive retransmissions or probes without a reply after which a connection counts as dead. On most
 * networks the seventh follows about 25 s after the first.
 */
const MAX_UNANSWERED = 7;
/**
 * The kernel's connection tables. Only Linux has them. Only Linux needs the check, because it retransmits for 15
 * minutes before it gives up.
 */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/**
 * Closes connections whose peer has vanished without closing them. TCP keep-alive probes detect this only on silent
 * connections: the kernel sends no probes while written data is unacknowledged. Event streams regularly write comments,
 * so a vanished peer leaves such data. This class finds connections with unacknowledged data in the kernel's tables.
 */
export class DeadConnections {
  readonly #platform: Platform;
  readonly #sockets: ReadonlySet<Socket>;
  readonly #read: (table: string) => Promise<string>;
  #timer: Timer | undefined;
  #closed = false;

  constructor(
    platform: Platform,
    sockets: ReadonlySet<Socket>,
    read = (table: string) => builtin("node:fs/promises").readFile(table, "latin1"),
  ) {
    this.#platform = platform;
    this.#sockets = sockets;
    this.#read = read;
  }

  /** Checks at intervals for as long as there are connections. */
  watch(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#timer = this.#platform.timer(CHECK_MS, () => {
      this.#timer = undefined;
      if (this.#sockets.size > 0) void this.#check().then((exists) => exists && this.watch());
    });
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  /** Destroys dead connections. Resolves to false if the system has no such tables. */
  async #check(): Promise<boolean> {
    const texts = await Promise.all(TABLES.map((table) => this.#read(table).catch(() => undefined)));
    const dead = new Set(texts.flatMap((text) => (text === undefined ? [] : unacknowledged(text))));
    for (const socket of dead.size === 0 ? [] : this.#sockets) if (dead.has(connectionName(socket))) socket.destroy();
    return texts.some((text) => text !== undefined);
  }
}

/**
 * Matches a line with seven or more retransmissions or probes. The expression itself checks the counters, so that lines
 * of live connections allocate nothing.
 */
const DEAD = new RegExp(
  String.raw`^ *\d+: (\S+ \S+) \S+ \S+ \S+ (?!0000000[0-${MAX_UNANSWERED - 1}] +\d+ +[0-${MAX_UNANSWERED - 1}] )`,
  "gm",
);

/** The connections of a table whose peers acknowledge nothing, in the format of `connectionName`. */
function unacknowledged(table: string): string[] {
  return Array.from(table.matchAll(DEAD), ([, name = ""]) => name);
}

/** Formats a connection like the kernel does: both addresses as hexadecimal words in native byte order. */
export function connectionName({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${endName(localAddress, localPort)} ${endName(remoteAddress, remotePort)}`;
}

function endName(address = "", port = 0): string {
  const bytes = address.includes(":") ? bytesOf6(address) : Uint8Array.from(address.split("."), Number);
  const words = bytes.length % 4 === 0 ? [...new Uint32Array(bytes.buffer)] : [];
  const hex = (value: number, length: number) => value.toString(16).toUpperCase().padStart(length, "0");
  return `${words.map((word) => hex(word, 8)).join("")}:${hex(port, 4)}`;
}

/** The 16 bytes of an IPv6 address. The address may end in IPv4 notation. */
function bytesOf6(address: string): Uint8Array<ArrayBuffer> {
  const [plain = ""] = address.split("%");
  const groups = (part: string) =>
    part
      .split(":")
      .filter((group) => group !== "")
      .flatMap((group) => {
        if (group.includes(".")) return group.split(".").map(Number);
        const value = Number.parseInt(group, 16);
        return [value >> 8, value & 255];
      });
  const [before = "", after = ""] = plain.split("::");
  const [head, tail] = [groups(before), groups(after)];
  return Uint8Array.from([...head, ...Array(Math.max(0, 16 - head.length - tail.length)).fill(0), ...tail]);
}
