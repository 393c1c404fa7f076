import { Server, tool } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

function rebuilding() {
  const server = new Server({ name: "busy", version: "1" })
    .tool("old", {}, () => "old")
    .tool("rebuild", {}, () => {
      for (let n = 0; n < 20; n++) server.tool(`t${n}`, {}, () => "");
      for (let n = 0; n < 20; n++) server.remove("tool", `t${n}`);
      server.replace(tool("old", { title: "new" }, () => "new"));
      return "done";
    });
  return server;
}

export default scenario({
  name: "forty changes of one turn are told once, and a replaced tool keeps its place",
  ids: ["TOOL-17", "SUB-05"],
  server: rebuilding,
  async run({ connect }) {
    const client = await connect();
    let told = 0;
    client.on("notifications/tools/list_changed", () => told++);
    const subscription = await client.subscribe({ tools: true });
    await client.call("rebuild");
    expect((await subscription[Symbol.asyncIterator]().next()).value).toEqual({ kind: "tools", missed: false });
    expect((await client.allTools()).map(({ name, title }) => title ?? name)).toEqual(["new", "rebuild"]);
    await client.call("old" as never);
    expect(told).toBe(1);
    await subscription.close();
  },
});
