import { message, Server, ToolError } from "@parley/mcp";
import { z } from "zod";

const TEMPERATURES: Readonly<Record<string, readonly number[]>> = { Bergen: [7, 9, 8], Oslo: [3, 4, 6] };

/** What the module `weather.ts` was generated from: `parley types examples/generated/server.ts -o examples/generated/weather.ts`. */
export const server = new Server({ name: "weather", version: "1.0.0" })
  .tool("list_cities", { description: "The cities that are known." }, () => Object.keys(TEMPERATURES).join(", "))
  .tool(
    "get-forecast",
    {
      description: "The temperatures of the next days.",
      input: z.object({
        city: z.string().describe("one of the known cities"),
        days: z.number().int().min(1).max(3).optional().describe("how many"),
      }),
      output: z.object({ city: z.string(), celsius: z.array(z.number()) }),
      annotations: { readOnlyHint: true },
    },
    ({ city, days = 3 }, ctx) => {
      const celsius = TEMPERATURES[city];
      if (celsius === undefined) throw new ToolError(`Nobody knows the weather of ${city}.`);
      ctx.progress(1, { total: 1, message: `asked for ${city}` });
      return { city, celsius: celsius.slice(0, days) };
    },
  )
  .prompt("summary", { arguments: { city: { required: true } } }, ({ city }) => [message.user(`Sum up ${city}.`)])
  .resourceTemplate("climate://{city}", { name: "climate" }, ({ city }) => `${city} is rainy`);
