import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a task asks forms, the model and the roots, some at once, and goes on with the answers",
  ids: ["TASK25-09", "TASK25-12", "TASK26-11"],
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] }).tool(
      "asks",
      { task: "required" },
      async (_args, ctx) => {
        const [first, second] = await Promise.all([
          ctx.elicit("first?", z.object({ n: z.number() })),
          ctx.elicit("second?", z.object({ n: z.number() })),
        ]);
        const [{ content }, roots] = await Promise.all([
          ctx.sample({ messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 5 }),
          ctx.roots(),
        ]);
        const last = await ctx.tryElicit("sure?", z.object({ n: z.number() }));
        return JSON.stringify([first.n + second.n, content, roots.map(({ uri }) => uri), last.action]);
      },
    ),
  async run({ connect }) {
    const asked: string[] = [];
    const client = await connect({
      extensions: [tasks()],
      roots: [{ uri: "file:///home/ada" }],
      onElicit({ message }) {
        asked.push(message);
        if (message === "sure?") return { action: "decline" };
        return { action: "accept", content: { n: message === "first?" ? 2 : 3 } };
      },
      onSample() {
        asked.push("model");
        return { role: "assistant", model: "m", content: { type: "text", text: "hello" } };
      },
    });
    const expected = JSON.stringify([5, { type: "text", text: "hello" }, ["file:///home/ada"], "decline"]);
    expect(await client.call("asks")).toBe(expected);
    expect([...asked].sort()).toEqual(["first?", "model", "second?", "sure?"]);
    asked.length = 0;
    const handle = await client.startTask("asks");
    const seen = new Set<string>();
    for await (const { status } of handle) seen.add(status);
    expect([...seen].filter((status) => status !== "input_required")).toEqual(["working", "completed"]);
    expect(await handle.result()).toBe(expected);
    expect([...asked].sort()).toEqual(["first?", "model", "second?", "sure?"]);
  },
});
