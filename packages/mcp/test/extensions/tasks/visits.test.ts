import { connect, Server, urlRequired } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A client whose user agrees to each visit, and what became of one call. */
async function called(passes: (run: number) => boolean, asTask: boolean) {
  const seen = { runs: 0, steps: 0, visits: 0 };
  const server = new Server(
    { name: "s", version: "1" },
    { extensions: [tasks({ pollIntervalMs: 10 })], limits: { rounds: 3 } },
  ).tool("t", { task: "optional" }, async (_args, ctx) => {
    await ctx.step("count", () => {
      seen.steps++;
    });
    await ctx.elicit("n?", z.object({ n: z.number() }));
    seen.runs++;
    if (!passes(seen.runs)) throw urlRequired([{ message: "sign in", url: "https://example.com/" }]);
    await ctx.elicit("more?", z.object({ n: z.number() }));
    return "ok";
  });
  const client = await connect(server, {
    revisions: ["2026-07-28"],
    extensions: asTask ? [tasks()] : [],
    elicitUrls: true,
    onElicit(question) {
      if ("url" in question) seen.visits++;
      return "url" in question ? { action: "accept" } : { action: "accept", content: { n: 1 } };
    },
  });
  cleanups.push(() => client.close());
  const out = await client.call("t").then(String, (error: Error) => `failed: ${error.message}`);
  return { ...seen, out };
}

describe("TASK26-07: a page that the user must visit before a tool can be served", () => {
  it("is a question of the task, after which the handler runs again", async () => {
    expect(await called((run) => run > 1, true)).toEqual({ runs: 2, steps: 1, visits: 1, out: "ok" });
  });

  it("is asked again as long as the handler wants it", async () => {
    expect(await called((run) => run > 3, true)).toEqual({ runs: 4, steps: 1, visits: 3, out: "ok" });
  });

  it("fails the call in words when the rounds are used up", async () => {
    const { runs, visits, out } = await called(() => false, true);
    expect({ runs, visits }).toEqual({ runs: 4, visits: 3 });
    expect(out).toContain("sign in: https://example.com/");
  });

  it("gives the same as a call without tasks", async () => {
    expect((await called((run) => run > 1, false)).out).toBe("ok");
  });
});
