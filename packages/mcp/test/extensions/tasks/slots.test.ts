import { connect, Server, type ServerOptions } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { memoryStorage } from "@parley/mcp/storage";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const bare = defineExtension({ id: "io.modelcontextprotocol/tasks", settings: {}, resultTypes: ["task"] });
const one = { limits: { calls: 1, queuedCalls: 1 } };

class Gate {
  open = () => {};
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

function taskServer(options: ServerOptions) {
  const seen = { running: 0, most: 0 };
  const gate = new Gate();
  const work = async (signal: AbortSignal) => {
    seen.most = Math.max(seen.most, ++seen.running);
    await Promise.race([
      gate.opened,
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    ]).finally(() => seen.running--);
  };
  const server = new Server(
    { name: "s", version: "1" },
    { ...options, extensions: [tasks({ pollIntervalMs: 10, leaseMs: 600 })] },
  )
    .tool("asks", { task: "optional" }, async (_args, ctx) => {
      const { n } = await ctx.elicit("n?", z.object({ n: z.number() }));
      await work(ctx.signal);
      return `got ${n}`;
    })
    .tool("asks-later", { task: { support: "optional", begin: "handler" } }, async (_args, ctx) => {
      await ctx.startTask();
      return `got ${(await ctx.elicit("n?", z.object({ n: z.number() }))).n}`;
    })
    .tool("works", { task: "optional", concurrency: 1 }, async (_args, ctx) => {
      await ctx.step("one", () => 1);
      await work(ctx.signal);
      return "worked";
    })
    .tool("plain", {}, () => "plain");
  return { server, seen, gate };
}

async function caller(server: Server) {
  const client = await connect(server, {
    revisions: ["2026-07-28"],
    extensions: [bare],
    onElicit: () => ({ action: "cancel" }),
  });
  cleanups.push(() => client.close());
  const ask = async (method: string, params: object) =>
    (await client.request(method, params as never)) as unknown as Record<string, unknown>;
  return {
    begin: async (name: string) => String((await ask("tools/call", { name }))["taskId"]),
    get: (taskId: string) => ask("tasks/get", { taskId }),
    status: async (taskId: string) => (await ask("tasks/get", { taskId }))["status"],
    async answer(taskId: string) {
      const [name] = Object.keys((await ask("tasks/get", { taskId }))["inputRequests"] as object);
      await ask("tasks/update", {
        taskId,
        inputResponses: { [String(name)]: { action: "accept", content: { n: 4 } } },
      });
    },
    plain: async () => JSON.stringify(await ask("tools/call", { name: "plain" })),
  };
}

describe("TASK26-07: the slots of calls", () => {
  it.each(["asks", "asks-later"])("%s: are free while tasks wait for people", async (tool) => {
    const { server } = taskServer(one);
    const { begin, status, plain } = await caller(server);
    for (let i = 0; i < 3; i++) {
      const id = await begin(tool);
      await expect.poll(() => status(id)).toBe("input_required");
    }
    expect(await plain()).toContain("plain");
  });

  it("are taken again with the answers, one task at a time", async () => {
    const { server, seen, gate } = taskServer(one);
    const { begin, status, answer, get } = await caller(server);
    const ids = [await begin("asks"), await begin("asks"), await begin("asks")];
    for (const id of ids) await expect.poll(() => status(id)).toBe("input_required");
    for (const id of ids) await answer(id);
    await expect.poll(() => seen.running).toBe(1);
    for (const id of ids) expect(await status(id)).toBe("working");
    gate.open();
    for (const id of ids) {
      await expect.poll(() => get(id)).toMatchObject({ status: "completed", result: { content: [{ text: "got 4" }] } });
    }
    expect(seen.most).toBe(1);
  });

  it("are waited for by as many tasks as may run, and ordinary calls keep their places in the queue", async () => {
    const { server, seen, gate } = taskServer(one);
    const { begin, status, plain } = await caller(server);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await begin("works"));
    await expect.poll(() => seen.running).toBe(1);
    const queued = plain();
    gate.open();
    expect(await queued).toContain("plain");
    for (const id of ids) await expect.poll(() => status(id)).toBe("completed");
    expect(seen.most).toBe(1);
  });

  it("are waited for by tasks that a process takes over, however many", async () => {
    const options = { ...one, storage: memoryStorage(), secret: "0123456789abcdef0123456789abcdef" };
    const [a, b, c] = [taskServer(options), taskServer(options), taskServer(options)];
    cleanups.push(() => c.server.close());
    const ids: string[] = [];
    for (const { server } of [a, b]) {
      const { begin } = await caller(server);
      ids.push(await begin("asks"), await begin("asks"), await begin("asks"));
    }
    const last = await caller(c.server);
    for (const id of ids) await expect.poll(() => last.status(id)).toBe("input_required");
    await a.server.close();
    await b.server.close();
    for (const id of ids) await last.answer(id);
    c.gate.open();
    for (const id of ids) await expect.poll(() => last.status(id)).toBe("completed");
    expect(c.seen.most).toBe(1);
  });
});
