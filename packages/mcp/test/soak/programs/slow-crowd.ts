// Connections that send one byte per second, in a process of their own, so that their end does not delay the good client.
import { connect, type Socket } from "node:net";
import { answerCommands, settingsOf } from "./answer-commands.js";

/** How the crowd fares. */
export interface CrowdState {
  standing: number;
  /** Milliseconds from a connection's beginning to its end, at the most. */
  slowestCut: number;
}

/** Connections write in ten groups, so that their bytes come all the time. */
const GROUPS = 10;

const { port } = settingsOf<{ port: number }>();
const sockets = new Set<Socket>();
let tick = 0;
let slowestCut = 0;

function join(at: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const since = performance.now();
    socket.on("error", () => resolve());
    socket.on("connect", () => {
      sockets.add(socket);
      const head = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n";
      const body = "content-type: application/json\r\ncontent-length: 100000\r\n\r\n{";
      socket.write(at % 2 === 0 ? `${head}x-slow: ` : head + body);
      resolve();
    });
    socket.on("close", () => {
      if (sockets.delete(socket)) slowestCut = Math.max(slowestCut, performance.now() - since);
    });
    socket.resume();
  });
}

/** Each socket is in one of the groups, by its place. */
setInterval(() => {
  const group = tick++ % GROUPS;
  let place = 0;
  for (const socket of sockets) if (place++ % GROUPS === group) socket.write("x");
}, 1000 / GROUPS);

async function open(count: number): Promise<void> {
  for (let at = 0; at < count; at += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - at) }, (_, i) => join(at + i)));
  }
}

answerCommands({}, { open, state: (): CrowdState => ({ standing: sockets.size, slowestCut }) });
