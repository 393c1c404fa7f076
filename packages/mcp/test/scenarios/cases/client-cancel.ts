import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "an aborted call ends at once, its handler hears of it, and the next call works",
  ids: ["CANC-01", "CANC-02", "CANC-03"],
  server: () => {
    let aborted = 0;
    return new Server({ name: "slow", version: "1" })
      .tool(
        "wait",
        {},
        (_args, ctx) =>
          new Promise((resolve) => {
            ctx.progress(1);
            ctx.signal.addEventListener("abort", () => {
              aborted++;
              resolve("late");
            });
          }),
      )
      .tool("aborted", {}, () => String(aborted));
  },
  async run({ connect }) {
    const client = await connect();
    const controller = new AbortController();
    const call = client.callTool("wait", {}, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await expect.poll(() => client.call("aborted"), { interval: 5 }).toBe("1");
  },
});
