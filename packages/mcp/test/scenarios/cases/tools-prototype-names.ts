import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool may be called constructor, and toString is an unknown tool",
  ids: ["TOOL-15"],
  server: () =>
    new Server({ name: "odd", version: "1" })
      .tool("constructor", {}, () => "built")
      .tool("__proto__", {}, () => "proto"),
  async run({ connect }) {
    const client = await connect();
    expect(await client.callTool("constructor")).toMatchObject({ content: [{ text: "built" }] });
    expect(await client.callTool("__proto__")).toMatchObject({ content: [{ text: "proto" }] });
    await expect(client.request("tools/call", { name: "toString" })).rejects.toMatchObject({
      kind: "invalid_params",
      code: -32602,
    });
  },
});
