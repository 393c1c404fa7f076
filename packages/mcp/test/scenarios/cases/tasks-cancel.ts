import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { scenario } from "../scenario.js";
import { ask, begin, declaresTasks, look } from "../task-wire.js";

export default scenario({
  name: "a cancelled task stops its handler and stays cancelled",
  ids: ["TASK25-07", "TASK25-14", "TASK26-13"],
  server: () => {
    let started = 0;
    let stopped = 0;
    return new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
      .tool("endless", { task: "required" }, async (_args, ctx) => {
        started++;
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        stopped++;
        return "too late";
      })
      .tool("started", {}, () => String(started))
      .tool("stopped", {}, () => String(stopped));
  },
  async run({ connect, era }) {
    const client = await connect({ extensions: [tasks()] });
    const handle = await client.startTask("endless");
    const waiting = expect(handle.result()).rejects.toMatchObject({ kind: "cancelled" });
    await handle.cancel();
    await waiting;
    expect(handle.status).toBe("cancelled");
    await expect.poll(() => client.call("stopped")).toBe("1");
    const aborting = new AbortController();
    const call = client.call("endless", undefined, { signal: aborting.signal });
    const cancelled = expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await expect.poll(() => client.call("started")).toBe("2");
    aborting.abort();
    await cancelled;
    await expect.poll(() => client.call("stopped")).toBe("2");

    const bare = await connect({ extensions: [declaresTasks] });
    const taskId = await begin(bare, "endless");
    const acknowledged = await ask(bare, "tasks/cancel", { taskId });
    expect(acknowledged["status"]).toBe(era === "stateful" ? "cancelled" : undefined);
    const task = await look(bare, taskId, "cancelled");
    expect(task).not.toHaveProperty("result");
    const again = ask(bare, "tasks/cancel", { taskId });
    if (era === "stateful") await expect(again).rejects.toMatchObject({ code: -32602 });
    else expect(Object.keys(await again)).not.toContain("status");
    expect(await ask(bare, "tasks/get", { taskId })).toMatchObject({ status: "cancelled" });
  },
});
