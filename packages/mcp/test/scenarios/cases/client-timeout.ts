import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a silent handler is given up at the idle deadline, and a talking one at the total",
  ids: ["LIFE-11", "LIFE-12"],
  server: () =>
    new Server({ name: "slow", version: "1" })
      .tool(
        "silent",
        {},
        (_args, ctx) => new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve(""))),
      )
      .tool("talks", {}, async (_args, ctx) => {
        for (let step = 1; !ctx.signal.aborted && step < 1000; step++) {
          ctx.progress(step);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        return "";
      }),
  async run({ connect }) {
    const client = await connect();
    await expect(client.callTool("silent", {}, { timeouts: { idleMs: 100 } })).rejects.toMatchObject({
      kind: "timeout",
      data: { deadline: "idle" },
    });
    // A machine that is busy may keep back progress for a while, which must not look like silence.
    await expect(client.callTool("talks", {}, { timeouts: { idleMs: 1_000, totalMs: 1_200 } })).rejects.toMatchObject({
      kind: "timeout",
      data: { deadline: "total" },
    });
  },
});
