import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "many calls run a few at a time and come back in order, the failed ones in their places",
  ids: ["TOOL-16"],
  server: () => {
    let running = 0;
    let most = 0;
    return new Server({ name: "pool", version: "1" })
      .tool("work", { input: z.object({ n: z.number() }) }, async ({ n }) => {
        running++;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 3));
        running--;
        if (n === 5) throw new Error("five");
        return String(n);
      })
      .tool("most", {}, () => String(most));
  },
  async run({ connect }) {
    const client = await connect();
    const calls = Array.from({ length: 20 }, (_, n) => ({ name: "work" as const, args: { n } }));
    const outcomes = await client.callMany(calls, { concurrency: 3 });
    const texts = outcomes.map((one) => (one.status === "fulfilled" ? one.value.content[0] : undefined));
    expect(texts).toEqual(calls.map(({ args: { n } }) => ({ type: "text", text: n === 5 ? "five" : String(n) })));
    expect(Number(await client.call("most"))).toBeLessThanOrEqual(3);
  },
});
