import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "handlers that return junk fail alone: the connection and other calls go on",
  ids: ["TOOL-15"],
  server: () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    return new Server({ name: "junk", version: "1" })
      .tool("bigint", {}, () => ({ n: 1n }))
      .tool("cycle", {}, () => cycle)
      .tool("function", {}, () => (() => 1) as never)
      .tool("throwsNothing", {}, () => {
        throw undefined;
      })
      .tool("fine", {}, () => "fine");
  },
  async run({ connect }) {
    const client = await connect();
    const outcomes = await Promise.allSettled([
      client.callTool("bigint"),
      client.callTool("cycle"),
      client.callTool("function"),
      client.call("fine"),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "fulfilled"]);
    expect((await client.callTool("throwsNothing")).isError).toBe(true);
    expect(await client.call("fine")).toBe("fine");
  },
});
