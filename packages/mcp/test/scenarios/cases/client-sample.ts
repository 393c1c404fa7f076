import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a handler asks the client's model, with tools",
  ids: ["SAMP-01", "SAMP-06", "SAMP-10"],
  server: () =>
    new Server({ name: "thinker", version: "1" }).tool("think", {}, async (_args, ctx) => {
      const { content, model } = await ctx.sample({
        messages: [{ role: "user", content: { type: "text", text: "two and two?" } }],
        maxTokens: 10,
        tools: [{ name: "add", inputSchema: { type: "object" } }],
      });
      const [block] = Array.isArray(content) ? content : [content];
      return `${model}: ${block?.type === "text" ? block.text : ""}`;
    }),
  async run({ connect }) {
    const asked: unknown[] = [];
    const client = await connect({
      onSample({ messages, maxTokens, tools }) {
        asked.push([messages.length, maxTokens, tools?.map(({ name }) => name)]);
        return { role: "assistant", model: "abacus", content: { type: "text", text: "four" }, stopReason: "endTurn" };
      },
    });
    expect(await client.call("think")).toBe("abacus: four");
    expect(asked).toEqual([[1, 10, ["add"]]]);
  },
});
