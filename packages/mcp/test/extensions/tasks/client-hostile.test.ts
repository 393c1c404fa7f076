import { type Client, connect, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { platform as nodePlatform } from "../../../src/node/platform.js";
import type { Platform } from "../../../src/platform/platform.js";
import { TASKS } from "../../../src/protocol/features/tasks.js";
import { ExtensionResult } from "../../../src/server/call/server-call.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const TASK = { taskId: "t-1", status: "working", createdAt: "", lastUpdatedAt: "", ttlMs: 60_000, pollIntervalMs: 20 };
const DONE = { ...TASK, status: "completed", result: { content: [{ type: "text", text: "done" }] } };
const form = {
  method: "elicitation/create",
  params: { message: "?", requestedSchema: { type: "object", properties: {} } },
};

interface Script {
  created?: object;
  /** The answer to the nth look. */
  get(look: number): object;
}

/** A server whose tasks are what the script says, and a client of it. */
async function against({ created = TASK, get }: Script) {
  const seen: Record<string, number> = {};
  const count = (method: string) => {
    seen[method] = (seen[method] ?? 0) + 1;
    return seen[method];
  };
  const answered: string[] = [];
  const scripted = defineExtension({
    ...TASKS,
    server: () => ({
      handlers: {
        "tasks/get": () => get(count("get")),
        "tasks/cancel": () => count("cancel") && {},
        "tasks/update": ({ inputResponses }) => {
          answered.push(...Object.keys(inputResponses as object));
          return {};
        },
      },
      around: {
        "tools/call": () => new ExtensionResult("task", created),
        "resources/read": () => new ExtensionResult("task", created),
      },
    }),
  });
  const server = new Server({ name: "hostile", version: "1" }, { extensions: [scripted] })
    .tool("tool", {}, () => "never")
    .resource("note://1", {}, () => "never");
  let asked = 0;
  const waits: number[] = [];
  const timer: Platform["timer"] = (ms, run, keepAlive) => {
    waits.push(ms);
    return nodePlatform.timer(ms, run, keepAlive);
  };
  const client = await connect(server, {
    platform: { timer },
    revisions: ["2026-07-28"],
    extensions: [tasks()],
    onElicit: () => {
      asked++;
      return { action: "decline" };
    },
  });
  cleanups.push(() => client.close());
  return { client: client as unknown as Client, seen, answered, waits, asked: () => asked };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a client with a server whose tasks are wrong", () => {
  it.each([
    ["another task", () => ({ ...TASK, taskId: "t-2" }), /another task/],
    ["no id", () => ({ ...DONE, taskId: 7 }), /no taskId/],
    ["a status of its own", () => ({ ...TASK, status: "paused" }), /status "paused"/],
    [
      "questions that are no object",
      () => ({ ...TASK, status: "input_required", inputRequests: [1] }),
      /inputRequests/,
    ],
    ["no result", () => ({ ...TASK, status: "completed" }), /no result/],
    ["a result that is none", () => ({ ...DONE, result: { content: 7 } }), /malformed/],
    [
      "a question that is none",
      () => ({ ...TASK, status: "input_required", inputRequests: { a: 7 } }),
      /asks "a" with an unknown/,
    ],
  ])("TASK26-07: refuses %s", async (_what, get, message) => {
    const { client } = await against({ get });
    await expect(client.call("tool")).rejects.toMatchObject({ message: expect.stringMatching(message) });
    await expect(client.task("t-1").result()).rejects.toMatchObject({ message: expect.stringMatching(message) });
  });

  it("TASK26-04: refuses a task as the result of another request", async () => {
    const { client, seen } = await against({ get: () => DONE });
    await expect(client.readResource("note://1")).rejects.toMatchObject({
      kind: "invalid_response",
      message: "the server answered resources/read with a task",
    });
    expect(seen).toEqual({});
  });

  it("TASK26-11: answers a bounded number of questions, and none of too many at once", async () => {
    const questions = (from: number, to: number) =>
      Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`q${from + i}`, form]));
    const many = await against({
      get: () => ({ ...TASK, status: "input_required", inputRequests: questions(0, 10_000) }),
    });
    await expect(many.client.call("tool")).rejects.toMatchObject({ kind: "too_many_questions" });
    expect(many.asked()).toBe(0);
    expect(many.seen["cancel"]).toBe(1);
    const endless = await against({
      get: (look) => ({ ...TASK, status: "input_required", inputRequests: questions(look * 10, look * 10 + 10) }),
    });
    await expect(endless.client.call("tool")).rejects.toMatchObject({ kind: "too_many_questions" });
    expect(endless.asked()).toBe(60);
    expect(endless.seen["cancel"]).toBe(1);
  });

  it("TASK26-11: answers a question once, however often it is shown", async () => {
    const asking = { ...TASK, status: "input_required", inputRequests: { a: form } };
    const { client, answered } = await against({ get: (look) => (look < 6 ? asking : DONE) });
    expect(await client.call("tool")).toBe("done");
    expect(answered).toEqual(["a"]);
  });

  it.each([0, -1, 1e12])("TASK26-09: is not hurried by a poll interval of %d, and its deadline holds", async (ms) => {
    const { client, seen } = await against({
      created: { ...TASK, pollIntervalMs: ms },
      get: () => ({ ...TASK, pollIntervalMs: ms }),
    });
    const call = client.call("tool", {}, { timeouts: { totalMs: 300 } });
    await expect(call).rejects.toMatchObject({ kind: "timeout", data: { deadline: "total" } });
    // At most the look after the cancellation.
    expect(seen["get"] ?? 0).toBeLessThanOrEqual(1);
    await expect.poll(() => seen["cancel"]).toBe(1);
  });

  it("TASK26-09: looks no more often than the server wants, and goes by the newest interval", async () => {
    const { client, waits } = await against({
      created: { ...TASK, pollIntervalMs: 150 },
      get: (look) => (look < 4 ? { ...TASK, pollIntervalMs: look < 3 ? 150 : 30 } : DONE),
    });
    expect(await client.call("tool")).toBe("done");
    // The client adds a little of its own; the other waits are deadlines.
    const looks = waits.filter((ms) => ms < 1000);
    expect(looks).toHaveLength(4);
    for (const ms of looks.slice(0, 3)) expect(ms).toBeGreaterThanOrEqual(150);
    expect(looks[3]).toBeLessThan(50);
  });

  it("keeps to the end of a task, whatever the server says later", async () => {
    const { client } = await against({ get: (look) => (look === 1 ? DONE : { ...TASK, status: "working" }) });
    const handle = await client.startTask("tool");
    expect(await handle.result()).toBe("done");
    await handle.cancel();
    expect(handle.status).toBe("completed");
    const seen: string[] = [];
    for await (const { status } of handle) seen.push(status);
    expect(seen).toEqual(["completed"]);
  });

  it("TASK26-05: looks at a task that is over when it is created, because its result is elsewhere", async () => {
    const { result: _result, ...created } = DONE;
    const { client } = await against({ created, get: () => DONE });
    expect(await client.call("tool")).toBe("done");
  });
});

describe("a client that no longer waits for a task", () => {
  it("stops to look when the iteration is left", async () => {
    const { client, seen } = await against({ get: (look) => ({ ...TASK, lastUpdatedAt: String(look) }) });
    const handle = await client.startTask("tool");
    for await (const { lastUpdatedAt } of handle) if (lastUpdatedAt === "3") break;
    const looks = seen["get"];
    await pause(150);
    expect(seen["get"]).toBe(looks);
    expect(seen["cancel"]).toBeUndefined();
  });

  it("TASK26-13: cancels the task when the signal of the call aborts, started or waited for", async () => {
    const { client, seen } = await against({ get: () => TASK });
    const call = new AbortController();
    setTimeout(() => call.abort(), 60);
    await expect(client.call("tool", {}, { signal: call.signal })).rejects.toMatchObject({ kind: "cancelled" });
    await expect.poll(() => seen["cancel"]).toBe(1);
    const start = new AbortController();
    const handle = await client.startTask("tool", {}, { signal: start.signal });
    start.abort();
    await expect(handle.result()).rejects.toMatchObject({ kind: "cancelled" });
    await expect.poll(() => seen["cancel"]).toBe(2);
    const looks = seen["get"];
    await pause(100);
    expect((seen["get"] ?? 0) - (looks ?? 0)).toBeLessThanOrEqual(2);
  });

  it("ends every wait at once when it is closed, and leaves the task alone", async () => {
    const { client, seen } = await against({ created: { ...TASK, pollIntervalMs: 1e12 }, get: () => TASK });
    const handle = await client.startTask("tool");
    const unread = await client.startTask("tool");
    const waits = [handle.result(), client.call("tool"), client.task("t-1").result(), handle[Symbol.asyncIterator]()];
    const ended = Promise.allSettled(waits.slice(0, 3));
    const iterated = (async () => {
      for await (const _task of unread);
    })().catch((error: unknown) => error);
    await pause(50);
    await client.close();
    for (const one of await ended) expect(one).toMatchObject({ reason: { kind: "connection_closed" } });
    expect(await iterated).toMatchObject({ kind: "connection_closed" });
    await expect(unread.result()).rejects.toMatchObject({ kind: "connection_closed" });
    expect(seen["cancel"]).toBeUndefined();
  });

  it("refuses what cannot be a saved task", async () => {
    const { client } = await against({ get: () => DONE });
    for (const wrong of [undefined, null, "", {}, 7]) {
      expect(() => client.task(wrong as never)).toThrow(expect.objectContaining({ kind: "misuse" }));
    }
  });
});
