import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";
import { ask, declaresTasks, look } from "../task-wire.js";

export default scenario({
  name: "a call is checked before it becomes a task, and the output of the tool is checked as without one",
  ids: ["TASK25-07", "TASK26-02"],
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
      .tool("square", { task: "optional", input: z.object({ n: z.number() }), output: z.number() }, ({ n }) => n * n)
      .tool(
        "wrong",
        { task: "optional", output: z.object({ n: z.number() }) },
        () => JSON.parse('{"n":"text"}') as { n: number },
      ),
  except: {
    "gateway-stateful/stateless": "a server with sessions answers a request for a task with one, whatever came of it",
  },
  async run({ connect, era }) {
    const client = await connect({ extensions: [declaresTasks] });
    const call = (name: string, args: object) => ask(client, "tools/call", { name, arguments: args, task: {} });
    const refused = await call("square", { n: "two" });
    if (era === "stateless") expect(refused).toMatchObject({ isError: true });
    else {
      // Whoever sent `task` gets a task, which begins as every task does.
      expect(refused).toMatchObject({ status: "working" });
      const taskId = String(refused["taskId"]);
      expect(await look(client, taskId, "failed")).toHaveProperty("statusMessage");
      expect(await ask(client, "tasks/result", { taskId })).toMatchObject({ isError: true });
    }
    await expect(call("unknown", {})).rejects.toMatchObject({ code: -32602 });
    const user = await connect({ extensions: [tasks()] });
    await expect(user.call("square", JSON.parse('{"n":"two"}'))).rejects.toMatchObject({ kind: "tool_error" });
    expect(await user.call("square", { n: 3 })).toBe(9);
    const direct = await (await connect()).tryCall("wrong");
    const byTask = await (await user.startTask("wrong")).result().catch((error: unknown) => ({ ok: false, error }));
    expect(direct).toMatchObject({ ok: false, error: { kind: expect.any(String) } });
    const { error } = direct as { error: { kind: string; message: string } };
    expect(byTask).toMatchObject({ ok: false, error: { kind: error.kind, message: error.message } });
  },
});
