import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "every progress notice of every concurrent call arrives before its answer",
  ids: ["PROG-02", "PROG-03"],
  server: () =>
    new Server({ name: "worker", version: "1" }).tool("work", {}, (_args, ctx) => {
      for (let step = 1; step <= 5; step++) ctx.progress(step, { total: 5 });
      return "done";
    }),
  async run({ connect }) {
    const client = await connect();
    let delivered = 0;
    const calls = Array.from({ length: 50 }, async () => {
      const seen: number[] = [];
      await client.call("work", {}, { onProgress: ({ progress }) => seen.push(progress) });
      expect(seen).toEqual([1, 2, 3, 4, 5]);
      delivered += seen.length;
    });
    await Promise.all(calls);
    expect(delivered).toBe(250);
  },
});
