import { Server, ToolError } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a stream of a call gives its progress and then its result, and leaving it cancels the call",
  ids: ["PROG-02", "CANC-01"],
  server: () => {
    let cancelled = 0;
    return new Server({ name: "steps", version: "1" })
      .tool(
        "work",
        { input: z.object({ steps: z.number() }), output: z.object({ done: z.number() }) },
        async (args, ctx) => {
          for (let step = 1; step <= args.steps; step++) {
            ctx.progress(step, { total: args.steps, message: `step ${step}` });
            // Apart from each other, so that none is left out for coming too often.
            await new Promise((resolve) => setTimeout(resolve, 120));
          }
          return { done: args.steps };
        },
      )
      .tool("endless", {}, (_args, ctx) => {
        ctx.progress(1);
        return new Promise<string>((_resolve, reject) =>
          ctx.signal.addEventListener("abort", () => {
            cancelled++;
            reject(ctx.signal.reason);
          }),
        );
      })
      .tool("fails", {}, () => {
        throw new ToolError("no");
      })
      .tool("cancelled", {}, () => String(cancelled));
  },
  async run({ connect }) {
    const client = await connect();
    const reports: number[] = [];
    const results: number[] = [];
    for await (const event of client.stream("work", { steps: 2 })) {
      if (event.type === "progress") reports.push(event.progress);
      else results.push(event.value.done);
    }
    expect(reports).toEqual([1, 2]);
    expect(results).toEqual([2]);
    for await (const { type } of client.stream("endless")) {
      expect(type).toBe("progress");
      break;
    }
    await expect.poll(() => client.call("cancelled")).toBe("1");
    await expect(client.stream("fails").next()).rejects.toMatchObject({ kind: "tool_error", message: "no" });
  },
});
