import { type Client, connect, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { fetchHandler } from "@parley/mcp/http";
import type { Storage } from "@parley/mcp/storage";
import { tasks } from "@parley/mcp/tasks";
import { type RedisStorage, redisStorage } from "@parley/redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { EventReader, LegacyClient } from "../../mcp/test/http/legacy-client.js";
import { hasRedis, startRedis, type TestRedis, until } from "./start-redis.js";

const SECRET = "0123456789abcdef0123456789abcdef";
const NAME = { type: "object", properties: { name: { type: "string" } } } as const;
/** A client that knows of tasks and leaves them to the test. */
const bare = defineExtension({ id: "io.modelcontextprotocol/tasks", settings: {}, resultTypes: ["task"] });
const open: RedisStorage[] = [];

describe.skipIf(!hasRedis)("two servers on one Redis", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());
  afterEach(async () => {
    await Promise.all(open.splice(0).map((storage) => storage.close()));
  });
  const storageOf = (prefix: string) => {
    const storage = redisStorage({ url: redis.url, prefix, timeoutMs: 10_000 });
    open.push(storage);
    return storage;
  };

  it("serve the sessions of each other, with questions and their answers", async () => {
    const handlers = [1, 2].map(() =>
      fetchHandler(
        new Server({ name: "s", version: "1" }, { storage: storageOf("sessions:"), secret: SECRET })
          .tool("hello", {}, () => "hello")
          .tool("ask", {}, async (_args, ctx) => JSON.stringify(await ctx.elicit("Name?", NAME))),
      ),
    );
    let turn = 0;
    const client = new LegacyClient("http://localhost/mcp", {
      fetch: (request) => handlers[turn++ % 2]?.(request) ?? Promise.reject(new Error("there are two")),
    });
    await client.open("2025-11-25", { elicitation: {} });
    for (let count = 0; count < 6; count++) {
      expect(await (await client.call("hello")).json()).toMatchObject({ result: { content: [{ text: "hello" }] } });
    }
    for (const name of ["a", "b", "c"]) {
      const reader = new EventReader(await client.call("ask"));
      const question = await reader.message();
      const answer = { jsonrpc: "2.0", id: question["id"], result: { action: "accept", content: { name } } };
      expect((await client.post(answer)).status).toBe(202);
      expect(await reader.message()).toMatchObject({ result: { content: [{ text: `{"name":"${name}"}` }] } });
    }
    expect((await client.send("DELETE", {})).status).toBe(204);
    for (let count = 0; count < 2; count++) expect((await client.call("hello")).status).toBe(404);
  });

  it("finish the tasks of each other, and one that was held up writes nothing after its lease", async () => {
    const log: string[] = [];
    const held = holdable(storageOf("tasks:"));
    const gate = withResolvers();
    const serverOf = (name: string, storage: Storage, wait: Promise<unknown>) =>
      new Server(
        { name: "s", version: "1" },
        { storage, secret: SECRET, extensions: [tasks({ leaseMs: 1_000, pollIntervalMs: 20 })] },
      ).tool("two", { task: "required" }, async (_args, ctx) => {
        await ctx.step("a", () => log.push(`${name} a`));
        log.push(`${name} between`);
        await wait;
        await ctx.step("b", () => log.push(`${name} b`));
        return `done by ${name}`;
      });
    const first = serverOf("first", held.storage, gate.promise);
    const second = serverOf("second", storageOf("tasks:"), Promise.resolve());
    const settings = { revisions: ["2026-07-28"], extensions: [bare] } as const;
    const [toFirst, toSecond] = [await connect(first, settings), await connect(second, settings)];
    try {
      const { taskId } = await ask(toFirst, "tools/call", { name: "two", arguments: {} });
      await until(() => log.includes("first between"));
      held.hold();
      await until(async () => (await ask(toSecond, "tasks/get", { taskId }))["status"] === "completed");
      held.release();
      gate.resolve(undefined);
      // By now the first one knows that it has lost the task, whatever it still tries.
      await until(async () => (await ask(toFirst, "tasks/get", { taskId }))["status"] === "completed");
      expect(log).toEqual(["first a", "first between", "second between", "second b"]);
      const task = await ask(toSecond, "tasks/get", { taskId });
      expect(task["result"]).toMatchObject({ content: [{ text: "done by second" }] });
    } finally {
      held.release();
      gate.resolve(undefined);
      await Promise.all([toFirst, toSecond, first, second].map((one) => one.close()));
    }
  });

  it("fence a lease by its version: whoever lost it cannot write, extend or give it back", async () => {
    const [paused, next] = [storageOf("lease:"), storageOf("lease:")];
    const lease = await paused.kv.set("lease", "paused", { ifVersion: 0, ttlMs: 50 });
    await until(async () => (await next.kv.get("lease")) === undefined);
    const taken = (await next.kv.set("lease", "next", { ifVersion: 0, ttlMs: 60_000 })) ?? 0;
    expect(taken).toBeGreaterThan(lease ?? 0);
    expect(await paused.kv.set("lease", "paused", { ifVersion: lease })).toBeUndefined();
    expect(await paused.kv.delete("lease", { ifVersion: lease })).toBe(false);
    // Given back and taken again by others, it is still not the one of the paused process.
    expect(await next.kv.delete("lease", { ifVersion: taken })).toBe(true);
    const third = await next.kv.set("lease", "third", { ifVersion: 0 });
    expect(await paused.kv.set("lease", "paused", { ifVersion: lease })).toBeUndefined();
    expect(await next.kv.get("lease")).toEqual({ value: "third", version: third });
  });
});

/** A request that the client has no method for without the extension; its result as it came. */
async function ask(client: Client, method: string, params: object): Promise<Record<string, unknown>> {
  return (await client.request(method as never, params as never)) as Record<string, unknown>;
}

/** A storage whose calls can be made to wait, as those of a process that is not scheduled. */
function holdable(storage: Storage) {
  let held = Promise.resolve();
  let release = () => {};
  const later =
    <A extends unknown[], R>(method: (...args: A) => R | Promise<R>) =>
    async (...args: A): Promise<R> => {
      await held;
      return method(...args);
    };
  const { kv, log, pubsub } = storage;
  return {
    hold() {
      held = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => release(),
    storage: {
      kv: {
        get: later(kv.get.bind(kv)),
        set: later(kv.set.bind(kv)),
        delete: later(kv.delete.bind(kv)),
        touch: later(kv.touch.bind(kv)),
      },
      log,
      pubsub,
    } satisfies Storage,
  };
}

function withResolvers() {
  let resolve: (value: unknown) => void = () => {};
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
