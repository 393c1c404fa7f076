import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "an error of the server and a failed tool are told apart, and both say what to do",
  ids: ["TOOL-15", "TOOL-16", "BASE-35"],
  server: () =>
    new Server({ name: "grumpy", version: "1" }).tool("fail", {}, () => {
      throw new Error("out of paper");
    }),
  async run({ connect }) {
    const client = await connect();
    await expect(client.request("tools/call", { name: "nobody" })).rejects.toMatchObject({
      kind: "invalid_params",
      remote: true,
      fix: expect.any(String),
    });
    expect(await client.callTool("fail")).toMatchObject({ isError: true });
    await expect(client.call("fail")).rejects.toMatchObject({
      kind: "tool_error",
      message: expect.stringContaining("out of paper"),
      remote: false,
    });
  },
});
