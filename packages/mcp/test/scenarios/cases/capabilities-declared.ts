import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a server declares what it offers, and the rest cannot be asked for",
  ids: ["RES-01", "PROMPT-01", "COMP-05", "LOG-01"],
  server: () => new Server({ name: "small", version: "1" }, { logging: false }).prompt("p", {}, () => "hi"),
  async run({ connect }) {
    const client = await connect();
    expect(client.serverCapabilities).toEqual({ prompts: { listChanged: true } });
    for (const [method, params] of [
      ["tools/list", {}],
      ["resources/list", {}],
      ["resources/templates/list", {}],
      ["resources/read", { uri: "x://y" }],
      ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } }],
    ] as const) {
      await expect(client.request(method, params), method).rejects.toMatchObject({ kind: "capability_missing" });
    }
    expect((await client.getPrompt("p")).messages).toHaveLength(1);
  },
});
