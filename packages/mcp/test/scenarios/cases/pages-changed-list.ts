import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

function shrinking() {
  const server = new Server({ name: "many", version: "1" }, { pageSize: 3 });
  for (let n = 0; n < 7; n++) server.prompt(`p${n}`, {}, () => "");
  return server.tool("remove", {}, () => String(server.remove("prompt", "p0")));
}

export default scenario({
  name: "a page goes on at the right place when the list changed before it",
  ids: ["PAGE-04"],
  server: shrinking,
  async run({ connect }) {
    const client = await connect();
    const first = await client.listPrompts();
    await client.call("remove");
    const second = await client.listPrompts(first.nextCursor);
    expect(second.prompts.map(({ name }) => name)).toEqual(["p3", "p4", "p5"]);
  },
});
