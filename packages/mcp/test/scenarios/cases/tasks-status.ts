import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { scenario } from "../scenario.js";
import { ask, declaresTasks, look } from "../task-wire.js";

export default scenario({
  name: "who created a task is told its status, its progress and its log where the revision has that",
  ids: ["TASK25-11", "TASK25-15", "TASK26-15"],
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks()] }).tool(
      "works",
      { task: "required" },
      async (_, ctx) => {
        ctx.progress(1, { total: 2, message: "half way" });
        ctx.log("warning", "slow");
        await new Promise((resolve) => setTimeout(resolve, 150));
        return "done";
      },
    ),
  except: {
    "gateway-stateful/stateless":
      "what a server with sessions logs before it answers with its task belongs to the call",
    "gateway-stateless/stateful": "a server without sessions tells the message of a task only to those who look at it",
  },
  async run({ connect, era }) {
    const client = await connect({ extensions: [declaresTasks] });
    const heard: { method: string; params: Record<string, unknown> }[] = [];
    client.on("notification", ({ method, params = {} }) => heard.push({ method, params }));
    const created = await ask(client, "tools/call", {
      name: "works",
      ...(era === "stateful" ? { task: {}, _meta: { progressToken: "mine" } } : {}),
    });
    const { taskId } = (created["task"] ?? created) as { taskId: string };
    expect(await look(client, taskId, "completed")).not.toHaveProperty("statusMessage");
    if (era === "stateless") return expect(heard).toEqual([]);
    const told = (method: string) => heard.filter((one) => one.method === method).map(({ params }) => params);
    await expect
      .poll(() => told("notifications/tasks/status").at(-1))
      .toMatchObject({
        taskId,
        status: "completed",
        createdAt: expect.any(String),
        ttl: expect.any(Number),
      });
    for (const params of told("notifications/tasks/status")) expect(params).not.toHaveProperty("_meta");
    expect(told("notifications/tasks/status")[0]).toMatchObject({ status: "working", statusMessage: "half way" });
    const related = { _meta: { "io.modelcontextprotocol/related-task": { taskId } } };
    expect(told("notifications/message")).toMatchObject([{ level: "warning", data: "slow", ...related }]);
  },
});
