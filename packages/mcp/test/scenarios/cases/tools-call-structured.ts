import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool with an output schema gives structured content and the same as text",
  ids: ["TOOL-11", "TOOL-12"],
  server: () =>
    new Server({ name: "sums", version: "1" }).tool(
      "add",
      { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
      ({ a, b }) => ({ sum: a + b }),
    ),
  async run({ connect }) {
    const client = await connect();
    expect(await client.call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    const { content, structuredContent } = await client.callTool("add", { a: 2, b: 2 });
    expect(structuredContent).toEqual({ sum: 4 });
    expect(content).toEqual([{ type: "text", text: '{"sum":4}' }]);
  },
});
