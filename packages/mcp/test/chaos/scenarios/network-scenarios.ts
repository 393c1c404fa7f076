import { connect as connectSocket, createServer, type Server as NetServer, type Socket } from "node:net";
import { connect } from "@parley/mcp";
import { type ListeningHandle, serveHttp } from "@parley/mcp/node";
import { type Lane, scaled } from "../../soak/lane.js";
import { waitFor } from "../../soak/wait-for.js";
import { Outcomes } from "./outcomes.js";
import { echoServer } from "./programs.js";

const PATIENCE_MS = 60_000;
/** The deadline of a call over a partitioned network. */
const IDLE_MS = 300;

/** A TCP relay that can stop forwarding without closing anything, as a partitioned network does. */
class Relay {
  readonly #server: NetServer;
  readonly #sockets = new Set<Socket>();
  #partitioned = false;

  private constructor(server: NetServer) {
    this.#server = server;
  }

  static async to(port: number): Promise<Relay> {
    const relay: Relay = new Relay(createServer((here) => relay.#join(here, connectSocket(port, "127.0.0.1"))));
    await new Promise<void>((resolve) => relay.#server.listen(0, "127.0.0.1", resolve));
    return relay;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  partition(on: boolean): void {
    this.#partitioned = on;
    // Connections of before stay silent for good; only new ones pass after the partition.
    if (!on) for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(here: Socket, there: Socket): void {
    for (const [from, to] of [
      [here, there],
      [there, here],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.on("data", (chunk) => {
        if (!this.#partitioned) to.write(chunk);
      });
    }
  }
}

/** Forwards nothing for a while, in either direction, and closes no connection. */
export const networkPartition: Lane = {
  name: "network-partition",
  what: "The network between client and server forwards nothing for a while and closes no connection",
  async run({ scale }) {
    const outcomes = new Outcomes();
    const rounds = scaled(10, scale);
    const handle = await serveHttp(echoServer(), { port: 0 });
    const relay = await Relay.to(handle.port);
    const client = await connect(`http://127.0.0.1:${relay.port}/mcp`);
    try {
      for (let round = 0; round < rounds; round++) {
        await outcomes.call(() => client.call("echo", { n: round }), String(round));
        outcomes.fault();
        relay.partition(true);
        await outcomes.call(() => client.call("echo", { n: round }, { timeouts: { totalMs: IDLE_MS } }), "never");
        relay.partition(false);
        const isBack = await waitFor(() => outcomes.call(() => client.call("echo", { n: 1 }), "1"), PATIENCE_MS);
        outcomes.expect(isBack, "no call was answered after the partition");
        outcomes.recovered();
      }
    } finally {
      await client.close();
      await relay.close();
      await handle.close();
    }
    return { size: { partitions: rounds }, ...outcomes.measures(["timeout", "connection_closed", "transport_error"]) };
  },
};

const HELLO = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

async function post(url: string, message: object, session?: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
    },
    body: JSON.stringify(message),
  });
}

async function openSession(url: string): Promise<string> {
  const response = await post(url, HELLO);
  await response.text();
  const session = response.headers.get("mcp-session-id") ?? "";
  await (await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, session)).text();
  return session;
}

/** Opens a GET stream by a plain socket, which can be left unread or destroyed; undefined if it is refused. */
async function openStream({ port }: ListeningHandle, session: string): Promise<Socket | undefined> {
  const socket = connectSocket(port, "127.0.0.1");
  socket.on("error", () => {});
  const head = [`GET /mcp HTTP/1.1`, `Host: 127.0.0.1:${port}`, "Accept: text/event-stream"];
  head.push(`Mcp-Session-Id: ${session}`, "Mcp-Protocol-Version: 2025-11-25", "", "");
  socket.write(head.join("\r\n"));
  const reply = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  if (reply.toString("latin1").startsWith("HTTP/1.1 200 ")) return socket;
  socket.destroy();
  return undefined;
}

/** Lets clients vanish with open streams, again and again. */
export const connectionLeak: Lane = {
  name: "connection-leak",
  what: "Clients open sessions and event streams and vanish without closing either",
  async run({ scale }) {
    const outcomes = new Outcomes();
    const clients = scaled(500, scale);
    const handle = await serveHttp(echoServer(), { port: 0, limits: { maxStreams: 8, maxSessions: clients + 8 } });
    try {
      outcomes.fault();
      for (let at = 0; at < clients; at++) {
        (await openStream(handle, await openSession(handle.url)))?.destroy();
      }
      outcomes.noticed();
      const client = await connect(handle.url);
      await outcomes.call(() => client.call("echo", { n: 7 }), "7");
      await client.close();
      // Eight streams may be open: were those of vanished clients still counted, this one would be refused.
      const stream = await openStream(handle, await openSession(handle.url));
      outcomes.expect(stream !== undefined, "a new stream was refused");
      stream?.destroy();
      outcomes.recovered();
    } finally {
      await handle.close();
    }
    return { size: { clients }, ...outcomes.measures([]) };
  },
};

/** Lets one client stop reading its stream while the server goes on publishing. */
export const slowConsumer: Lane = {
  name: "slow-consumer",
  what: "A client never reads its event stream while the server publishes log messages to it",
  async run({ scale }) {
    const outcomes = new Outcomes();
    const lines = scaled(100_000, Math.max(0.2, scale));
    const server = echoServer();
    const handle = await serveHttp(server, { port: 0, limits: { maxQueuedBytes: 65_536 } });
    const good = await connect(handle.url);
    try {
      const session = await openSession(handle.url);
      const level = { jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level: "info" } };
      await (await post(handle.url, level, session)).text();
      const slow = await openStream(handle, session);
      if (slow === undefined) throw new Error("the stream was refused");
      slow.pause();
      outcomes.fault();
      const text = "x".repeat(1_000);
      for (let line = 0; line < lines; line++) {
        server.log("info", text);
        if (line % 1_000 === 0) await outcomes.call(() => good.call("echo", { n: line }), String(line));
      }
      let received = 0;
      slow.on("data", (chunk: Buffer) => {
        received += chunk.length;
      });
      const ended = new Promise((resolve) => slow.once("close", () => resolve(true)));
      slow.resume();
      outcomes.expect((await ended) === true, "the stream that nobody reads stayed open");
      outcomes.noticed();
      outcomes.expect(received < lines * text.length, "every message was queued for a client that does not read");
      await outcomes.call(() => good.call("echo", { n: 1 }), "1");
      outcomes.recovered();
    } finally {
      await good.close();
      await handle.close();
    }
    return { size: { "log messages": lines }, ...outcomes.measures([]) };
  },
};
