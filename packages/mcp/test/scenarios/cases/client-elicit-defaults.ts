import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "an untouched form gives its defaults, and an answer that does not fit never leaves the client",
  ids: ["ELIC-07", "ELIC-09"],
  server: () =>
    new Server({ name: "asker", version: "1" }).tool("ask", {}, async (_args, ctx) => {
      const properties = {
        size: { type: "string", enum: ["s", "m", "l"], default: "m" },
        count: { type: "integer", minimum: 1, default: 1 },
      } as const;
      const reply = await ctx.tryElicit("Which?", { type: "object", properties, required: ["size"] });
      return JSON.stringify(reply);
    }),
  async run({ connect }) {
    const content: { count?: number } = {};
    const client = await connect({ onElicit: () => ({ action: "accept", content: { ...content } }) });
    expect(JSON.parse(String(await client.call("ask")))).toEqual({
      action: "accept",
      content: { size: "m", count: 1 },
    });
    content.count = 0;
    await expect(client.call("ask")).rejects.toMatchObject({ message: expect.stringContaining("count") });
  },
});
