import { Server } from "@parley/mcp";
import { z } from "zod";

/** A weather station: one tool that reports progress and asks before it spends money. */
export const server = new Server({ name: "weather", version: "1.0.0" }).tool(
  "forecast",
  {
    description: "Forecast for a city",
    input: z.object({ city: z.string() }),
    output: z.object({ city: z.string(), tempC: z.number(), source: z.enum(["free", "paid"]) }),
  },
  async ({ city }, ctx) => {
    ctx.progress(0.5, { message: "asking the station" });
    const { paid } = await ctx.elicit("Use the paid source?", z.object({ paid: z.boolean() }));
    return { city, tempC: 7, source: paid ? "paid" : "free" };
  },
);
