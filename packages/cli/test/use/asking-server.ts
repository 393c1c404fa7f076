import { once } from "node:events";
import { Server, urlRequired } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { z } from "zod";

/** What the tools of `askingServer` have noticed. */
export interface Noticed {
  cancelled: number;
}

/** A server whose tools ask in every way, and one that lasts until it is cancelled. */
export function askingServer(noticed: Noticed = { cancelled: 0 }): Server {
  const server = new Server({ name: "asker", version: "1.0.0" }, { extensions: [tasks({ pollIntervalMs: 20 })] });
  server.tool("form", { description: "Asks for an order" }, async (_args, ctx) => {
    return JSON.stringify(await ctx.tryElicit("What do you want?", ORDER));
  });
  server.tool("page", { description: "Sends to a page" }, async (_args, ctx) => {
    await ctx.elicitUrl("Pay here", "https://pay.example/cart?id=7");
    return "the page was agreed to";
  });
  server.tool("report", { description: "Runs as a task", task: "required" }, async (_args, ctx) => {
    const { format } = await ctx.elicit("Which format?", z.object({ format: z.enum(["pdf", "html"]) }));
    return `a report as ${format}`;
  });
  let refused = 0;
  server.tool("locked", { description: "Wants a visit first" }, () => {
    if (refused++ % 2 === 1) return "unlocked";
    throw urlRequired([{ message: "Sign in", url: "https://login.example/start" }]);
  });
  server.tool("think", { description: "Asks a model" }, async (_args, ctx) => {
    const messages = [{ role: "user" as const, content: { type: "text" as const, text: "What is 6 times 7?" } }];
    const { content, model } = await ctx.sample({ messages, maxTokens: 10, systemPrompt: "Be short." });
    return JSON.stringify({ content, model });
  });
  server.tool("folders", { description: "Lists the roots" }, async (_args, ctx) => JSON.stringify(await ctx.roots()));
  server.tool("last", { description: "Never ends by itself" }, async (_args, ctx) => {
    ctx.progress(3, { total: 4, message: "three quarters" });
    if (!ctx.signal.aborted) await once(ctx.signal, "abort");
    noticed.cancelled++;
    return "cancelled";
  });
  server.tool(
    "order",
    {
      description: "Takes arguments of every kind",
      input: z.object({
        item: z.string().min(2).describe("what to buy"),
        count: z.number().int().min(1).max(9).describe("how many"),
        code: z.string().regex(/^[A-Z]{3}$/),
        gift: z.boolean(),
        tags: z.array(z.string()).optional(),
        sizes: z.array(z.number()).optional(),
        size: z.enum(["small", "large"]).optional(),
        address: z.object({ city: z.string() }).optional(),
      }),
    },
    (args) => JSON.stringify(args),
  );
  return server;
}

const ORDER = {
  type: "object",
  properties: {
    mail: { type: "string", format: "email", title: "Mail", description: "where to write" },
    count: { type: "integer", minimum: 1, maximum: 9, default: 2 },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    extras: { type: "array", maxItems: 2, items: { type: "string", enum: ["milk", "sugar", "ice"] } },
    gift: { type: "boolean" },
  },
  required: ["mail", "size"],
} as const;
