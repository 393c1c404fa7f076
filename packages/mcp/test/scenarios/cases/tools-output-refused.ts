import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "what a handler returns against its own output schema never arrives as a success",
  ids: ["TOOL-11"],
  server: () =>
    new Server({ name: "liar", version: "1" }).tool(
      "lie",
      { output: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
      () => ({ n: "not a number" }) as never,
    ),
  async run({ connect }) {
    const client = await connect();
    await expect(client.callTool("lie")).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('the result of tool "lie" does not fit its output schema'),
    });
  },
});
