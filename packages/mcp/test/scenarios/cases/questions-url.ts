import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a page to visit is agreed to by the user, and named by an id only where the revision has one",
  ids: ["ELIC-11", "ELIC-12"],
  server: () =>
    new Server({ name: "visits", version: "1" }).tool("pay", {}, async (_args, ctx) => {
      await ctx.elicitUrl("Pay here", "https://example.com/pay");
      return "agreed";
    }),
  async run({ connect, era }) {
    const asked: object[] = [];
    const client = await connect({
      onElicit(question) {
        asked.push(question);
        return { action: "accept" };
      },
    });
    expect(await client.call("pay")).toBe("agreed");
    const id = era === "stateful" ? { elicitationId: expect.any(String) } : {};
    expect(asked).toEqual([{ mode: "url", message: "Pay here", url: "https://example.com/pay", ...id }]);
  },
});
