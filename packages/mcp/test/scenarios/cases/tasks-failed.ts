import { McpError, Server, ToolError } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { scenario } from "../scenario.js";
import { ask, begin, declaresTasks, look } from "../task-wire.js";

export default scenario({
  name: "a tool that fails and a request that fails end their tasks as their era says",
  ids: ["TASK25-10", "TASK25-16", "TASK26-07", "TASK26-08"],
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
      .tool("tool-fails", { task: "required" }, () => {
        throw new ToolError("no paper");
      })
      .tool("request-fails", { task: "required" }, () => {
        throw new McpError("invalid_params", "no such printer", { data: { printer: 7 } });
      }),
  async run({ connect, era }) {
    const bare = await connect({ extensions: [declaresTasks] });
    const result = { isError: true, content: [{ type: "text", text: "no paper" }] };
    const error = { code: -32602, message: "no such printer", data: { printer: 7 } };
    const [tool, request] = [await begin(bare, "tool-fails"), await begin(bare, "request-fails")];
    const failed = await look(bare, tool, "completed", "failed");
    const broken = await look(bare, request, "completed", "failed");
    expect(failed["statusMessage"]).toBe("no paper");
    expect(broken["statusMessage"]).toBe("no such printer");
    if (era === "stateful") {
      expect([failed["status"], broken["status"]]).toEqual(["failed", "failed"]);
      const got = await ask(bare, "tasks/result", { taskId: tool });
      expect(got).toMatchObject({ ...result, _meta: { "io.modelcontextprotocol/related-task": { taskId: tool } } });
      await expect(ask(bare, "tasks/result", { taskId: request })).rejects.toMatchObject(error);
    } else {
      expect(failed).toMatchObject({ status: "completed", result });
      expect(broken).toMatchObject({ status: "failed", error });
      expect(broken).not.toHaveProperty("result");
    }
    const client = await connect({ extensions: [tasks()] });
    expect(await client.callTool("tool-fails")).toMatchObject(result);
    await expect(client.call("tool-fails")).rejects.toMatchObject({ kind: "tool_error", message: "no paper" });
    await expect(client.call("request-fails")).rejects.toMatchObject({ kind: "invalid_params", ...error });
    const handle = await client.startTask("tool-fails");
    await expect(handle.result()).rejects.toMatchObject({ kind: "tool_error", message: "no paper" });
  },
});
