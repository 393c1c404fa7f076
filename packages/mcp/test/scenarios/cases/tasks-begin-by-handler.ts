import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

const answer = z.object({ n: z.number() });

export default scenario({
  name: "a handler asks first, begins the task when it wants to, and asks again inside it",
  ids: ["TASK26-10"],
  server: () => {
    let paid = 0;
    return new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
      .tool("order", { task: { support: "optional", begin: "handler" } }, async (_args, ctx) => {
        const { n } = await ctx.elicit("how many?", answer);
        if (n === 0) return "nothing to do";
        await ctx.step("pay", () => {
          paid++;
        });
        const isTask = await ctx.startTask();
        const again = await ctx.elicit("how many more?", answer);
        return JSON.stringify({ total: n + again.n, isTask });
      })
      .tool("paid", {}, () => String(paid));
  },
  async run({ connect, era }) {
    let first = 2;
    const client = await connect({
      extensions: [tasks()],
      onElicit: ({ message }) => ({ action: "accept", content: { n: message === "how many?" ? first : 3 } }),
    });
    // In the stateful era only a call that says so becomes a task.
    expect(await client.call("order")).toBe(JSON.stringify({ total: 5, isTask: era === "stateless" }));
    const handle = await client.startTask("order");
    expect(handle.id).toBeTypeOf("string");
    expect(await handle.result()).toBe(JSON.stringify({ total: 5, isTask: true }));
    expect(await client.call("paid")).toBe("2");
    first = 0;
    expect(await client.call("order")).toBe("nothing to do");
    const without = await connect({ onElicit: () => ({ action: "accept", content: { n: 1 } }) });
    expect(await without.call("order")).toBe(JSON.stringify({ total: 2, isTask: false }));
  },
});
