import { connect, type Socket } from "node:net";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { channelTransport } from "../../transport/channel/client.js";
import type { QueueLimits } from "../../transport/channel/outbox.js";
import { StreamChannel } from "../../transport/channel/stream-channel.js";
import type { Transport } from "../../transport/transport.js";
import { decodeUtf8 } from "../decode-utf8.js";
import { platform as nodePlatform } from "../platform.js";
import { type FramingName, framingNamed } from "./socket-framing.js";
import { socketStream } from "./socket-stream.js";

/** Where a server listens: a TCP port, or the path of a Unix socket (on Windows of a named pipe). */
export type SocketAddress = { port: number; host?: string } | { path: string };

/** How messages travel over a socket. */
export interface SocketTransportOptions extends QueueLimits {
  /** How messages are marked when written; default one line each. Either form is understood when read. */
  framing?: Exclude<FramingName, "auto">;
  /** Longest message that is read, in bytes; default 16 MiB. */
  maxFrameBytes?: number;
  platform?: Platform;
}

/** A client transport over TCP or a Unix socket. `open` resolves when connected and rejects when that fails. */
export function socketTransport(address: SocketAddress, options: SocketTransportOptions = {}): Transport {
  const { platform = nodePlatform, framing = "lines", ...limits } = options;
  const target = "path" in address ? `unix:${address.path}` : `tcp://${address.host ?? "localhost"}:${address.port}`;
  let inner: Transport | undefined;
  const closing = new AbortController();
  const opened = () => {
    if (inner !== undefined) return inner;
    throw new McpError("connection_closed", "the transport is not open", { fix: "Call `connect` first." });
  };
  return {
    kind: "channel",
    target,
    async open(receiver) {
      const socket = await connected(address, target, closing.signal);
      const stream = socketStream(socket);
      const channel = new StreamChannel(stream, {
        ...limits,
        platform,
        framing: framingNamed(framing),
        decode: decodeUtf8,
      });
      inner = channelTransport(channel, target);
      if (closing.signal.aborted) return inner.close();
      return inner.open(receiver);
    },
    request: async (request) => opened().request(request),
    notify: (notification) => opened().notify(notification),
    abandon: (id, reason) => inner?.abandon(id, reason),
    async close() {
      closing.abort();
      await inner?.close();
    },
  };
}

/** Connects, or rejects; `signal` gives it up, because the system itself may try for minutes. */
function connected(address: SocketAddress, target: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const givenUp = () => {
      socket.destroy();
      reject(new McpError("connection_closed", `the connection to ${target} was closed while it was being opened`));
    };
    const socket = connect({ ...address, allowHalfOpen: true }, () => {
      socket.off("error", failed);
      signal.removeEventListener("abort", givenUp);
      resolve(socket);
    });
    const failed = (cause: NodeJS.ErrnoException) => {
      signal.removeEventListener("abort", givenUp);
      const message = `nothing answers at ${target}: ${cause.code ?? cause.message}`;
      const fix = "Check the address, and that the server there is running.";
      reject(new McpError("connect_failed", message, { cause, fix }));
    };
    socket.once("error", failed);
    signal.addEventListener("abort", givenUp);
  });
}
