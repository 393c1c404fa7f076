import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "work inside a step happens once, however often the handler runs to ask",
  ids: ["MRTR-16"],
  server: () => {
    let charged = 0;
    return new Server({ name: "shop", version: "1" })
      .tool("buy", {}, async (_args, ctx) => {
        const receipt = await ctx.step("charge", () => `receipt ${++charged}`);
        const first = await ctx.elicit("Name?", z.object({ name: z.string() }));
        const second = await ctx.elicit(`Address of ${first.name}?`, z.object({ address: z.string() }));
        return `${receipt} for ${first.name} in ${second.address}`;
      })
      .tool("charged", {}, () => String(charged));
  },
  async run({ connect }) {
    const client = await connect({
      onElicit: ({ message }) => ({
        action: "accept",
        content: message === "Name?" ? { name: "Ada" } : { address: "London" },
      }),
    });
    expect(await client.call("buy")).toBe("receipt 1 for Ada in London");
    expect(await client.call("charged")).toBe("1");
  },
});
