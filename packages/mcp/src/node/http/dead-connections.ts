import type { Socket } from "node:net";
import type { Platform, Timer } from "../../platform/platform.js";
import { builtin } from "../builtin.js";

/** How often the connections are checked. */
const CHECK_MS = 15_000;
/** Retransmissions or probes in a row that nothing answers; on most networks the seventh follows about 25 s after the first. */
const MAX_UNANSWERED = 7;
/** The kernel's tables of connections; only Linux has them, and only Linux sends again for 15 minutes before it gives up. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/**
 * Closes connections whose peer has vanished without closing them. Keep-alive probes of TCP find those that are silent. They are
 * not sent while written data is not acknowledged, and event streams write comments: these are found in the kernel's tables.
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

  /** Checks at intervals from now on, for as long as there are connections. */
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

  /** False if the system has no such tables. */
  async #check(): Promise<boolean> {
    const texts = await Promise.all(TABLES.map((table) => this.#read(table).catch(() => undefined)));
    const dead = new Set(texts.flatMap((text) => (text === undefined ? [] : unacknowledged(text))));
    for (const socket of dead.size === 0 ? [] : this.#sockets) if (dead.has(connectionName(socket))) socket.destroy();
    return texts.some((text) => text !== undefined);
  }
}

/** A line with seven or more retransmissions or probes. The counters decide first, so that other lines cost no objects. */
const DEAD = new RegExp(
  String.raw`^ *\d+: (\S+ \S+) \S+ \S+ \S+ (?!0000000[0-${MAX_UNANSWERED - 1}] +\d+ +[0-${MAX_UNANSWERED - 1}] )`,
  "gm",
);

/** The connections of a table whose peers acknowledge nothing, as `connectionName` names them. */
function unacknowledged(table: string): string[] {
  return Array.from(table.matchAll(DEAD), ([, name = ""]) => name);
}

/** A connection in the words of the kernel: both addresses as hexadecimal words in the order of the processor. */
export function connectionName({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${endName(localAddress, localPort)} ${endName(remoteAddress, remotePort)}`;
}

function endName(address = "", port = 0): string {
  const bytes = address.includes(":") ? bytesOf6(address) : Uint8Array.from(address.split("."), Number);
  const words = bytes.length % 4 === 0 ? [...new Uint32Array(bytes.buffer)] : [];
  const hex = (value: number, length: number) => value.toString(16).toUpperCase().padStart(length, "0");
  return `${words.map((word) => hex(word, 8)).join("")}:${hex(port, 4)}`;
}

/** The 16 bytes of an IPv6 address, whose end may be written as IPv4. */
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
