import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

const schema = z.object({ ok: z.boolean() });

export default scenario({
  name: "a handler learns whether the user declined or turned away, by an error or by a value",
  ids: ["ELIC-08", "ELIC-09"],
  server: () =>
    new Server({ name: "polite", version: "1" })
      .tool("insist", {}, async (_args, ctx) => String((await ctx.elicit("Sure?", schema)).ok))
      .tool("ask", {}, async (_args, ctx) => (await ctx.tryElicit("Sure?", schema)).action),
  async run({ connect }) {
    for (const action of ["decline", "cancel"] as const) {
      const client = await connect({ onElicit: () => ({ action }) });
      expect(await client.call("ask")).toBe(action);
      const { isError, content } = await client.callTool("insist");
      expect(isError).toBe(true);
      expect(content).toMatchObject([{ text: expect.stringContaining("Sure?") }]);
    }
  },
});
