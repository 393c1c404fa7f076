import { McpError, Server, ToolError } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "what a handler throws reaches the model, the program or nobody, as its kind says",
  ids: ["TOOL-15", "TOOL-16"],
  server: () =>
    new Server({ name: "failing", version: "1" })
      .tool("forModel", {}, () => {
        throw new ToolError("Try a larger city.");
      })
      .tool("unexpected", {}, () => {
        throw new Error("disk full", { cause: new Error("secret path") });
      })
      .tool("protocol", {}, () => {
        throw new McpError("invalid_params", "no such account", { data: { account: 7 } });
      }),
  async run({ connect }) {
    const client = await connect();
    expect(await client.callTool("forModel")).toMatchObject({
      isError: true,
      content: [{ text: "Try a larger city." }],
    });
    const unexpected = await client.callTool("unexpected");
    expect(unexpected.content).toEqual([{ type: "text", text: "disk full" }]);
    expect(JSON.stringify(unexpected)).not.toContain("secret");
    await expect(client.callTool("protocol")).rejects.toMatchObject({ code: -32602, data: { account: 7 } });
    await expect(client.call("forModel")).rejects.toMatchObject({ kind: "tool_error", message: "Try a larger city." });
  },
});
