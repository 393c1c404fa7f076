import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a schema describes, checks and converts the arguments of a prompt",
  ids: ["PROMPT-02", "PROMPT-04"],
  server: () =>
    new Server({ name: "host", version: "1" }).prompt(
      "repeat",
      { arguments: z.object({ word: z.string().describe("what"), times: z.coerce.number().int().max(3) }) },
      ({ word, times }) => Array.from({ length: times }, () => word),
    ),
  async run({ connect }) {
    const client = await connect();
    expect((await client.allPrompts())[0]?.arguments).toEqual([
      { name: "word", description: "what", required: true },
      { name: "times", required: true },
    ]);
    expect((await client.getPrompt("repeat", { word: "ho", times: "3" })).messages).toHaveLength(3);
    await expect(client.getPrompt("repeat", { word: "ho", times: "4" })).rejects.toMatchObject({ code: -32602 });
  },
});
