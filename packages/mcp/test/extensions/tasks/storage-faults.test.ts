import { StorageError } from "@parley/mcp/storage";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { FaultyStorage } from "./faulty-storage.js";
import { TestNodes, warmUp } from "./nodes.js";

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(async () => {
  process.on("unhandledRejection", note);
  await warmUp();
});
afterAll(() => {
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

const open: TestNodes[] = [];
afterEach(async () => {
  for (const nodes of open.splice(0)) await nodes.end();
});

/** What happens to one call of the storage, before it or before its answer. */
const FAULTS: Record<string, (storage: FaultyStorage, isDue: (operation: string) => boolean) => void> = {
  rejects(storage, isDue) {
    storage.before = (operation) => {
      if (isDue(operation)) throw new Error("the connection was reset");
    };
  },
  "does what it is told and rejects"(storage, isDue) {
    storage.after = (operation) => {
      if (isDue(operation)) throw new Error("the answer was lost");
    };
  },
  hangs(storage, isDue) {
    storage.before = (operation) => (isDue(operation) ? new Promise(() => {}) : undefined);
  },
  "does what it is told and hangs"(storage, isDue) {
    storage.after = (operation) => (isDue(operation) ? new Promise(() => {}) : undefined);
  },
  "is full"(storage, isDue) {
    storage.before = (operation) => {
      if (isDue(operation) && operation === "set") throw new StorageError("maxKeys", 1, "Make room.");
    };
  },
};

/** More calls than one task makes, so that each of them fails once. */
const MOST_CALLS = 40;

/** Runs one task with two steps and a question; resolves with how it ended, or with the error that its client got. */
async function live(fault: (storage: FaultyStorage) => void) {
  const done: string[] = [];
  const nodes = new TestNodes((server) => {
    server.tool("t", { task: { support: "required", ttlMs: 600_000 } }, async (_args, ctx) => {
      const a = await ctx.step("a", () => done.push("a"));
      const { n } = await ctx.elicit("how many?", z.object({ n: z.number() }));
      const b = await ctx.step("b", () => done.push("b"));
      return `sum ${a + b + n}`;
    });
  });
  open.push(nodes);
  const node = nodes.node("A");
  const other = nodes.node("B");
  fault(node.storage);
  let ended: Record<string, unknown>;
  try {
    const id = await node.start("t");
    ended = await nodes.until(
      async () => {
        // Its client asks another process, because this one may have no storage.
        const task = await other.get(id);
        const [name] = Object.keys((task["inputRequests"] as object | undefined) ?? {});
        const answer = { [String(name)]: { action: "accept", content: { n: 4 } } };
        if (name !== undefined) await other.ask("tasks/update", { taskId: id, inputResponses: answer });
        return task;
      },
      ({ status }) => status !== "working" && status !== "input_required",
    );
  } catch (error) {
    ended = { refused: String(error) };
  }
  return { nodes, node, other, ended, done };
}

describe.each(Object.keys(FAULTS))("a storage that %s", (name) => {
  it.each(Array.from({ length: MOST_CALLS }, (_, at) => at))("at call %i", async (at) => {
    let calls = 0;
    const { nodes, ended, done } = await live((storage) => FAULTS[name]?.(storage, () => calls++ === at));
    expect(ended).not.toMatchObject({ refused: expect.stringMatching(/hangs|never came/) });
    expect(new Set(done).size).toBe(done.length);
    const { status, result } = ended as { status?: string; result?: { isError?: boolean } };
    if (status === "completed" && result?.isError !== true) {
      expect(result).toMatchObject({ content: [{ text: "sum 7" }] });
      expect(done).toEqual(["a", "b"]);
    } else if (status === "failed") expect(ended).toMatchObject({ error: { message: expect.stringMatching(/./) } });
    else expect(status === undefined ? ended["refused"] : result).toBeTruthy();
    await nodes.pass(660_000, 20_000);
    expect(nodes.keys()).toBe(0);
  });
});
