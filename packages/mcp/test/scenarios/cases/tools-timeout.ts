import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a handler that never settles is told to stop, and the model that it took too long",
  ids: ["TOOL-18"],
  server: () => {
    let stopped = "not told";
    return new Server({ name: "slow", version: "1" })
      .tool("hang", { timeoutMs: 50 }, (_args, { signal }) => {
        signal.addEventListener("abort", () => {
          stopped = "told";
        });
        return new Promise<never>(() => {});
      })
      .tool("stopped", {}, () => stopped);
  },
  async run({ connect }) {
    const client = await connect();
    const { isError, content } = await client.callTool("hang");
    expect(isError).toBe(true);
    expect(content).toEqual([{ type: "text", text: 'The tool "hang" did not finish within 50 ms.' }]);
    expect(await client.call("stopped")).toBe("told");
  },
});
