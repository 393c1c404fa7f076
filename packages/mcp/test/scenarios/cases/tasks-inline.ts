import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a client that takes no tasks gets the result at once, or learns what it lacks",
  ids: ["TASK25-03", "TASK26-02", "TASK26-03"],
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
      .tool("may", { task: "optional" }, async (_args, ctx) => `task: ${await ctx.startTask()}`)
      .tool("must", { task: "required" }, () => "x"),
  except: {
    "gateway-stateless/stateful":
      "a server without sessions does not list which tools run as tasks, so that all of them may",
  },
  async run({ connect, era }) {
    const client = await connect();
    expect(await client.callTool("may")).toMatchObject({ content: [{ type: "text", text: "task: false" }] });
    const refused =
      era === "stateful"
        ? { code: -32601 }
        : { code: -32021, data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } } };
    await expect(client.call("must")).rejects.toMatchObject(refused);
    const taking = await connect({ extensions: [tasks()] });
    expect(await taking.call("must")).toBe("x");
    // Only the stateless server decides alone; elsewhere a call that may be a task is one when the caller says so.
    expect(await taking.call("may")).toBe(`task: ${era === "stateless"}`);
    expect(await (await taking.startTask("may")).result()).toBe("task: true");
  },
});
