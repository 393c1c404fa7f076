import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import type { Revision } from "../../src/protocol/revisions.js";
import type { HandlerContext } from "../../src/server/contract/context.js";

const KEY = { type: "object", properties: { key: { type: "string" } }, required: ["key"] } as const;
const NUMBER = { type: "number" } as const;

/** Parley's server with what `interop-offer.mjs` lists; it speaks one revision, so that the peer's client must too. */
export function ourServer(revision: Revision): Server {
  const cancelled = new Set<string>();
  const server = new Server(
    { name: "parley", version: "1" },
    {
      revisions: [revision],
      extensions: [tasks({ pollIntervalMs: 50 })],
    },
  );
  server
    .tool(
      "add",
      { input: { type: "object", properties: { a: NUMBER, b: NUMBER }, required: ["a", "b"] } },
      ({ a, b }) => String(Number(a) + Number(b)),
    )
    .tool("count", { input: { type: "object", properties: { to: NUMBER }, required: ["to"] } }, async ({ to }, ctx) => {
      for (let step = 1; step <= Number(to); step++) {
        ctx.progress(step, { total: Number(to) });
        await pause(20);
      }
      return "done";
    })
    .tool("ask", {}, askName)
    .tool("job", { task: "optional" }, askName)
    .tool("stuck", { task: "optional" }, async (_args, ctx) => {
      await aborted(ctx.signal);
      return "not cancelled";
    })
    .tool("sample", {}, async (_args, ctx) => {
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Say hello" } }];
      return JSON.stringify((await ctx.sample({ messages, maxTokens: 10 })).content);
    })
    .tool("wait", { input: KEY }, async ({ key }, ctx) => {
      ctx.progress(1);
      await aborted(ctx.signal);
      if (ctx.signal.aborted) cancelled.add(String(key));
      return "not cancelled";
    })
    .tool("cancelled", { input: KEY }, ({ key }) => String(cancelled.has(String(key))))
    .tool("touch", {}, () => {
      server.resourceUpdated("note://a");
      return "touched";
    });
  server.resource("note://a", { name: "note" }, () => "a note");
  return server;
}

async function askName(_args: object, ctx: HandlerContext): Promise<string> {
  const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
  return `hello ${(await ctx.elicit("Who are you?", form)).name}`;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Ends with the signal, or after a while when nobody gives it, so that nothing stays behind. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 10_000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
