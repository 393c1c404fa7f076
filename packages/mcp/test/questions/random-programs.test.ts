import { connect, Server } from "@parley/mcp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../src/protocol/revisions.js";
import type { HandlerContext } from "../../src/server/contract/context.js";

/** A handler as data: what it asks, in which order, side by side or one after the other. */
type Program =
  | { kind: "ask"; name: number }
  | { kind: "step"; name: number }
  | { kind: "pause" }
  | { kind: "all"; parts: Program[] }
  | { kind: "then"; parts: Program[] }
  | { kind: "if"; name: number; yes: Program; no: Program };

const form = z.object({ v: z.number() });
const answerTo = (message: string) => [...message].reduce((sum, char) => sum + char.charCodeAt(0), 0);

const programs = fc.letrec<{ program: Program }>((tie) => ({
  program: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.record({ kind: fc.constant("ask" as const), name: fc.nat(99) }),
    fc.record({ kind: fc.constant("step" as const), name: fc.nat(99) }),
    fc.constant({ kind: "pause" as const }),
    fc.record({ kind: fc.constant("all" as const), parts: fc.array(tie("program"), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant("then" as const), parts: fc.array(tie("program"), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant("if" as const), name: fc.nat(99), yes: tie("program"), no: tie("program") }),
  ),
})).program;

/** Runs a program; `path` makes every key its own, so that equal parts of a program stay apart. */
async function run(
  program: Program,
  ctx: HandlerContext,
  path: string,
  stepRuns: Map<string, number>,
): Promise<unknown> {
  switch (program.kind) {
    case "ask":
      return (await ctx.elicit(`${path}/${program.name}`, form)).v;
    case "step":
      return ctx.step(path, () => {
        stepRuns.set(path, (stepRuns.get(path) ?? 0) + 1);
        return program.name;
      });
    case "pause":
      return new Promise((resolve) => setImmediate(() => resolve(null)));
    case "all":
      return Promise.all(program.parts.map((part, at) => run(part, ctx, `${path}.${at}`, stepRuns)));
    case "then": {
      const values: unknown[] = [];
      for (const [at, part] of program.parts.entries()) values.push(await run(part, ctx, `${path}.${at}`, stepRuns));
      return values;
    }
    case "if": {
      const { v } = await ctx.elicit(`${path}?${program.name}`, form);
      return run(v % 2 === 0 ? program.yes : program.no, ctx, `${path}.${v % 2}`, stepRuns);
    }
  }
}

async function outcome(program: Program, revision: typeof NEWEST_STATEFUL | typeof NEWEST_STATELESS) {
  const stepRuns = new Map<string, number>();
  const asked = new Map<string, number>();
  const server = new Server({ name: "program", version: "1" }).tool("run", {}, async (_args, ctx) =>
    JSON.stringify((await run(program, ctx, "", stepRuns)) ?? null),
  );
  const client = await connect(server, {
    revisions: [revision],
    onElicit({ message }) {
      asked.set(message, (asked.get(message) ?? 0) + 1);
      return { action: "accept", content: { v: answerTo(message) } };
    },
  });
  try {
    return { value: await client.call("run"), asked: [...asked].sort(), steps: [...stepRuns].sort() };
  } finally {
    await client.close();
  }
}

describe("a random handler", () => {
  it("gives the same value in both eras, asks each question once and runs each step once", async () => {
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        const [stateful, stateless] = [
          await outcome(program, NEWEST_STATEFUL),
          await outcome(program, NEWEST_STATELESS),
        ];
        expect(stateless).toEqual(stateful);
        expect(stateless.asked.every(([, times]) => times === 1)).toBe(true);
        expect(stateless.steps.every(([, times]) => times === 1)).toBe(true);
      }),
      { numRuns: 300 },
    );
  }, 240_000);
});
