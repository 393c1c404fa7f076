import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { describe, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { decodeUtf8 } from "../../src/node/decode-utf8.js";
import { platform } from "../../src/node/platform.js";
import { framingNamed, socketStream } from "../../src/node/socket/socket-stream.js";
import { type ChannelPair, type MakePair, transportContract } from "../../src/testing/transport-kit.js";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { messagePortChannel } from "../../src/transport/channel/message-port.js";
import { StreamChannel, type StreamChannelOptions } from "../../src/transport/channel/stream-channel.js";
import { webSocketChannel } from "../../src/transport/channel/websocket.js";

const LIMITS = { platform, maxQueuedBytes: 32 * 1024 * 1024 };

/** Two sockets connected over loopback or a Unix socket. */
async function socketPair(where: { port: number; host: string } | { path: string }): Promise<[Socket, Socket]> {
  const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  await new Promise<void>((resolve) => listener.listen(where, resolve));
  const address = listener.address();
  const target =
    typeof address === "string" || address === null ? { ...where } : { host: "127.0.0.1", port: address.port };
  const near = connect({ ...(target as { path: string }), allowHalfOpen: true });
  const [far] = (await once(listener, "connection")) as [Socket];
  if (near.connecting) await once(near, "connect");
  listener.close();
  return [near, far];
}

function streamPair(near: Socket, far: Socket, options: StreamChannelOptions): ChannelPair {
  return {
    a: new StreamChannel(socketStream(near), { decode: decodeUtf8, ...options }),
    b: new StreamChannel(socketStream(far), { decode: decodeUtf8, ...options }),
    garbage: () => void near.write(Buffer.from([0xff, 0xfe, 0x0a])),
    // Only TCP has a reset.
    break: () => void (near.remoteAddress === undefined ? near.destroy() : near.resetAndDestroy()),
    stall: () => void far.pause(),
    dispose() {
      near.destroy();
      far.destroy();
    },
  };
}

async function webSocketPair(): Promise<ChannelPair> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const near = new WebSocket(`ws://127.0.0.1:${port}`);
  const [far] = (await once(server, "connection")) as [WebSocket];
  return {
    a: webSocketChannel(near, LIMITS),
    b: webSocketChannel(far, LIMITS),
    garbage: () => near.send(Buffer.from([1, 2, 3])),
    break: () => near.terminate(),
    stall: () => far.pause(),
    dispose() {
      near.terminate();
      far.terminate();
      server.close();
    },
  };
}

const makers: Record<string, MakePair> = {
  "in-memory": () => {
    const [a, b] = channelPair();
    return { a, b };
  },
  TCP: async () => streamPair(...(await socketPair({ port: 0, host: "127.0.0.1" })), LIMITS),
  "TCP with Content-Length": async () =>
    streamPair(...(await socketPair({ port: 0, host: "127.0.0.1" })), {
      ...LIMITS,
      framing: framingNamed("content-length"),
    }),
  "a Unix socket": async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-"));
    const pair = streamPair(...(await socketPair({ path: join(folder, "socket") })), LIMITS);
    return {
      ...pair,
      async dispose() {
        await pair.dispose?.();
        rmSync(folder, { recursive: true });
      },
    };
  },
  MessagePort: () => {
    const { port1, port2 } = new MessageChannel();
    return {
      a: messagePortChannel(port1, LIMITS),
      b: messagePortChannel(port2, LIMITS),
      garbage: () => port1.postMessage({ no: "text" }),
      break: () => port1.close(),
      stall: () => void port2.removeAllListeners("message"),
      dispose() {
        port1.close();
        port2.close();
      },
    };
  },
  WebSocket: webSocketPair,
};

for (const [kind, makePair] of Object.entries(makers)) {
  describe(`a channel over ${kind}`, () => {
    for (const { name, run } of transportContract()) it(name, () => run(makePair));
  });
}
