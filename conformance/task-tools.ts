import { McpError, type Server, ToolError } from "@parley/mcp";
import { z } from "zod";

const confirm = z.object({ confirm: z.boolean() });

/** The tools that run as tasks. */
export function addTaskTools(server: Server<unknown>): void {
  server
    .tool(
      "greet",
      { description: "Answers at once", input: z.object({ name: z.string() }) },
      ({ name }) => `Hello, ${name}!`,
    )
    .tool(
      "slow_compute",
      {
        description: "Takes its time",
        input: z.object({ seconds: z.number(), label: z.string().optional() }),
        task: "optional",
      },
      async ({ seconds, label = "computation" }, ctx) => {
        await pause(seconds * 1000, ctx.signal);
        return `${label} done after ${seconds} s`;
      },
    )
    .tool("failing_job", { description: "Fails as a tool", task: "required" }, async (_args, ctx) => {
      await pause(500, ctx.signal);
      throw new ToolError("This job fails by design");
    })
    .tool("protocol_error_job", { description: "Fails as a request", task: "optional" }, async (_args, ctx) => {
      await pause(200, ctx.signal);
      throw new McpError("internal_error", "This job breaks by design");
    })
    .tool(
      "confirm_delete",
      { description: "Asks first", input: z.object({ filename: z.string() }), task: "optional" },
      async ({ filename }, ctx) => {
        const answer = await ctx.elicit(`Delete ${filename}?`, confirm, { key: "confirm" });
        return answer.confirm ? `Deleted ${filename}` : `Kept ${filename}`;
      },
    )
    .tool("multi_input", { description: "Asks two things at once", task: "optional" }, async (_args, ctx) => {
      const answers = await Promise.all([
        ctx.tryElicit("First?", confirm, { key: "first" }),
        ctx.tryElicit("Second?", confirm, { key: "second" }),
      ]);
      return JSON.stringify(answers);
    })
    .tool(
      "test_tool_with_task",
      { description: "Asks, and goes on as a task", task: { support: "optional", begin: "handler" } },
      async (_args, ctx) => {
        const { name } = await ctx.elicit("What is your name?", z.object({ name: z.string() }), { key: "user_name" });
        await ctx.startTask();
        await pause(200, ctx.signal);
        return `Hello, ${name}!`;
      },
    );
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
