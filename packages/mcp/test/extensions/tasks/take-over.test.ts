import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { gate, TestNodes, turns, warmUp } from "./nodes.js";

beforeAll(warmUp);

const open: TestNodes[] = [];
afterEach(async () => {
  for (const nodes of open.splice(0)) await nodes.end();
});

/** Processes whose tool "two" counts its steps, with a gate between the two. */
function counted(options = {}) {
  const log: string[] = [];
  const between = new Map<string, ReturnType<typeof gate>>();
  const aborted: string[] = [];
  const nodes = new TestNodes((server, name) => {
    const wait = gate();
    between.set(name, wait);
    server
      .tool("two", { task: "required" }, async (_args, ctx) => {
        ctx.signal.addEventListener("abort", () => aborted.push(name));
        log.push(`${name} runs`);
        const a = await ctx.step("a", () => log.push(`${name} a`) && 1);
        log.push(`${name} between`);
        await wait.opened;
        const b = await ctx.step("b", () => log.push(`${name} b`) && 2);
        return `sum ${a + b}`;
      })
      .tool("plain", { task: "required" }, async () => {
        log.push(`${name} plain`);
        await wait.opened;
        return "plain";
      })
      .tool("again", { task: { support: "required", retry: 1 } }, async () => {
        log.push(`${name} again`);
        await wait.opened;
        return "again";
      })
      .tool("asks", { task: "required" }, async (_args, ctx) => {
        const { n } = await ctx.elicit("how many?", z.object({ n: z.number() }));
        return `n is ${n}`;
      });
  }, options);
  open.push(nodes);
  return { nodes, log, between, aborted };
}

const text = (task: Record<string, unknown>) =>
  (task["result"] as { content: { text: string }[] } | undefined)?.content[0]?.text;

describe("tasks of a process that is gone", () => {
  it("go on in another one after the lease, with no step done twice", async () => {
    const { nodes, log, between } = counted();
    const a = nodes.node("A");
    const b = nodes.node("B");
    const id = await a.start("two");
    await nodes.until(() => log.includes("A between"));
    a.storage.cut();
    between.get("B")?.open();
    const task = await nodes.until(
      () => b.get(id),
      ({ status }) => status !== "working",
    );
    expect(text(task)).toBe("sum 3");
    expect(log).toEqual(["A runs", "A a", "A between", "B runs", "B between", "B b"]);
  });

  it("are taken over by one process alone, however many look", async () => {
    const { nodes, log, between } = counted();
    const a = nodes.node("A");
    const b = nodes.node("B");
    const others = [b, ...["C", "D", "E"].map((name) => nodes.node(name))];
    for (const name of ["B", "C", "D", "E"]) between.get(name)?.open();
    const ids = await Promise.all(Array.from({ length: 20 }, () => a.start("two")));
    await nodes.until(() => log.filter((line) => line === "A between").length === 20);
    a.storage.cut();
    for (const node of others) await node.get(ids[0] as string);
    for (const id of ids) {
      const task = await nodes.until(
        () => b.get(id),
        ({ status }) => status === "completed",
      );
      expect(text(task)).toBe("sum 3");
    }
    expect(log.filter((line) => line.endsWith(" b"))).toHaveLength(20);
    expect(log.filter((line) => line.endsWith(" runs"))).toHaveLength(40);
  });

  it("run once, although the list of the process that is gone could not be written", async () => {
    const { nodes, log, between } = counted();
    const a = nodes.node("A");
    const b = nodes.node("B");
    const ids = [await a.start("two"), await a.start("two")];
    await nodes.until(() => log.filter((line) => line === "A between").length === 2);
    a.storage.cut();
    const failing = new Set([...ids.slice(1)]);
    b.storage.before = (operation, key) => {
      if (operation === "delete" && key.includes("/task-nodes/")) throw new Error("lost");
      if (operation === "set" && [...failing].some((id) => key.endsWith(id))) throw new Error("lost");
    };
    await b.get(ids[0] as string);
    await nodes.pass(12_000);
    failing.clear();
    b.storage.before = () => {};
    await nodes.pass(6000);
    between.get("B")?.open();
    for (const id of ids) {
      await nodes.until(
        () => b.get(id),
        ({ status }) => status === "completed",
      );
    }
    expect(log.filter((line) => line === "B runs")).toHaveLength(2);
  });

  it("are handed over at once when their process closes", async () => {
    const { nodes, log, between } = counted({ leaseMs: 30_000 });
    const a = nodes.node("A");
    const b = nodes.node("B");
    const id = await a.start("two");
    await b.get(id);
    await nodes.until(() => log.includes("A between"));
    between.get("B")?.open();
    await nodes.during(a.server.close());
    await turns(20);
    const task = await b.get(id);
    expect(text(task)).toBe("sum 3");
    expect(log).toEqual(["A runs", "A a", "A between", "B runs", "B between", "B b"]);
  });
});

describe("a process that was stopped for longer than its lease", () => {
  it("writes nothing when it comes back, and its handler is told", async () => {
    const { nodes, log, between, aborted } = counted();
    const a = nodes.node("A");
    const b = nodes.node("B");
    const id = await a.start("two");
    await nodes.until(() => log.includes("A between"));
    a.storage.stop();
    await b.get(id);
    await nodes.until(() => log.includes("B between"));
    a.storage.go();
    between.get("A")?.open();
    await nodes.pass(3000);
    expect(aborted).toEqual(["A"]);
    expect(log.filter((line) => line.startsWith("A"))).toEqual(["A runs", "A a", "A between"]);
    expect(await b.get(id)).toMatchObject({ status: "working" });
    between.get("B")?.open();
    const task = await nodes.until(
      () => a.get(id),
      ({ status }) => status === "completed",
    );
    expect(text(task)).toBe("sum 3");
    expect(log.filter((line) => line.endsWith(" b"))).toEqual(["B b"]);
  });

  it("discards the outcome of a step that it was in, whose task failed meanwhile", async () => {
    const inside = gate();
    const nodes = new TestNodes((server) => {
      server.tool("t", { task: "required" }, async (_args, ctx) => ctx.step("slow", () => inside.opened.then(() => 1)));
    });
    open.push(nodes);
    const a = nodes.node("A");
    const b = nodes.node("B");
    const id = await a.start("t");
    await nodes.pass(200);
    a.storage.stop();
    const task = await nodes.until(
      () => b.get(id),
      ({ status }) => status !== "working",
    );
    expect(task).toMatchObject({ status: "failed" });
    const { message } = task["error"] as { message: string };
    expect(message).toMatch(/was interrupted during step "slow" and is not marked as safe to retry/);
    a.storage.go();
    inside.open();
    await nodes.pass(5000);
    expect(await b.get(id)).toEqual(task);
  });

  it("keeps the tasks that nobody else took", async () => {
    const { nodes, log, between, aborted } = counted();
    const a = nodes.node("A");
    const id = await a.start("two");
    await nodes.until(() => log.includes("A between"));
    a.storage.stop();
    await nodes.pass(20_000);
    a.storage.go();
    await nodes.pass(2000);
    between.get("A")?.open();
    const task = await nodes.until(
      () => a.get(id),
      ({ status }) => status !== "working",
    );
    expect(text(task)).toBe("sum 3");
    expect(aborted).toEqual([]);
  });
});

describe("a handler that another process cannot go on with", () => {
  it("fails with a reason", async () => {
    const { nodes, log } = counted();
    const a = nodes.node("A");
    const b = nodes.node("B");
    const id = await a.start("plain");
    await nodes.until(() => log.includes("A plain"));
    a.storage.cut();
    const task = await nodes.until(
      () => b.get(id),
      ({ status }) => status !== "working",
    );
    expect(task).toMatchObject({
      status: "failed",
      statusMessage:
        "the task was interrupted before its first step was done and is not marked as safe to retry; set `task: { retry: n }` if its steps are safe to repeat",
    });
    expect(log).toEqual(["A plain"]);
  });

  it("begins again as often as `retry` allows", async () => {
    const { nodes, log, between } = counted();
    const [a, b, c] = [nodes.node("A"), nodes.node("B"), nodes.node("C")];
    const [first, second] = [await a.start("again"), await a.start("again")];
    await nodes.until(() => log.length === 2);
    a.storage.cut();
    await b.get(first);
    await nodes.until(() => log.length === 4);
    expect(log).toEqual(["A again", "A again", "B again", "B again"]);
    between.get("B")?.open();
    await nodes.until(async () => text(await b.get(first)) === "again" && text(await b.get(second)) === "again");
    // The one run that was allowed is used up.
    const last = nodes.node("D");
    const id = await last.start("again");
    last.storage.cut();
    await nodes.until(() => log.filter((line) => line === "B again").length === 3 || log.includes("C again"));
    await c.get(id);
    expect(await b.get(id)).toMatchObject({ status: expect.stringMatching(/working|completed/) });
  });

  it("does not let progress go back, and goes on from where it was", async () => {
    const inside = gate();
    let node = "";
    const reached: string[] = [];
    const nodes = new TestNodes((server, name) => {
      server.tool("steps", { task: { support: "required", retry: 1 } }, async (_args, ctx) => {
        node = name;
        for (let done = 1; done <= 3; done++) {
          await ctx.step(`${done}`, () => (name === "A" && done === 3 ? new Promise(() => {}) : done));
          ctx.progress(done, { total: 3 });
          if (name === "B") {
            reached.push(`${done}`);
            if (done === 1) await inside.opened;
          }
        }
        return "all";
      });
    });
    open.push(nodes);
    const [a, b] = [nodes.node("A"), nodes.node("B")];
    const id = await a.start("steps");
    await nodes.until(async () => (await b.get(id))["statusMessage"] === "2 of 3");
    a.storage.cut();
    await nodes.until(() => node === "B" && reached.length === 1);
    await nodes.pass(3000);
    expect(await b.get(id)).toMatchObject({ status: "working", statusMessage: "2 of 3" });
    inside.open();
    const task = await nodes.until(
      () => b.get(id),
      ({ status }) => status !== "working",
    );
    expect(text(task)).toBe("all");
  });

  it("is given up when process after process ends with it", async () => {
    const { nodes, log } = counted();
    let node = nodes.node("0");
    const id = await node.start("two");
    await nodes.until(() => log.includes("0 between"));
    for (let at = 1; at <= 10; at++) {
      node.storage.cut();
      node = nodes.node(`${at}`);
      await node.get(id);
      await nodes.until(() => log.includes(`${at} between`));
    }
    node.storage.cut();
    node = nodes.node("last");
    const task = await nodes.until(
      () => node.get(id),
      ({ status }) => status !== "working",
    );
    expect(task).toMatchObject({
      statusMessage: expect.stringContaining("10 processes in a row ended while they ran it"),
    });
  });
});
