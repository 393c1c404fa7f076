import { Server, ToolError } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "every way to call a tool gives the final result of its task, and middleware sees no other",
  ids: ["TASK26-04"],
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
      .tool("double", { task: "required", input: z.object({ n: z.number() }), output: z.number() }, async ({ n }) => {
        await new Promise((resolve) => setTimeout(resolve, 40));
        return n * 2;
      })
      .tool("fails", { task: "required" }, () => {
        throw new ToolError("no");
      }),
  async run({ connect }) {
    const passed: unknown[] = [];
    const client = await connect({ extensions: [tasks()] });
    client.use(async (call, next) => {
      const result = await next();
      if (call.method === "tools/call") passed.push(result["content"]);
      return result;
    });
    const many = await client.callMany([1, 2, 3].map((n) => ({ name: "double" as const, args: { n } })));
    expect(many.map((one) => one.status === "fulfilled" && one.value.content[0])).toEqual(
      ["2", "4", "6"].map((text) => ({ type: "text", text })),
    );
    const events: unknown[] = [];
    for await (const event of client.stream("double", { n: 4 })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: "result", value: 8 });
    expect(await client.tryCall("double", { n: 5 })).toMatchObject({ ok: true, value: 10 });
    expect(await client.tryCall("fails")).toMatchObject({ ok: false, error: { kind: "tool_error", message: "no" } });
    expect(await client.callTool("fails")).toMatchObject({ isError: true });
    expect(passed).toHaveLength(7);
    for (const content of passed) expect(content).toBeInstanceOf(Array);
  },
});
