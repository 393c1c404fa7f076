import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool of a mounted server asks the client as if it were not mounted, progress included",
  ids: ["MRTR-01", "PROG-01"],
  server: () =>
    new Server({ name: "outer", version: "1" }).mount(
      "in",
      new Server({ name: "inner", version: "1" }).tool("greet", {}, async (_args, ctx) => {
        ctx.progress(1);
        const { name } = await ctx.elicit("Name?", z.object({ name: z.string() }));
        return `hello ${name}`;
      }),
    ),
  async run({ connect }) {
    const client = await connect({ onElicit: () => ({ action: "accept", content: { name: "Ada" } }) });
    const progress: number[] = [];
    expect(await client.call("in_greet", {}, { onProgress: (step) => progress.push(step.progress) })).toBe("hello Ada");
    expect(progress).toContain(1);
  },
});
