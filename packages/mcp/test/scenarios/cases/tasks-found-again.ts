import { McpError, Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a task goes on without the client that started it, and another client finds it by what was saved",
  ids: ["TASK26-06", "TASK26-09"],
  except: { stdio: "each client has a server process of its own" },
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 30 })] })
      .tool("list", { task: "required", output: z.array(z.number()) }, async () => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return [1, 2];
      })
      .tool("asks", { task: "required" }, async (_args, ctx) => {
        const { name } = await ctx.elicit("who?", z.object({ name: z.string() }));
        return `hello ${name}`;
      })
      .tool("fails", { task: "required" }, () => {
        throw new McpError("invalid_params", "no good");
      }),
  async run({ connect }) {
    const asks = { onElicit: () => ({ action: "accept" as const, content: { name: "Ada" } }) };
    const first = await connect({ extensions: [tasks()], ...asks });
    const saved = [];
    for (const name of ["list", "asks", "fails"] as const) saved.push(JSON.stringify(await first.startTask(name)));
    await first.close();
    const second = await connect({ extensions: [tasks()], ...asks });
    const [list, asking, failing] = saved.map((text) => second.task(JSON.parse(text)));
    expect(await list?.result()).toEqual([1, 2]);
    expect(await asking?.result()).toBe("hello Ada");
    await expect(failing?.result()).rejects.toMatchObject({ kind: "invalid_params", message: "no good" });
    await expect(second.task("unknown").result()).rejects.toMatchObject({ code: -32602 });
  },
});
