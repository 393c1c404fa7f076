import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { type RedisStorage, redisStorage } from "@parley/redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { EventReader, LegacyClient } from "../../mcp/test/http/legacy-client.js";
import { hasRedis, startRedis, type TestRedis, until } from "./start-redis.js";

interface TestNode {
  readonly storage: RedisStorage;
  readonly server: Server;
  readonly handle: Awaited<ReturnType<typeof serveHttp>>;
}

const PROGRESS = { progressToken: 1 };
const SUBSCRIBED = { uri: "mem://a" };

describe.skipIf(!hasRedis)("three nodes on one Redis", () => {
  let redis: TestRedis;
  let nodes: TestNode[] = [];
  let release: () => void = () => {};
  let turn = 0;

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());
  afterEach(async () => {
    release();
    redis.resume();
    await redis.command("CONFIG", "SET", "maxmemory", "0");
    await Promise.all(nodes.map(({ handle }) => handle.close()));
    await Promise.all(nodes.map(({ storage }) => storage.close()));
    await redis.command("FLUSHALL");
  });

  async function start(nodeLostMs: number): Promise<void> {
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    nodes = await Promise.all(
      [0, 1, 2].map(async (index) => {
        // What waits for the storage of the first one waits longer than a test may take.
        const storage = redisStorage({ url: redis.url, ...(index === 0 ? { timeoutMs: 600_000 } : {}) });
        const server = new Server({ name: "t", version: "1" }, { storage, secret: "k".repeat(32) })
          .tool("hello", {}, () => "hello")
          .tool("steps", {}, async (_args, ctx) => {
            ctx.progress(1);
            await held;
            ctx.progress(2);
            return "done";
          })
          .tool("ask", {}, async (_args, ctx) =>
            JSON.stringify(await ctx.elicit("Name?", { type: "object", properties: { name: { type: "string" } } })),
          )
          .resource("mem://a", {}, () => "a");
        const handle = await serveHttp(server, { port: 0, times: { nodeLostMs } });
        return { storage, server: server as unknown as Server, handle };
      }),
    );
  }

  const node = (index: number): TestNode => {
    const found = nodes[index];
    if (found === undefined) throw new Error(`there is no node ${index}`);
    return found;
  };

  /** A client whose requests go to the node of `turn`. */
  async function connected(nodeLostMs = 60_000): Promise<LegacyClient> {
    await start(nodeLostMs);
    turn = 0;
    const client = new LegacyClient(node(0).handle.url, {
      fetch: (request) => fetch(new Request(node(turn).handle.url, request)),
    });
    await client.open("2025-11-25", { elicitation: {} });
    return client;
  }

  /** Cuts the connections on which nodes hear of each other. */
  const cut = () => redis.command("CLIENT", "KILL", "TYPE", "pubsub");
  const dataOf = (events: readonly { data: string }[]) => events.map(({ data }) => JSON.parse(data));
  const DONE = { result: { content: [{ text: "done" }] } };

  it.each(["paused", "full", "down"])("give a live client its answer while Redis is %s", async (how) => {
    const client = await connected();
    const reader = new EventReader(await client.call("steps", {}, undefined, PROGRESS));
    await reader.message();
    if (how === "paused") redis.pause();
    else if (how === "full") await redis.command("CONFIG", "SET", "maxmemory", "1");
    else await redis.kill();
    release();
    expect(dataOf(await reader.rest())).toMatchObject([{ params: { progress: 2 } }, DONE]);
    // The node knows the session, and another one asks for patience.
    expect((await client.call("hello")).status).toBe(200);
    turn = 1;
    if (how !== "full") expect((await client.call("hello")).status).toBe(503);
    if (how === "down") await redis.restart();
  });

  it("end the call of a node that is gone for whoever resumes it", async () => {
    const client = await connected(1000);
    const reader = new EventReader(await client.call("steps", {}, undefined, PROGRESS));
    const { eventId = "" } = await reader.message();
    await reader.cancel();
    // Without its connections, the node is gone for the others.
    await node(0).storage.close();
    for (turn = 1; turn < 3; turn++) {
      const resumed = new EventReader(await client.get({ "last-event-id": eventId }));
      expect(dataOf(await resumed.rest())).toMatchObject([{ id: 1, error: { data: { reason: "process_lost" } } }]);
    }
  });

  it("keep an answer whose node did not hear of it", async () => {
    const client = await connected();
    const reader = new EventReader(await client.call("ask"));
    const question = await reader.message();
    const cutting = cut();
    turn = 1;
    const result = { action: "accept", content: { name: "Ada" } };
    expect((await client.post({ jsonrpc: "2.0", id: question["id"], result })).status).toBe(202);
    await cutting;
    expect(await reader.message()).toMatchObject({ result: { content: [{ text: '{"name":"Ada"}' }] } });
  });

  it("tell of changes that were made while they were cut off", async () => {
    const client = await connected();
    const reader = new EventReader(await client.get());
    await client.post({ jsonrpc: "2.0", id: "s", method: "resources/subscribe", params: SUBSCRIBED });
    await cut();
    node(1).server.resourceUpdated("mem://a");
    for (;;) if ((await reader.message())["method"] === "notifications/resources/updated") break;
    await reader.cancel();
  });

  it("make a subscription effective before they acknowledge it", async () => {
    const client = await connected();
    const reader = new EventReader(await client.get());
    for (let round = 0; round < 20; round++) {
      turn = 1 + (round % 2);
      await client.post({ jsonrpc: "2.0", id: `s${round}`, method: "resources/subscribe", params: SUBSCRIBED });
      node(2 - (round % 2)).server.resourceUpdated("mem://a");
      expect(await reader.message()).toMatchObject({ method: "notifications/resources/updated" });
      await client.post({ jsonrpc: "2.0", id: `u${round}`, method: "resources/unsubscribe", params: SUBSCRIBED });
    }
    await reader.cancel();
  });

  it("leave nothing of sessions that end on another node", async () => {
    const client = await connected();
    for (let round = 0; round < 4; round++) {
      turn = round % 3;
      client.sessionId = undefined;
      await client.open();
      for (turn = 0; turn < 3; turn++) {
        await new EventReader(await client.call("steps", {}, undefined, PROGRESS)).message();
      }
      turn = 2;
      await new EventReader(await client.get()).cancel();
      turn = 1;
      expect((await client.send("DELETE", {})).status).toBe(204);
    }
    const keys = async () => ((await redis.command("KEYS", "*")) as string[]).filter((key) => !key.includes("/node/"));
    // The session of the client that began is left.
    await until(async () => (await keys()).length <= 1);
  });

  it("drain only when the answers of clients that left are stored", async () => {
    const client = await connected();
    const reader = new EventReader(await client.call("steps", {}, undefined, PROGRESS));
    const { eventId = "" } = await reader.message();
    await reader.cancel();
    redis.pause();
    release();
    setTimeout(() => redis.resume(), 300);
    await node(0).handle.drain(60_000);
    turn = 1;
    const resumed = new EventReader(await client.get({ "last-event-id": eventId }));
    expect(dataOf(await resumed.rest())).toMatchObject([{ params: { progress: 2 } }, DONE]);
  });
});
