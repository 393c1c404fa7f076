import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { atMost, exactly, type Lane, scaled, told } from "../lane.js";
import { KILOBYTE, MEGABYTE, type Memory } from "../memory.js";
import { listenCall } from "../messages.js";
import { type Program, startProgram } from "../program.js";
import type { SubscribersSeen } from "../programs/tool-server.js";
import { requestText } from "../raw-connection.js";
import { waitFor } from "../wait-for.js";

const URI = "soak://changing";
const ROUNDS = 100;
/** Opened at a time, below what a listening socket queues. */
const BATCH = 100;

export const streams: Lane = {
  name: "streams",
  what: "10,000 `subscriptions/listen` streams, and 100 rounds of a change that all of them are told",
  async run({ scale, bundle, say }) {
    const count = scaled(10_000, scale);
    const server = await startProgram<{ port: number }>(
      await bundle(new URL("../programs/tool-server.ts", import.meta.url)),
      {},
    );
    const listeners = new Listeners(server.ready.port);
    try {
      // Code and buffers that the first streams pay for are no cost of a stream.
      await listeners.open(Math.min(count, 200));
      listeners.cut();
      await lastLeft(server);
      listeners.reset();
      const before = await server.ask<Memory>("memory");
      const opened = await timed(() => listeners.open(count));
      const held = await server.ask<Memory>("memory");
      say(`${count} streams opened in ${opened.toFixed(1)} s`);
      const rounds = await timed(() => tellAll(server, listeners));
      const delivered = listeners.heard;
      const worked = await server.ask<number>("processorMs");
      const cutAt = listeners.cut();
      const freedAfter = (await lastLeft(server)) - cutAt;
      const work = (await server.ask<number>("processorMs")) - worked;
      const after = await server.ask<Memory>("memory");
      const warnings = await server.ask<string[]>("warnings");
      const each = (now: number, then: number) => (now - then) / KILOBYTE / count;
      return {
        size: { streams: count, rounds: ROUNDS },
        measures: [
          exactly("changes delivered", delivered, count * ROUNDS),
          exactly("events that were wrong or another stream's", listeners.wrong, 0),
          atMost("memory", "heap per stream", each(held.heap, before.heap), 12, "KB"),
          atMost("memory", "resident memory per stream", each(held.rss, before.rss), 28, "KB"),
          atMost("time", "the last stream was freed after the cut", freedAfter, 1000, "ms"),
          told("time", "processor time of the server for that", work, "ms"),
          atMost("memory", "heap left after the cut", (after.heap - before.heap) / MEGABYTE, 5, "MB"),
          exactly("warnings of the runtime", warnings.length, 0),
          atMost("time", "all opened", opened, 10, "s"),
          told("time", "all rounds", rounds, "s"),
        ],
      };
    } finally {
      listeners.cut();
      await server.stop();
    }
  },
};

/** One change after the other: a change that is told twice or late would be seen as one too many in the next round. */
async function tellAll(server: Program<unknown>, listeners: Listeners): Promise<void> {
  for (let round = 1; round <= ROUNDS; round++) {
    const wanted = listeners.size * round;
    await server.ask("changed");
    // A round that stays incomplete is judged by the count, not by a wait without end.
    if (!(await waitFor(() => listeners.heard >= wanted, 20_000))) return;
  }
}

/** When the server noticed that nobody listens any more, in milliseconds since the epoch. */
async function lastLeft(server: Program<unknown>): Promise<number> {
  let seen: SubscribersSeen = { lastLeftAt: undefined };
  await waitFor(async () => {
    seen = await server.ask<SubscribersSeen>("subscribers");
    return typeof seen.lastLeftAt === "number";
  }, 30_000);
  return seen.lastLeftAt ?? Number.POSITIVE_INFINITY;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const since = performance.now();
  await work();
  return (performance.now() - since) / 1000;
}

/** Clients that listen and do nothing else, on a bare socket each. */
class Listeners {
  readonly #port: number;
  readonly #sockets: Socket[] = [];
  heard = 0;
  wrong = 0;

  constructor(port: number) {
    this.#port = port;
  }

  get size(): number {
    return this.#sockets.length;
  }

  async open(count: number): Promise<void> {
    for (let done = 0; done < count; done += BATCH) {
      const batch = Math.min(BATCH, count - done);
      await Promise.all(Array.from({ length: batch }, (_, at) => this.#listen(done + at + 1)));
    }
  }

  async #listen(id: number): Promise<void> {
    const socket = connect(this.#port, "127.0.0.1");
    this.#sockets.push(socket);
    await once(socket, "connect");
    const { headers, body } = listenCall(id, URI);
    socket.setEncoding("latin1").write(requestText("POST", headers, body));
    const fault = (error: Error) => {
      throw error;
    };
    await new Promise<void>((resolve, reject) => {
      let rest = "";
      socket.on("error", reject);
      socket.on("data", (text) => {
        const blocks = (rest + String(text)).split("\n\n");
        rest = blocks.pop() ?? "";
        if (rest.length > 10_000) fault(new Error(`stream ${id} got no event: ${rest.slice(0, 300)}`));
        for (const block of blocks) this.#event(id, block, resolve);
      });
    });
  }

  #event(id: number, block: string, acknowledged: () => void): void {
    // Before the field may stand the head of the answer and the length of a chunk.
    const data = block.slice(block.indexOf("data: ") + 6);
    if (!block.includes("data: {")) return;
    // Only read for the few members that are checked here.
    const { method, params } = JSON.parse(data) as { method?: string; params?: { uri?: string; _meta?: object } };
    if (method === "notifications/subscriptions/acknowledged") return acknowledged();
    const mine = Object.values(params?._meta ?? {}).some((value) => String(value) === String(id));
    if (method === "notifications/resources/updated" && params?.uri === URI && mine) this.heard++;
    else this.wrong++;
  }

  /** Cuts all connections, and gives the time at which the last one was. */
  cut(): number {
    for (const socket of this.#sockets) socket.destroy();
    return Date.now();
  }

  reset(): void {
    this.#sockets.length = 0;
    this.heard = 0;
  }
}
