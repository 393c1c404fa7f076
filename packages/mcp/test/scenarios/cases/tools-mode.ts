import { Server } from "@parley/mcp";
import { toolMode } from "@parley/mcp/protocol";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool says whether it is stateless, and the client what that means for its session",
  server: () =>
    new Server({ name: "s", version: "1" })
      .tool("add", { mode: "stateless" }, () => "3")
      .tool("count", { mode: "stateful" }, () => "1")
      .tool("reset", {}, () => "done"),
  async run({ connect }) {
    const client = await connect();
    const tools = await client.allTools();
    expect(tools.map(toolMode)).toEqual(["stateless", "stateful", "stateful"]);
    expect(tools.map(({ _meta }) => _meta)).toEqual([{ "dev.parley/mode": "stateless" }, undefined, undefined]);
    expect(client.sessionMode).toBe("required");
    expect(await client.call("add")).toBe("3");
  },
});
