import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import type { QueueLimits } from "../../transport/channel/outbox.js";
import { lateTransport } from "../../transport/late-transport.js";
import type { Transport } from "../../transport/transport.js";
import type { SocketFraming } from "./socket-stream.js";

/** Address of a server: a TCP port, or the path of a Unix socket (on Windows, a named pipe). */
export type SocketAddress =
  | {
      /** TCP port. A server on port 0 picks a free port. */
      port: number;
      /** Host name or IP address. Default: `localhost` for clients, `127.0.0.1` for servers. */
      host?: string;
    }
  | {
      /** Path of a Unix socket, or name of a Windows pipe. */
      path: string;
    };

/** Formats an address for messages. */
export function shownAddress(address: SocketAddress): string {
  return "path" in address ? `unix:${address.path}` : `tcp://${address.host ?? "localhost"}:${address.port}`;
}

/** Options of a socket transport. */
export interface SocketTransportOptions extends QueueLimits {
  /** Delimiter of written messages. Default: one message per line. Both forms are accepted when reading. */
  framing?: Exclude<SocketFraming, "auto"> | undefined;
  /** Maximum size of a received message, in bytes. Default: 16 MiB. */
  maxMessageBytes?: number | undefined;
  /** Replaces the runtime's clock, timers and network, for example in a test. Default: the runtime's own. */
  platform?: Platform | undefined;
}

/**
 * Creates a client transport over TCP or a Unix socket. `open` resolves when the socket is connected, and rejects if
 * the socket cannot connect.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/transports.md | Transports}
 */
export function socketTransport(address: SocketAddress, options: SocketTransportOptions = {}): Transport {
  checkOptions("socketTransport", options, "maxQueuedMessages maxQueuedBytes framing maxMessageBytes platform");
  const target = shownAddress(address);
  return lateTransport(target, async (signal) => {
    const { connectSocket } = await import("./socket-connection.js");
    return connectSocket(address, target, options, signal);
  });
}
