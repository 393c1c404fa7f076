import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "arguments that came as text become what the schema asks for, and the handler is told",
  ids: ["TOOL-16", "TOOL-18"],
  server: () =>
    new Server({ name: "coercing", version: "1" }).tool(
      "add",
      {
        input: z.object({ numbers: z.array(z.number()), round: z.boolean(), label: z.string() }),
        output: z.object({ sum: z.number(), label: z.string(), coerced: z.array(z.string()) }),
      },
      ({ numbers, label }, ctx) => ({
        sum: numbers.reduce((sum, number) => sum + number, 0),
        label,
        coerced: ctx.coercions.map(({ path }) => path),
      }),
    ),
  async run({ connect }) {
    const client = await connect();
    const { structuredContent } = await client.callTool("add", { numbers: "[1, 2, 3]", round: "false", label: "5" });
    expect(structuredContent).toEqual({ sum: 6, label: "5", coerced: ["/numbers", "/round"] });
  },
});
