import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool of a mounted server asks the client as if it were not mounted, progress and `callId` included",
  ids: ["MRTR-01", "PROG-01"],
  server: () => {
    const ids = new Set<string>();
    const inner = new Server({ name: "inner", version: "1" })
      .tool("greet", {}, async (_args, ctx) => {
        ids.add(ctx.callId);
        ctx.progress(1);
        const { name } = await ctx.elicit("Name?", z.object({ name: z.string() }));
        return `hello ${name}`;
      })
      .tool("ids", {}, () => String(ids.size));
    return new Server({ name: "outer", version: "1" }).mount("in", inner);
  },
  async run({ connect }) {
    const client = await connect({ onElicit: () => ({ action: "accept", content: { name: "Ada" } }) });
    const progress: number[] = [];
    expect(await client.call("in_greet", {}, { onProgress: (step) => progress.push(step.progress) })).toBe("hello Ada");
    expect(progress).toContain(1);
    expect(await client.call("in_ids"), "one call has one id, in every round").toBe("1");
    await client.call("in_greet");
    expect(await client.call("in_ids"), "another call has another").toBe("2");
  },
});
