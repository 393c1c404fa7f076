import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

const schema = z.object({
  name: z.string().min(1).default("Ada"),
  mail: z.email().optional(),
  age: z.int().min(0).max(150).default(30),
  agree: z.boolean().default(true),
  size: z.enum(["s", "m", "l"]),
  colour: z.union([z.literal("r").meta({ title: "Red" }), z.literal("g").meta({ title: "Green" })]),
  tags: z.array(z.enum(["new", "hot"])).max(2),
});

export default scenario({
  name: "a form of every shape is asked, defaults are filled in, and the answer is checked",
  ids: ["ELIC-04", "ELIC-05", "ELIC-06", "ELIC-07", "ELIC-08"],
  server: () =>
    new Server({ name: "form", version: "1" }).tool("order", {}, async (_args, ctx) =>
      JSON.stringify(await ctx.elicit("Your order?", schema)),
    ),
  async run({ connect }) {
    const forms: unknown[] = [];
    const client = await connect({
      onElicit(question) {
        if (question.mode !== "url") forms.push(question.requestedSchema.properties);
        return { action: "accept", content: { size: "m", colour: "g", tags: ["hot"] } };
      },
    });
    const order = JSON.parse(await client.call("order")) as unknown;
    expect(order).toEqual({ name: "Ada", age: 30, agree: true, size: "m", colour: "g", tags: ["hot"] });
    expect(forms).toMatchObject([
      {
        mail: { type: "string", format: "email" },
        size: { type: "string", enum: ["s", "m", "l"] },
        colour: {
          type: "string",
          oneOf: [
            { const: "r", title: "Red" },
            { const: "g", title: "Green" },
          ],
        },
        tags: { type: "array", items: { type: "string", enum: ["new", "hot"] }, maxItems: 2 },
      },
    ]);
  },
});
