import { connect, McpError, Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function server() {
  return new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
    .tool("slow", { task: "required", output: z.object({ n: z.number() }) }, async (_args, ctx) => {
      const n = await ctx.step("a", () => 1);
      ctx.progress(1, { message: "half way" });
      await new Promise((resolve) => setTimeout(resolve, 60));
      return { n: n + 1 };
    })
    .tool("asks", { task: "required" }, async (_args, ctx) => {
      const [a, b] = await Promise.all([
        ctx.elicit("how many?", z.object({ n: z.number() })),
        ctx.elicit("and then?", z.object({ n: z.number() })),
      ]);
      return `sum ${a.n + b.n}`;
    })
    .tool("endless", { task: "required" }, async (_args, ctx) => {
      await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
      return "never";
    })
    .tool("fails", { task: "optional" }, () => {
      throw new McpError("invalid_params", "no good", { data: { why: "bad" } });
    })
    .tool("late", { task: { support: "optional", begin: "handler" } }, async (_args, ctx) => {
      const { name } = await ctx.elicit("who?", z.object({ name: z.string() }));
      const isTask = await ctx.startTask();
      return `${name} ${isTask}`;
    });
}

describe.each(["2026-07-28", "2025-11-25"] as const)("a client with tasks, %s", (revision) => {
  const open = async () => {
    const asked: string[] = [];
    const client = await connect(server(), {
      revisions: [revision],
      extensions: [tasks()],
      onElicit: ({ message }) => {
        asked.push(message);
        return message === "who?"
          ? { action: "accept", content: { name: "Ada" } }
          : { action: "accept", content: { n: message === "how many?" ? 2 : 3 } };
      },
    });
    cleanups.push(() => client.close());
    return { client, asked };
  };

  it("waits for the result of a call that becomes a task", async () => {
    const { client } = await open();
    expect(await client.call("slow")).toEqual({ n: 2 });
  });

  it("answers the questions of a task once each", async () => {
    const { client, asked } = await open();
    expect(await client.call("asks")).toBe("sum 5");
    expect(asked.sort()).toEqual(["and then?", "how many?"]);
  });

  it("starts a task and finds it again from another client", async () => {
    const instance = server();
    const options = { revisions: [revision], extensions: [tasks()] };
    const first = await connect(instance, options);
    const handle = await first.startTask("slow");
    const saved = JSON.parse(JSON.stringify(handle)) as { taskId: string };
    await first.close();
    const second = await connect(instance, options);
    cleanups.push(() => second.close());
    const found = second.task(saved);
    const seen: string[] = [];
    for await (const { status } of found) seen.push(status);
    expect(seen.at(-1)).toBe("completed");
    expect(await found.result()).toEqual({ n: 2 });
  });

  it("cancels a task", async () => {
    const { client } = await open();
    const handle = await client.startTask("endless");
    await handle.cancel();
    expect(handle.status).toBe("cancelled");
    await expect(handle.result()).rejects.toMatchObject({ operation: { method: "tools/call" } });
  });

  it("throws the error of a task that failed", async () => {
    const { client } = await open();
    const handle = await client.startTask("fails");
    await expect(handle.result()).rejects.toMatchObject({ kind: "invalid_params", message: "no good" });
  });

  it("asks before the task begins where the handler begins it", async () => {
    const { client } = await open();
    expect(await client.call("late")).toBe(`Ada ${revision === "2026-07-28"}`);
  });
});
