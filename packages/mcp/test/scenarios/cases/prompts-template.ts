import { promptTemplate, Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a text with placeholders is a prompt, and values are never read as templates",
  ids: ["PROMPT-02", "PROMPT-06"],
  server: () =>
    new Server({ name: "host", version: "1" }).prompt(
      "review",
      { description: "reviews code" },
      promptTemplate("Review this {{language}} code:\n{{ code }}\nKeep \\{{braces}}."),
    ),
  async run({ connect }) {
    const client = await connect();
    expect((await client.allPrompts())[0]?.arguments).toEqual([
      { name: "language", required: true },
      { name: "code", required: true },
    ]);
    const { messages } = await client.getPrompt("review", { language: "C", code: "{{language}}" });
    expect(messages[0]?.content).toEqual({
      type: "text",
      text: "Review this C code:\n{{language}}\nKeep {{braces}}.",
    });
    await expect(client.getPrompt("review", { language: "C" })).rejects.toMatchObject({ code: -32602 });
  },
});
