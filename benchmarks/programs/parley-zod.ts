import { Server } from "@parley/mcp";
import { z } from "zod";

/** A server with the tool that adds, its arguments described by zod. */
export const parleyZod = () =>
  new Server({ name: "bench", version: "1.0.0" }).tool(
    "add",
    { description: "Adds two numbers", input: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => String(a + b),
  );
