import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, type Revision } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { exactly, figure, type Lane, type LaneResult, type LaneSettings, type Measure, scaled, told } from "../lane.js";
import type { Memory } from "../memory.js";
import { echoCall, listenCall, openSession, sessionHeaders } from "../messages.js";
import { type Program, startProgram } from "../program.js";
import { RawConnection } from "../raw-connection.js";
import { RedisWatch } from "../replicas/redis-figures.js";
import { hasRedis, RedisServers, WITHOUT_REDIS } from "../replicas/redis-servers.js";

const CONNECTIONS = 8;
/** Acts that are looked at command by command. */
const WATCHED = 20;
const STEPS = 20;
const TASK_STEPS = 3;
/** Tasks of one principal that are kept while another one runs: the default limit. */
const KEPT_TASKS = 1_000;
const CHANGES = 200;

export const costs: Lane = {
  name: "costs",
  what: "What one call, session, stream and task costs a node and Redis: processor, memory, commands and bytes",
  async run(settings) {
    if (!hasRedis()) return WITHOUT_REDIS;
    const folder = mkdtempSync(join(tmpdir(), "parley-soak-costs-"));
    const redis = await RedisServers.start(join(folder, "redis"), 1);
    const file = await settings.bundle(new URL("../programs/cost-server.ts", import.meta.url));
    const [redisPort = 0] = redis.ports;
    const start = async (authenticates: boolean) => {
      const program = await startProgram<Ready>(file, { redisPort, authenticates }, { sourceMaps: false });
      return new Parts(program, new RedisWatch(redisPort));
    };
    const nodes = { first: await start(false), second: await start(false), withPrincipal: await start(true) };
    try {
      return await measureAll(settings, nodes);
    } finally {
      for (const parts of Object.values(nodes)) await parts.close();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

interface Ready {
  readonly port: number;
  readonly url: string;
}

interface Nodes {
  readonly first: Parts;
  readonly second: Parts;
  readonly withPrincipal: Parts;
}

async function measureAll({ scale, say }: LaneSettings, nodes: Nodes): Promise<LaneResult> {
  const { first: parts } = nodes;
  const calls = scaled(20_000, scale);
  const held = scaled(4_000, scale);
  await parts.open();
  const sessions: string[] = [];
  const measures: Measure[] = [];
  const add = (more: readonly Measure[]) => {
    measures.push(...more);
    say(more.map(({ name, value, unit }) => `${name} ${value} ${unit}`).join(", "));
  };
  add(await parts.costOf("a call without a session", calls, (connection, at) => echo(connection, at)));
  const own = await Promise.all(parts.connections.map((connection) => openSession(connection, "caller")));
  const session = (connection: RawConnection) => own[parts.connections.indexOf(connection)];
  add(await parts.costOf("a call in a session", calls, (connection, at) => echo(connection, at, session(connection))));
  const before = await parts.memory();
  add(
    await parts.costOf("opening a session", held, async (connection) => {
      sessions.push(await openSession(connection, "held"));
    }),
  );
  add(memoryOf("a session", before, await parts.memory(), sessions.length));
  add(await streams(parts, sessions.slice(0, held / 2)));
  add(
    await parts.costOf("ending a session", sessions.length - WATCHED * 2, async (connection) => {
      await connection.send("DELETE", sessionHeaders(sessions.pop() ?? ""));
    }),
  );
  add(await atOneMoreNode(parts, nodes.second, held / 2));
  add(await events(parts, scaled(400, scale)));
  add(await taskCosts(parts, scaled(400, scale)));
  await nodes.withPrincipal.open();
  add(await principalsTask(nodes.withPrincipal, scaled(KEPT_TASKS, scale), scaled(100, scale)));
  const warnings = await parts.server.ask<string[]>("warnings");
  return {
    size: { calls, sessions: held },
    measures: [...measures, exactly("warnings of the runtime", warnings.length, 0)],
    notes: [
      "Processor time of the node holds all that it does for a request: HTTP, JSON, the library, and its driver of Redis.",
      "Commands are those that the node sends; each is one round trip, and those of one session go over one connection.",
      "Redis writes every change to its disk before it answers (appendfsync always).",
    ],
  };
}

async function echo(connection: RawConnection, at: number, session?: string): Promise<void> {
  const { headers, body } = echoCall(at, at, session);
  const { status } = await connection.send("POST", headers, body);
  if (status !== 200) throw new Error(`a call got ${status}`);
}

interface Held extends Memory {
  readonly keys: number;
  readonly bytes: number;
}

function memoryOf(what: string, before: Held, after: Held, count: number): Measure[] {
  return [
    told("memory", `${what}: heap of the node`, (after.heap - before.heap) / count, "bytes"),
    told("memory", `${what}: memory of Redis`, (after.bytes - before.bytes) / count, "bytes"),
    told("count", `${what}: keys of Redis`, (after.keys - before.keys) / count, ""),
  ];
}

/** What a session takes of Redis for each node beyond the first that has served it. */
async function atOneMoreNode(parts: Parts, other: Parts, count: number): Promise<Measure[]> {
  const [first] = parts.connections;
  if (first === undefined) throw new Error("there is no connection");
  const sessions: string[] = [];
  for (let at = 0; at < count; at++) sessions.push(await openSession(first, "shared"));
  const connection = await RawConnection.open(other.server.ready.port);
  // The first session of a node costs Redis the buffers of a connection.
  await openSession(connection, "other");
  const before = await parts.memory();
  for (const [at, session] of sessions.entries()) await echo(connection, at, session);
  const { bytes } = await parts.memory();
  for (const session of sessions) await first.send("DELETE", sessionHeaders(session));
  connection.close();
  const each = (bytes - before.bytes) / count;
  return [told("memory", "a session at one more node: memory of Redis", each, "bytes")];
}

/** Streams that wait for something to be said: one GET for each session, and `subscriptions/listen` without one. */
async function streams(parts: Parts, sessions: readonly string[]): Promise<Measure[]> {
  const { port } = parts.server.ready;
  const before = await parts.memory();
  const open: IncomingMessage[] = [];
  for (const session of sessions) {
    const headers = { ...sessionHeaders(session), accept: "text/event-stream" };
    open.push(await opened({ port, headers }));
  }
  const bySession = memoryOf("a stream of a session", before, await parts.memory(), sessions.length);
  for (const stream of open.splice(0)) stream.destroy();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const idle = await parts.memory();
  for (const [at] of sessions.entries()) {
    const { headers, body } = listenCall(at, "cost://changing");
    open.push(await opened({ port, headers: { ...headers }, method: "POST" }, body));
  }
  const listening = memoryOf("a stream without a session", idle, await parts.memory(), sessions.length);
  const change = await parts.costOf(
    `a change told to ${figure(sessions.length)} streams of a node`,
    CHANGES,
    async () => {
      await parts.server.ask("change");
    },
  );
  for (const stream of open) stream.destroy();
  return [...bySession, ...listening, ...change];
}

function opened(options: object, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", path: "/mcp", ...options }, (response) => {
      response.on("data", () => {}).on("error", () => {});
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`a stream got ${response.statusCode}`));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function events(parts: Parts, count: number): Promise<Measure[]> {
  const client = await parts.client("2025-11-25");
  const calling = (steps: number) => async () => {
    await client.call("count", { steps }, { onProgress() {} });
  };
  const one = await parts.costOf("a call with one event", count, calling(1));
  const many = await parts.costOf(`a call with ${STEPS} events`, count, calling(STEPS));
  return [...one, ...many];
}

async function taskCosts(parts: Parts, count: number): Promise<Measure[]> {
  const client = await parts.client("2026-07-28");
  const before = await parts.memory();
  const measures = await parts.costOf(`a task of ${TASK_STEPS} steps`, count, async () => {
    const task = await client.startTask("work", { steps: TASK_STEPS });
    await task.result();
  });
  return [...measures, ...memoryOf("a finished task", before, await parts.memory(), count + 2 * WATCHED)];
}

/** A task of a principal that has as many as it may: the list of its tasks is written with each. */
async function principalsTask(parts: Parts, kept: number, count: number): Promise<Measure[]> {
  const client = await parts.client("2026-07-28");
  const work = async () => {
    const task = await client.startTask("work", { steps: TASK_STEPS });
    await task.result();
  };
  for (let at = 0; at < kept; at += CONNECTIONS) await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return parts.costOf("a task of a principal that keeps many", count, work);
}

/** The server, its Redis, and the connections to it. */
class Parts {
  readonly server: Program<Ready>;
  readonly connections: RawConnection[] = [];
  readonly #redis: RedisWatch;
  readonly #clients: Client[] = [];

  constructor(server: Program<Ready>, redis: RedisWatch) {
    this.server = server;
    this.#redis = redis;
  }

  async open(): Promise<void> {
    for (let at = 0; at < CONNECTIONS; at++) this.connections.push(await RawConnection.open(this.server.ready.port));
  }

  async client(revision: Revision): Promise<Client> {
    const options = { revisions: [revision], ...(revision === "2026-07-28" ? { extensions: [tasks()] } : {}) };
    const client = (await connect(this.server.ready.url, options)) as Client;
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const connection of this.connections) connection.close();
    await Promise.all(this.#clients.map((client) => client.close().catch(() => {})));
    await this.server.stop();
  }

  async memory(): Promise<Held> {
    return { ...(await this.server.ask<Memory>("memory")), ...(await this.#redis.memory()) };
  }

  /** What one act costs on the average of many, after some that are looked at command by command. */
  async costOf(
    what: string,
    count: number,
    act: (connection: RawConnection, at: number) => Promise<void>,
  ): Promise<Measure[]> {
    const [first] = this.connections;
    if (first === undefined) throw new Error("there is no connection");
    for (let at = 0; at < WATCHED; at++) await act(first, at);
    const commands = await this.#redis.commandsDuring(async () => {
      for (let at = 0; at < WATCHED; at++) await act(first, at);
    });
    const [redis, node] = [await this.#redis.figures(), await this.server.ask<number>("processorMs")];
    let next = 0;
    const lane = async (connection: RawConnection) => {
      for (let at = next++; at < count; at = next++) await act(connection, at);
    };
    await Promise.all(this.connections.map(lane));
    const [redisNow, nodeNow] = [await this.#redis.figures(), await this.server.ask<number>("processorMs")];
    return [
      told("time", `${what}: processor of the node`, ((nodeNow - node) * 1000) / count, "µs"),
      told("count", `${what}: commands to Redis`, commands.length / WATCHED, ""),
      told("time", `${what}: processor of Redis`, (redisNow.micros - redis.micros) / count, "µs"),
      told("count", `${what}: bytes to and from Redis`, (redisNow.bytes - redis.bytes) / count, "bytes"),
    ];
  }
}
