import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";
import { begin, declaresTasks, look } from "../task-wire.js";

export default scenario({
  name: "who listens for a task is told each change of it and nothing of other tasks",
  ids: ["TASK26-15"],
  except: {
    stateful: "only tasks of the extension can be listened for",
    "gateway-stateful": "the gateway names the questions of a task itself",
    "gateway-stateless": "the gateway names the questions of a task itself",
  },
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks()] }).tool(
      "asks",
      { task: "required" },
      async (_, ctx) => {
        const { n } = await ctx.elicit("how many?", z.object({ n: z.number() }), { key: "count" });
        ctx.progress(1, { message: "half way" });
        ctx.log("info", "not for tasks");
        await new Promise((resolve) => setTimeout(resolve, 30));
        return `${n}`;
      },
    ),
  async run({ connect }) {
    const heard: { method: string; params: Record<string, unknown> }[] = [];
    const client = await connect({ extensions: [declaresTasks], onElicit: () => ({ action: "cancel" }) });
    client.on("notification", ({ method, params = {} }) => heard.push({ method, params }));
    const taskId = await begin(client, "asks");
    const other = await begin(client, "asks");
    await look(client, taskId, "input_required");
    const stop = new AbortController();
    const listening = client
      .request("subscriptions/listen", { notifications: { taskIds: [taskId, "unknown"] } }, { signal: stop.signal })
      .catch(() => {});
    await expect.poll(() => heard.length).toBeGreaterThan(0);
    expect(heard[0]).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: [taskId] } },
    });
    const inputResponses = { count: { action: "accept", content: { n: 3 } } };
    await client.request("tasks/update", { taskId: other, inputResponses });
    await client.request("tasks/update", { taskId, inputResponses });
    const told = () => heard.filter(({ method }) => method === "notifications/tasks").map(({ params }) => params);
    await expect.poll(() => told().at(-1)?.["status"]).toBe("completed");
    for (const params of told()) {
      expect(params).toMatchObject({ taskId, createdAt: expect.any(String), ttlMs: expect.any(Number) });
      expect(params["_meta"]).toHaveProperty(["io.modelcontextprotocol/subscriptionId"]);
    }
    expect(told()[0]).toMatchObject({ status: "working" });
    expect(told().at(-1)).toMatchObject({ result: { content: [{ text: "3" }] } });
    const methods = new Set(heard.map(({ method }) => method));
    expect([...methods].sort()).toEqual(["notifications/subscriptions/acknowledged", "notifications/tasks"]);
    stop.abort();
    await listening;
  },
});
