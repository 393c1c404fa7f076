import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";

const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const whoInput = { type: "object", properties: { who: { type: "string" } }, required: ["who"] } as const;

/** A server that asks, reports, takes its time and dies. */
export function askingServer() {
  // What calls came to, for a client that was not there to see it.
  const ended: string[] = [];
  const begun: string[] = [];
  return new Server({ name: "asking", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
    .tool("ask", { input: whoInput }, async ({ who }, ctx) => {
      ctx.progress(1, { total: 2, message: `asking ${who}` });
      const reply = (await ctx.elicit(`name of ${who}?`, form)) as { name: string };
      return `${who} is ${reply.name}`;
    })
    .tool("wait", { input: whoInput }, async ({ who }, ctx) => {
      begun.push(who);
      ctx.progress(1);
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      ended.push(who);
      return "over";
    })
    .tool("ask-twice", {}, async (_args, ctx) => {
      const one = (await ctx.elicit("first?", form)) as { name: string };
      const two = (await ctx.elicit("second?", form)) as { name: string };
      return `${one.name} ${two.name}`;
    })
    .tool("ask-endlessly", {}, async (_args, ctx) => {
      for (let turn = 0; turn < 1000; turn++) await ctx.elicit(`again ${turn}?`, form);
      return "never";
    })
    .tool("ask-and-die", {}, async (_args, ctx) => {
      setTimeout(() => process.exit(1), 200);
      await ctx.elicit("last words?", form);
      return "never";
    })
    .tool("long", { task: "optional" }, async (_args, ctx) => {
      const reply = (await ctx.elicit("in a task?", form)) as { name: string };
      ctx.progress(1, { message: "nearly" });
      await new Promise((resolve) => setTimeout(resolve, 50));
      return `a task for ${reply.name}`;
    })
    .tool("endless", { task: "optional" }, async (_args, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      ended.push("the task");
      return "over";
    })
    .tool("begun", {}, () => begun.join(","))
    .tool("ended", {}, () => ended.join(","));
}
