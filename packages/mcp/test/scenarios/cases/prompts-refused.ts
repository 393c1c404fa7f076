import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "unknown prompts and arguments that do not fit are refused before the handler runs",
  ids: ["PROMPT-04", "PROMPT-06"],
  server: () =>
    new Server({ name: "host", version: "1" })
      .prompt("greet", { arguments: { who: { required: true } } }, ({ who }) => who)
      .prompt("broken", {}, () => {
        throw new Error("no ink");
      }),
  async run({ connect }) {
    const client = await connect();
    const bad = [
      { name: "nobody" },
      { name: "constructor" },
      { name: "greet" },
      { name: "greet", arguments: {} },
      { name: "greet", arguments: { who: "a", whom: "b" } },
    ];
    for (const params of bad) {
      await expect(client.request("prompts/get", params as never), JSON.stringify(params)).rejects.toMatchObject({
        code: -32602,
      });
    }
    await expect(client.getPrompt("broken")).rejects.toMatchObject({ code: -32603 });
    expect((await client.getPrompt("greet", { who: "Ann" })).messages).toHaveLength(1);
  },
});
