import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a handler works with the client's model and lets it use a tool in between",
  ids: ["SAMP-02", "SAMP-07", "SAMP-08", "SAMP-09"],
  server: () =>
    new Server({ name: "agent", version: "1" }).tool("solve", {}, async (_args, ctx) => {
      const tools = [{ name: "add", inputSchema: { type: "object" as const } }];
      const question = { role: "user" as const, content: { type: "text" as const, text: "1+2?" } };
      const first = await ctx.sample({ messages: [question], maxTokens: 50, tools });
      const use = Array.isArray(first.content) ? first.content[0] : first.content;
      if (use?.type !== "tool_use") return "the model used no tool";
      const sum = Object.values(use.input).reduce((total: number, part) => total + Number(part), 0);
      const answer = {
        type: "tool_result" as const,
        toolUseId: use.id,
        content: [{ type: "text" as const, text: `${sum}` }],
      };
      const messages = [
        question,
        { role: "assistant" as const, content: [use] },
        { role: "user" as const, content: [answer] },
      ];
      const last = await ctx.sample({ messages, maxTokens: 50, tools });
      return Array.isArray(last.content)
        ? "several blocks"
        : last.content.type === "text"
          ? last.content.text
          : "no text";
    }),
  async run({ connect }) {
    let turns = 0;
    const client = await connect({
      onSample({ messages }) {
        turns++;
        if (messages.length === 1) {
          const use = { type: "tool_use" as const, id: "u1", name: "add", input: { a: 1, b: 2 } };
          return { role: "assistant", model: "m", stopReason: "toolUse", content: [use] };
        }
        return { role: "assistant", model: "m", content: { type: "text", text: `after ${messages.length} messages` } };
      },
    });
    expect(await client.call("solve")).toBe("after 3 messages");
    expect(turns).toBe(2);
  },
});
