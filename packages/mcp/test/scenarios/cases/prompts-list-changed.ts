import { prompt, Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

function changing() {
  const server = new Server({ name: "host", version: "1" })
    .prompt("a", {}, () => "old")
    .tool("change", {}, () => {
      server.replace(prompt("a", { title: "new" }, () => "new"));
      return "done";
    })
    .tool("clear", {}, () => {
      server.remove("prompt", "a");
      return "done";
    });
  return server;
}

export default scenario({
  name: "a prompt can be replaced while clients are connected, and they are told",
  ids: ["PROMPT-05"],
  server: changing,
  async run({ connect }) {
    const client = await connect();
    const changes = (await client.subscribe({ prompts: true }))[Symbol.asyncIterator]();
    await client.call("change");
    expect((await changes.next()).value).toEqual({ kind: "prompts", missed: false });
    expect(await client.allPrompts()).toEqual([{ name: "a", title: "new" }]);
    expect((await client.getPrompt("a")).messages[0]?.content).toMatchObject({ text: "new" });
    await client.call("clear");
    expect((await changes.next()).value).toEqual({ kind: "prompts", missed: false });
    expect(await client.allPrompts()).toEqual([]);
  },
});
