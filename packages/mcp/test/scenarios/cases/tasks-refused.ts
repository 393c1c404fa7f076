import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { scenario } from "../scenario.js";
import { ask, begin, declaresTasks, knowsTasks } from "../task-wire.js";

const ID = "io.modelcontextprotocol/tasks";

export default scenario({
  name: "requests about tasks are refused for unknown ids, for clients without the extension and for tools without tasks",
  ids: ["TASK25-01", "TASK25-02", "TASK25-03", "TASK25-04", "TASK25-16", "TASK26-01", "TASK26-14", "TASK26-17"],
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks()] })
      .tool("may", { task: "optional" }, () => "x")
      .tool("must", { task: "required" }, () => "x")
      .tool("never", { task: "never" }, () => "x")
      .prompt("p", {}, () => "hello"),
  except: {
    "gateway-stateless/stateful":
      "a server without sessions does not list which tools run as tasks, so that all of them may",
  },
  async run({ connect, era }) {
    const older = era === "stateful";
    const client = await connect({ extensions: [declaresTasks] });
    const capabilities = client.serverCapabilities;
    const { tools } = await client.listTools();
    const support = Object.fromEntries(tools.map(({ name, execution }) => [name, execution?.taskSupport]));
    if (older) {
      expect(capabilities.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
      expect(capabilities.extensions?.[ID]).toBeUndefined();
      expect(support).toEqual({ may: "optional", must: "required", never: undefined });
      const refused = ask(client, "tools/call", { name: "never", task: {} });
      await expect(refused).rejects.toMatchObject({ code: -32601 });
      // A request that cannot be a task is served as if nothing was said.
      expect(await ask(client, "prompts/get", { name: "p", task: {} })).toHaveProperty("messages");
      for (const ttl of [0, -1, "x"]) {
        const wrong = ask(client, "tools/call", { name: "may", task: { ttl } });
        await expect(wrong).rejects.toMatchObject({ code: -32602 });
      }
      await expect(ask(client, "tasks/result", { taskId: "unknown" })).rejects.toMatchObject({ code: -32602 });
    } else {
      expect(capabilities.extensions?.[ID]).toEqual({});
      expect(capabilities).not.toHaveProperty("tasks");
      expect(support).toEqual({ may: undefined, must: undefined, never: undefined });
      // The parameter of the older form says nothing here.
      expect(await ask(client, "tools/call", { name: "never", task: {} })).toHaveProperty("content");
    }
    const methods = older ? ["tasks/get", "tasks/cancel"] : ["tasks/get", "tasks/cancel", "tasks/update"];
    for (const method of methods) {
      const about = (taskId: unknown) => ask(client, method, { taskId, inputResponses: {} });
      for (const id of ["unknown", "../x", ""]) await expect(about(id)).rejects.toMatchObject({ code: -32602 });
    }
    if (older) return;
    const taskId = await begin(client, "must");
    const without = await connect({ extensions: [knowsTasks] });
    for (const method of methods) {
      const refused = ask(without, method, { taskId, inputResponses: {} });
      await expect(refused).rejects.toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: { [ID]: {} } } },
      });
    }
    const listening = ask(without, "subscriptions/listen", { notifications: { taskIds: [taskId] } });
    await expect(listening).rejects.toMatchObject({ code: -32021 });
  },
});
