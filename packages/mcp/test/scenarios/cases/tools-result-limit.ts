import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a result beyond its limit is cut, with a note for the model",
  ids: ["TOOL-18"],
  server: () =>
    new Server({ name: "large", version: "1" }).tool("dump", { maxResultBytes: 4096 }, () => "line\n".repeat(100_000)),
  async run({ connect }) {
    const client = await connect();
    const { content } = await client.callTool("dump");
    expect(JSON.stringify(content).length).toBeLessThanOrEqual(4096);
    expect(content.at(-1)).toMatchObject({ text: expect.stringContaining("the limit is 4096") });
  },
});
