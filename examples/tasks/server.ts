import { Server } from "@parley/mcp";
import type { Storage } from "@parley/mcp/storage";
import { tasks } from "@parley/mcp/tasks";
import { z } from "zod";

/** What happened outside the tasks, for all to see. */
export const done: string[] = [];

const Choice = z.object({ format: z.enum(["pdf", "html"]) });

/** One node of a server that makes reports; all nodes share the storage. */
export function node(storage: Storage) {
  return new Server(
    { name: "reports", version: "1.0.0" },
    { storage, extensions: [tasks({ leaseMs: 300, pollIntervalMs: 50 })] },
  ).tool("report", { task: "optional", input: z.object({ year: z.number() }) }, async ({ year }, ctx) => {
    const rows = await ctx.step("count", () => {
      done.push(`count ${year}`);
      return 1200;
    });
    ctx.progress(1, { total: 2, message: `counted ${rows} rows` });
    const { format } = await ctx.elicit("Which format?", Choice);
    return ctx.step("write", () => {
      done.push(`write ${format}`);
      return `${rows} rows of ${year} as ${format}`;
    });
  });
}
