import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type TestNode, TestNodes, warmUp } from "./nodes.js";

beforeAll(warmUp);

const NAMES = ["A", "B", "C"];
const STEPS = 3;

/** What may happen to the processes of a server while they run tasks. */
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("start" as const), node: fc.nat(2), tool: fc.nat(2) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 50, max: 4000 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("kill" as const), node: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("stop" as const), node: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("go" as const), node: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("close" as const), node: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), node: fc.nat(2), calls: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), task: fc.nat(9) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer H> ? H : never;

interface Started {
  readonly id: string;
  readonly name: string;
  readonly tool: string;
  /** Every end that was ever seen of it. */
  readonly ends: Set<string>;
  cancelled: boolean;
}

/** One run of a schedule. */
class Trial {
  readonly #done = new Map<string, number>();
  readonly #nodes = new TestNodes((server) => this.#define(server), { ttlMs: 600_000 });
  /** The process at each place; a place whose process ended gets another one. */
  readonly #places: TestNode[] = NAMES.map((name) => this.#nodes.node(name));
  readonly #stopped = new Set<TestNode>();
  readonly #tasks: Started[] = [];
  #count = 0;

  #define(server: TestNode["server"]): void {
    const rest = (ms: number) => new Promise<void>((resolve) => void this.#nodes.clock.platform.timer(ms, resolve));
    const step = (key: string) => this.#done.set(key, (this.#done.get(key) ?? 0) + 1);
    const input = z.object({ name: z.string() });
    server
      .tool("steps", { input, task: "required" }, async ({ name }, ctx) => {
        for (let at = 0; at < STEPS; at++) {
          await ctx.step(`${at}`, () => void step(`${name} ${at}`));
          await rest(500);
        }
        return `done ${name}`;
      })
      .tool("asks", { input, task: "required" }, async ({ name }, ctx) => {
        await ctx.step("first", () => void step(`${name} first`));
        const { n } = await ctx.elicit(`${name}?`, z.object({ n: z.number() }));
        await ctx.step("last", () => void step(`${name} last`));
        return `done ${name}${n === 4 ? "" : n}`;
      })
      .tool("again", { input, task: { support: "required", retry: 1000 } }, async ({ name }) => {
        await rest(1500);
        return `done ${name}`;
      });
  }

  async act(what: Happening): Promise<void> {
    const node = "node" in what ? this.#places[what.node] : undefined;
    if (what.kind === "pass") await this.#nodes.pass(what.ms);
    else if (what.kind === "cancel") await this.#cancel(this.#tasks[what.task]);
    else if (node === undefined) return;
    else if (what.kind === "start") await this.#start(node, ["steps", "asks", "again"][what.tool] ?? "steps");
    else if (what.kind === "stop" || what.kind === "go") this.#pause(node, what.kind);
    else if (what.kind === "fail") fail(node, what.calls);
    else await this.#replace(what.node, what.kind === "close");
  }

  async #start(node: TestNode, tool: string): Promise<void> {
    // A process that is stopped answers nobody.
    if (this.#stopped.has(node)) return;
    const name = `t${this.#count++}`;
    try {
      const id = await node.start(tool, { name });
      if (id !== "undefined") this.#tasks.push({ id, name, tool, ends: new Set(), cancelled: false });
    } catch {
      // Its storage failed, and the client knows.
    }
  }

  #pause(node: TestNode, kind: "stop" | "go"): void {
    if (kind === "stop" && !this.#stopped.has(node)) {
      this.#stopped.add(node);
      node.storage.stop();
    } else if (kind === "go" && this.#stopped.delete(node)) node.storage.go();
  }

  async #replace(place: number, gracefully: boolean): Promise<void> {
    const node = this.#places[place];
    if (node === undefined) return;
    if (this.#stopped.delete(node)) node.storage.go();
    if (gracefully) await this.#nodes.during(node.server.close().catch(() => {}));
    node.storage.cut();
    this.#places[place] = this.#nodes.node(`${NAMES[place]}${this.#count++}`);
  }

  async #cancel(task: Started | undefined): Promise<void> {
    const node = this.#places.find((one) => !this.#stopped.has(one));
    if (task === undefined || node === undefined) return;
    try {
      await node.ask("tasks/cancel", { taskId: task.id });
      task.cancelled = true;
    } catch {
      // Its storage failed.
    }
  }

  /** Lets all processes go on and waits for every task. */
  async finish(): Promise<void> {
    for (const node of [...this.#stopped]) this.#pause(node, "go");
    for (const { storage } of this.#places) storage.before = () => {};
    const [node] = this.#places;
    if (node === undefined) return;
    for (const task of this.#tasks) {
      const end = await this.#nodes.until(
        async () => {
          const seen = await node.get(task.id);
          const [name] = Object.keys((seen["inputRequests"] as object | undefined) ?? {});
          const inputResponses = { [String(name)]: { action: "accept", content: { n: 4 } } };
          if (name !== undefined) await node.ask("tasks/update", { taskId: task.id, inputResponses });
          return seen;
        },
        ({ status }) => status !== "working" && status !== "input_required",
      );
      this.#judge(task, end);
      task.ends.add(JSON.stringify(end));
    }
    // What is over stays as it is, whatever processes that come back do.
    await this.#nodes.pass(10_000, 500);
    for (const task of this.#tasks) {
      task.ends.add(JSON.stringify(await node.get(task.id)));
      expect([...task.ends]).toHaveLength(1);
    }
    for (const [key, times] of this.#done) expect(`${key}: ${times}`).toBe(`${key}: 1`);
    await this.#nodes.pass(700_000, 20_000);
    expect(this.#nodes.keys()).toBe(0);
  }

  #judge(task: Started, end: Record<string, unknown>): void {
    const { status, result, error } = end as { status: string; result?: { isError?: boolean }; error?: object };
    if (status === "cancelled") expect(task.cancelled).toBe(true);
    else if (status === "failed") {
      expect(JSON.stringify(error)).toMatch(/the task was interrupted (?:before its first step|during step)/);
      expect(task.tool).not.toBe("again");
    } else if (result?.isError !== true) {
      expect(result).toMatchObject({ content: [{ text: `done ${task.name}` }] });
      const keys = task.tool === "steps" ? ["0", "1", "2"] : task.tool === "asks" ? ["first", "last"] : [];
      for (const key of keys) expect(this.#done.get(`${task.name} ${key}`)).toBe(1);
    }
  }

  async end(): Promise<void> {
    for (const { storage } of this.#places) storage.cut();
    await this.#nodes.end();
  }
}

/** The next calls of its storage fail. */
function fail({ storage }: TestNode, calls: number): void {
  let left = calls;
  storage.before = () => {
    if (left-- > 0) throw new Error("the connection was reset");
  };
}

describe("processes that end, stop, close and lose their storage at random", () => {
  it("end each task once, with no step done twice and nothing left behind", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 30 }), async (schedule) => {
        const trial = new Trial();
        try {
          for (const what of schedule) await trial.act(what);
          await trial.finish();
        } finally {
          await trial.end();
        }
      }),
      { numRuns: Number(process.env["TASK_TRIALS"] ?? 30) },
    );
  }, 120_000);
});
