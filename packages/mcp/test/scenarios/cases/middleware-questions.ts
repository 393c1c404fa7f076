import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "middleware that copies, changes or replaces every result does not swallow a question",
  ids: ["MRTR-01", "TOOL-18"],
  server: () =>
    new Server({ name: "wrapped", version: "1" })
      .tool("greet", {}, async (_args, ctx) => {
        const { name } = await ctx.elicit("Name?", z.object({ name: z.string() }));
        return `hello ${name}`;
      })
      .use(async (call, next) => {
        const result = await next();
        if (call.method !== "tools/call") return result;
        return { ...result, _meta: { "com.example/seen": true } };
      })
      .use(async (call, next) => {
        const result = await next();
        if (call.method === "tools/call") Object.assign(result, { _meta: {} });
        return result;
      }),
  async run({ connect }) {
    let asked = 0;
    const client = await connect({
      onElicit: () => {
        asked++;
        return { action: "accept", content: { name: "Ada" } };
      },
    });
    const result = await client.callTool("greet");
    expect(result.content).toEqual([{ type: "text", text: "hello Ada" }]);
    expect(result._meta).toMatchObject({ "com.example/seen": true });
    expect(asked).toBe(1);
  },
});
