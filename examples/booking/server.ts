import { isInputRequired, McpError, Server } from "@parley/mcp";
import { z } from "zod";

/** Seats that are held while a user is still choosing. */
export const held = new Set<string>();

const Seat = z.object({ seat: z.enum(["aisle", "window"]) });
const Extras = z.object({ extras: z.array(z.enum(["bike", "meal"])).default([]) });
const Card = z.object({ pay: z.boolean() });

/** Books a train: holds a seat once, asks two questions at a time, then for consent; releases the seat if the user declines. */
export const server = new Server({ name: "trains", version: "1.0.0" }).tool(
  "book",
  { input: z.object({ to: z.string() }), output: z.object({ ticket: z.string(), price: z.number() }) },
  async ({ to }, ctx) => {
    const place = await ctx.step("hold", () => {
      const name = `${to}-${held.size + 1}`;
      held.add(name);
      return name;
    });
    try {
      const [{ seat }, { extras }] = await Promise.all([
        ctx.elicit("Which seat?", Seat),
        ctx.elicit("Anything else?", Extras),
      ]);
      const price = 40 + 5 * extras.length;
      await ctx.elicit(`Pay ${price}?`, Card);
      return { ticket: [place, seat, ...extras].join(" "), price };
    } catch (error) {
      // Not a failure: the handler runs again when the client has the answer.
      if (isInputRequired(error)) throw error;
      held.delete(place);
      throw McpError.is(error) && error.kind === "declined" ? new Error("Nothing was booked.") : error;
    }
  },
);
