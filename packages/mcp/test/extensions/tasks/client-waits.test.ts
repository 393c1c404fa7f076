import { connect, McpError, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { serveHttp } from "@parley/mcp/node";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { platform as nodePlatform } from "../../../src/node/platform.js";
import type { Platform } from "../../../src/platform/platform.js";
import { TASKS } from "../../../src/protocol/features/tasks.js";
import { ExtensionResult } from "../../../src/server/call/server-call.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A platform whose time passes faster. */
function faster(times: number): Platform {
  return {
    ...nodePlatform,
    monotonic: () => nodePlatform.monotonic() * times,
    timer: (ms, run, keepAlive) => nodePlatform.timer(ms / times, run, keepAlive),
  };
}

/** A server whose tasks go on when `proceed` is called. */
function slowServer() {
  let proceed = () => {};
  const waits = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  const server = new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 1000 })] })
    .tool("slow", { task: "required" }, async () => {
      await waits;
      return "done";
    })
    .tool("asks", { task: "required" }, async (_args, ctx) => {
      await waits;
      const { n } = await ctx.elicit("how many?", z.object({ n: z.number() }));
      return `n is ${n}`;
    });
  return { server, proceed };
}

/** No deadline, because on a faster clock the slowness of the machine would reach it. */
const PATIENT = {
  connectMs: Number.POSITIVE_INFINITY,
  idleMs: Number.POSITIVE_INFINITY,
  totalMs: Number.POSITIVE_INFINITY,
};

describe.each(["2026-07-28", "2025-11-25"] as const)("a client that waits for a task, %s", (revision) => {
  it("waits for a server that is away for a while", async () => {
    const { server, proceed } = slowServer();
    const handle = await serveHttp(server, { port: 0 });
    cleanups.push(() => handle.close());
    let away = false;
    let refused = 0;
    const client = await connect(handle.url, {
      revisions: [revision],
      extensions: [tasks()],
      platform: faster(50),
      timeouts: PATIENT,
      onElicit: () => ({ action: "accept", content: { n: 7 } }),
      onWarning: () => {},
      fetch: (url, init) => {
        if (!away) return fetch(url, init);
        refused++;
        return Promise.reject(new TypeError("fetch failed"));
      },
    });
    cleanups.push(() => client.close());
    const slow = (await client.startTask("slow")).result();
    const asks = (await client.startTask("asks")).result();
    away = true;
    await expect.poll(() => refused).toBeGreaterThan(2);
    proceed();
    away = false;
    expect(await slow).toBe("done");
    expect(await asks).toBe("n is 7");
  });

  it("TASK26-09, TASK26-15: is told the end of a long task by the server and looks seldom meanwhile", async () => {
    const { server, proceed } = slowServer();
    const handle = await serveHttp(server, { port: 0 });
    cleanups.push(() => handle.close());
    const client = await connect(handle.url, {
      revisions: [revision],
      extensions: [tasks()],
      platform: faster(50),
      timeouts: PATIENT,
    });
    cleanups.push(() => client.close());
    const sent: Record<string, number> = {};
    client.use((call, next) => {
      sent[call.method] = (sent[call.method] ?? 0) + 1;
      return next();
    });
    const done = client.call("slow");
    await expect.poll(() => sent["tasks/get"]).toBeGreaterThan(1);
    if (revision === "2026-07-28") await expect.poll(() => sent["subscriptions/listen"]).toBe(1);
    // A minute and more of the client's clock, in which it could look every second.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    proceed();
    expect(await done).toBe("done");
    // In the older form there is nothing to listen for, and the client goes on to look.
    expect(sent["subscriptions/listen"]).toBe(revision === "2026-07-28" ? 1 : undefined);
    if (revision === "2026-07-28") expect(sent["tasks/get"]).toBeLessThan(15);
  });
});

describe.each(["2026-07-28", "2025-11-25"] as const)("a client that follows many tasks at once, %s", (revision) => {
  it("causes no warning about listeners, with one signal for all of them", async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => void warnings.push(name);
    process.on("warning", note);
    cleanups.push(() => process.off("warning", note));
    const { server, proceed } = slowServer();
    const client = await connect(server, { revisions: [revision], extensions: [tasks()] });
    cleanups.push(() => client.close());
    let looks = 0;
    client.use(({ method }, next) => {
      if (method === "tasks/get") looks++;
      return next();
    });
    const { signal } = new AbortController();
    const started = await Promise.all(Array.from({ length: 15 }, () => client.startTask("slow")));
    const results = started.map((task) => task.result({ signal }));
    await expect.poll(() => looks, { timeout: 30_000 }).toBeGreaterThanOrEqual(15);
    proceed();
    expect(new Set(await Promise.all(results))).toEqual(new Set(["done"]));
    // Warnings are emitted in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });
});

describe("a client with a task that never ends", () => {
  const TASK = { taskId: "t", createdAt: "", lastUpdatedAt: "" };

  it("TASK26-09: gives up some time after the time to live", async () => {
    const task = { ...TASK, status: "working", ttlMs: 1000, pollIntervalMs: 1000 };
    const scripted = defineExtension({
      ...TASKS,
      server: () => ({
        handlers: { "tasks/get": () => task },
        around: { "tools/call": () => new ExtensionResult("task", task) },
      }),
    });
    const server = new Server({ name: "s", version: "1" }, { extensions: [scripted] }).tool("tool", {}, () => "never");
    const client = await connect(server, {
      revisions: ["2026-07-28"],
      extensions: [tasks()],
      platform: faster(500),
      timeouts: PATIENT,
    });
    cleanups.push(() => client.close());
    await expect(client.call("tool")).rejects.toMatchObject({ kind: "timeout", data: { limit: "ttlMs", ms: 1000 } });
  });

  it("TASK25-10: ends when the server refuses the request that brings the questions", async () => {
    const task = { ...TASK, status: "input_required", ttl: null, pollInterval: 20 };
    let looks = 0;
    const scripted = defineExtension({
      ...TASKS,
      server: () => ({
        handlers: {
          "tasks/get": () => {
            looks++;
            return task;
          },
          "tasks/result": () => {
            throw new McpError("invalid_params", "not for you");
          },
        },
        around: { "tools/call": () => new ExtensionResult("task", { task }) },
        capabilities: () => ({ tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
      }),
    });
    const server = new Server({ name: "s", version: "1" }, { extensions: [scripted] }).tool("tool", {}, () => "never");
    const client = await connect(server, { revisions: ["2025-11-25"], extensions: [tasks()] });
    cleanups.push(() => client.close());
    await expect(client.call("tool")).rejects.toMatchObject({ kind: "invalid_params", message: "not for you" });
    expect(looks).toBeLessThan(5);
  });
});

describe("a client that is told the status of its tasks", () => {
  it("asks for the result when it is told the end, without looking at the task before", async () => {
    const server = new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 60_000 })] }).tool(
      "quick",
      { task: "required" },
      () => "done",
    );
    const asked: string[] = [];
    server.use((call, next) => {
      asked.push(call.method);
      return next();
    });
    const client = await connect(server, { revisions: ["2025-11-25"], extensions: [tasks()] });
    cleanups.push(() => client.close());
    expect(await client.call("quick")).toBe("done");
    expect(asked).toEqual(["initialize", "tools/list", "tools/call", "tasks/result"]);
  });
});

describe.each(["2026-07-28", "2025-11-25"] as const)("middleware around a tool that runs as a task, %s", (revision) => {
  it("may report progress before the task exists", async () => {
    const server = new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 10 })] })
      .use(async (call, next) => {
        if (call.method === "tools/call") call.ctx.progress(1, { message: "checking" });
        await new Promise((resolve) => setImmediate(resolve));
        return next();
      })
      .tool("t", { task: "required" }, () => "done");
    const client = await connect(server, { revisions: [revision], extensions: [tasks()] });
    cleanups.push(() => client.close());
    expect(await client.call("t")).toBe("done");
  });
});
