import type { Socket } from "node:net";
import { onAbort } from "../../platform/on-abort.js";
import { McpError } from "../../protocol/error.js";
import { channelTransport } from "../../transport/channel/client.js";
import { StreamChannel } from "../../transport/channel/stream-channel.js";
import { closedWhileOpening } from "../../transport/late-transport.js";
import type { NetworkInfo, Transport } from "../../transport/transport.js";
import { builtin } from "../builtin.js";
import { decodeUtf8 } from "../decode-utf8.js";
import { platform as nodePlatform } from "../platform.js";
import type { SocketAddress, SocketTransportOptions } from "./socket-client.js";
import { framingNamed, socketStream } from "./socket-stream.js";

/** Connects and creates the transport. A separate module, so that `socketTransport` loads it on demand. */
export async function connectSocket(
  address: SocketAddress,
  target: string,
  { platform = nodePlatform, framing = "lines", ...limits }: SocketTransportOptions,
  signal: AbortSignal,
): Promise<Transport> {
  const stream = socketStream(await connected(address, target, signal));
  const settings = { ...limits, platform, framing: framingNamed(framing), decode: decodeUtf8 };
  return channelTransport(new StreamChannel(stream, settings), target, networkOf(address));
}

function networkOf(address: SocketAddress): NetworkInfo {
  if ("path" in address) return { transport: "unix", address: address.path };
  return { transport: "tcp", address: address.host ?? "localhost", port: address.port };
}

/** Connects or rejects. `signal` cancels the attempt, because the operating system may try for minutes. */
function connected(address: SocketAddress, target: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(closedWhileOpening(target));
    const socket = builtin("node:net").connect({ ...address, allowHalfOpen: true }, () => {
      socket.off("error", failed);
      unwatch();
      resolve(socket);
    });
    const failed = (cause: NodeJS.ErrnoException) => {
      unwatch();
      const message = `cannot connect to ${target}: ${cause.code ?? cause.message}`;
      const fix = "Check the address, and that the server is running.";
      reject(new McpError("connect_failed", message, { cause, fix }));
    };
    socket.once("error", failed);
    const unwatch = onAbort(signal, () => {
      socket.destroy();
      reject(closedWhileOpening(target));
    });
  });
}
