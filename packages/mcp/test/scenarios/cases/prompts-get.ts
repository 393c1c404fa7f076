import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a prompt takes named arguments and gives messages",
  ids: ["PROMPT-01", "PROMPT-02", "PROMPT-03"],
  server: () =>
    new Server({ name: "host", version: "1" }).prompt(
      "greet",
      {
        title: "Greet",
        description: "says hello",
        arguments: { who: { description: "a name", required: true }, tone: { title: "Tone" } },
      },
      ({ who, tone }) => `Say hello to ${who}, ${tone ?? "plainly"}.`,
    ),
  async run({ connect }) {
    const client = await connect();
    expect(await client.allPrompts()).toEqual([
      {
        name: "greet",
        title: "Greet",
        description: "says hello",
        arguments: [
          { name: "who", description: "a name", required: true },
          { name: "tone", title: "Tone" },
        ],
      },
    ]);
    const { description, messages } = await client.getPrompt("greet", { who: "Ann" });
    expect(description).toBe("says hello");
    expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Say hello to Ann, plainly." } }]);
  },
});
