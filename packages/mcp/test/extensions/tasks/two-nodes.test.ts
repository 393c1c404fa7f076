import { connect } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { gate, TestNodes, warmUp } from "./nodes.js";

beforeAll(warmUp);

const open: TestNodes[] = [];
afterEach(async () => {
  for (const nodes of open.splice(0)) await nodes.end();
});

function made(options = {}) {
  const log: string[] = [];
  const held = gate();
  const nodes = new TestNodes((server, name) => {
    server
      .tool("asks", { task: "required" }, async (_args, ctx) => {
        const { n } = await ctx.elicit("how many?", z.object({ n: z.number() }));
        return `${name} heard ${n}`;
      })
      .tool("endless", { task: "required" }, async (_args, ctx) => {
        ctx.signal.addEventListener("abort", () => log.push(`${name} aborted: ${ctx.signal.reason.message}`));
        await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
        return "never";
      })
      .tool("deaf", { task: "required" }, () => new Promise<string>(() => {}))
      .tool("held", { task: "required" }, async (_args, ctx) => {
        const value = await ctx.step("held", async () => {
          log.push(`${name} holds`);
          await held.opened;
          return 1;
        });
        await ctx.step("next", () => log.push(`${name} next`));
        return `held ${value}`;
      })
      .tool("long", { input: z.object({ text: z.string() }), task: "required" }, ({ text }) => text)
      .tool("quick", { task: "required" }, () => "quick");
  }, options);
  open.push(nodes);
  return { nodes, log, held };
}

const text = (task: Record<string, unknown>) =>
  (task["result"] as { content: { text: string }[] } | undefined)?.content[0]?.text;

describe("a task of another process", () => {
  it("TASK26-12: is answered from here", async () => {
    const { nodes } = made();
    const [a, b] = [nodes.node("A"), nodes.node("B")];
    const id = await a.start("asks");
    const asking = await nodes.until(
      () => b.get(id),
      ({ status }) => status === "input_required",
    );
    const [name] = Object.keys(asking["inputRequests"] as object);
    const inputResponses = { [String(name)]: { action: "accept", content: { n: 3 } } };
    await b.ask("tasks/update", { taskId: id, inputResponses });
    const task = await nodes.until(
      () => b.get(id),
      ({ status }) => status === "completed",
    );
    expect(text(task)).toBe("A heard 3");
  });

  it("is cancelled from here, also where the message between the processes is lost", async () => {
    const { nodes, log } = made();
    const [a, b] = [nodes.node("A"), nodes.node("B")];
    const ids = [await a.start("endless"), await a.start("endless")];
    await b.ask("tasks/cancel", { taskId: ids[0] });
    await nodes.until(() => log.length === 1);
    b.storage.before = (operation) => {
      if (operation === "publish") throw new Error("lost");
    };
    await b.ask("tasks/cancel", { taskId: ids[1] });
    await nodes.until(() => log.length === 2);
    expect(log[0]).toBe("A aborted: the client cancelled the task");
    for (const id of ids) expect(await a.get(id ?? "")).toMatchObject({ status: "cancelled" });
  });

  it("TASK26-15: tells its changes to those who listen here", async () => {
    const { nodes } = made();
    const [a, b] = [nodes.node("A"), nodes.node("B")];
    const id = await a.start("endless");
    const client = await connect(b.server, { revisions: ["2026-07-28"], extensions: [tasks()] });
    const told: unknown[] = [];
    client.on("notifications/tasks", (params) => void told.push(params));
    void client.request("subscriptions/listen" as never, { notifications: { taskIds: [id] } } as never).catch(() => {});
    await nodes.pass(500);
    await a.ask("tasks/cancel", { taskId: id });
    await nodes.until(() => told.length > 0);
    expect(JSON.stringify(told)).toContain(`"status":"cancelled"`);
    await client.close();
  });
});

describe("a server that closes", () => {
  it("lets a step end and be stored, and leaves the rest to another process", async () => {
    const { nodes, log, held } = made({ leaseMs: 60_000 });
    const [a, b] = [nodes.node("A"), nodes.node("B")];
    const id = await a.start("held");
    await b.get(id);
    await nodes.until(() => log.includes("A holds"));
    const closing = a.server.close();
    await nodes.pass(1000);
    held.open();
    await nodes.during(closing);
    const task = await nodes.until(
      () => b.get(id),
      ({ status }) => status !== "working",
    );
    expect(text(task)).toBe("held 1");
    expect(log).toEqual(["A holds", "B next"]);
  });

  it("does not wait for a step that takes too long", async () => {
    const { nodes, log } = made();
    const [a, b] = [nodes.node("A"), nodes.node("B")];
    const id = await a.start("held");
    await nodes.until(() => log.includes("A holds"));
    await nodes.during(a.server.close());
    const task = await nodes.until(
      () => b.get(id),
      ({ status }) => status !== "working",
    );
    expect(task).toMatchObject({ status: "failed", statusMessage: expect.stringContaining(`step "held"`) });
  });

  it("leaves nothing in the storage but the tasks that are over", async () => {
    const { nodes } = made();
    const a = nodes.node("A");
    for (let at = 0; at < 3; at++) await a.start("quick");
    await nodes.pass(500);
    await nodes.during(a.server.close());
    expect(nodes.keys()).toBe(3);
  });
});

describe("a task that expires", () => {
  it("ends its handler, and nobody can read it", async () => {
    const { nodes, log } = made({ ttlMs: 5000 });
    const a = nodes.node("A");
    const id = await a.start("endless");
    await nodes.until(() => log.length > 0);
    expect(log).toEqual(["A aborted: the task has expired"]);
    await expect(a.get(id)).rejects.toMatchObject({ kind: "invalid_params", data: { reason: "unknown_task" } });
    await nodes.pass(10_000);
    expect(nodes.keys()).toBe(0);
  });

  it("is forgotten although its handler does not listen, and although its process is gone", async () => {
    const { nodes } = made({ ttlMs: 5000 });
    const a = nodes.node("A");
    await a.start("deaf");
    a.storage.cut();
    await nodes.pass(20_000);
    expect(nodes.keys()).toBe(0);
  });
});

describe("the storage", () => {
  it("is told of a task before others can take this process for one that forgot it", async () => {
    const { nodes } = made();
    const a = nodes.node("A");
    const slow = gate();
    a.storage.before = (operation, key) =>
      operation === "set" && /\/tasks\/[^/]{32}$/.test(key) ? slow.opened : undefined;
    const starting = a.start("quick");
    await nodes.pass(5000);
    slow.open();
    const id = await starting;
    const task = await nodes.until(
      () => a.get(id),
      ({ status }) => status !== "working",
    );
    expect(text(task)).toBe("quick");
  });

  it("is not asked more with each beat, however many tasks run", async () => {
    const { nodes } = made({ ttlMs: 3_600_000 });
    const a = nodes.node("A");
    for (let at = 0; at < 1000; at += 50) {
      await Promise.all(Array.from({ length: 50 }, () => a.start("deaf")));
    }
    await nodes.pass(3000);
    a.storage.calls.clear();
    await nodes.pass(1000);
    const calls = [...a.storage.calls.values()].reduce((sum, count) => sum + count, 0);
    expect(calls).toBeGreaterThan(10);
    // A beat looks at 100 tasks, and at the list of processes.
    expect(calls).toBeLessThan(120);
  });

  it("is not used up by tasks that were refused", async () => {
    const { nodes } = made({ limits: { kept: 2, taskLength: 1000 } });
    const a = nodes.node("A");
    for (let at = 0; at < 5; at++) {
      await expect(a.start("long", { text: "x".repeat(1000) })).rejects.toMatchObject({
        data: { limit: "taskLength" },
      });
    }
    await a.start("asks");
    await a.start("asks");
    await expect(a.start("asks")).rejects.toMatchObject({ data: { limit: "kept" } });
  });

  it("has all tasks of a process with many taken over by others that share them", async () => {
    const { nodes } = made({ ttlMs: 3_600_000 });
    const [a, b, c] = [nodes.node("A"), nodes.node("B"), nodes.node("C")];
    const ids: string[] = [];
    for (let at = 0; at < 300; at += 50) {
      ids.push(...(await Promise.all(Array.from({ length: 50 }, () => a.start("asks")))));
    }
    await nodes.pass(1000);
    a.storage.cut();
    const [first = ""] = ids;
    await Promise.all([b.get(first), c.get(first)]);
    await nodes.pass(8000);
    const heard = new Set<string>();
    for (const id of ids) {
      const asking = await b.get(id);
      const [name] = Object.keys(asking["inputRequests"] as object);
      const inputResponses = { [String(name)]: { action: "accept", content: { n: 1 } } };
      await b.ask("tasks/update", { taskId: id, inputResponses });
      const task = await nodes.until(
        () => b.get(id),
        ({ status }) => status === "completed",
      );
      heard.add(String(text(task)));
    }
    expect(heard).toEqual(new Set(["B heard 1", "C heard 1"]));
  });
});
