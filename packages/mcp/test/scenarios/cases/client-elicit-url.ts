import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a page to visit is put to the user, who may consent or not",
  ids: ["ELIC-11", "ELIC-12"],
  server: () =>
    new Server({ name: "shop", version: "1" }).tool("pay", {}, async (_args, ctx) => {
      await ctx.elicitUrl("Please pay", "https://example.com/pay?order=1");
      return "sent to the till";
    }),
  async run({ connect }) {
    const seen: unknown[] = [];
    const client = await connect({
      onElicit(question) {
        if (question.mode === "url") seen.push(question.url);
        return { action: seen.length === 1 ? "accept" : "decline" };
      },
    });
    expect(await client.call("pay")).toBe("sent to the till");
    await expect(client.call("pay")).rejects.toMatchObject({ kind: "tool_error" });
    expect(seen).toEqual(["https://example.com/pay?order=1", "https://example.com/pay?order=1"]);
  },
});
