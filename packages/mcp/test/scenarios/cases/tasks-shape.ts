import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { scenario } from "../scenario.js";
import { ask, begin, declaresTasks, look, seesTasks } from "../task-wire.js";

const RELATED = "io.modelcontextprotocol/related-task";

export default scenario({
  name: "a task has the members of its era, from its creation to its result",
  ids: ["TASK25-05", "TASK25-06", "TASK25-08", "TASK25-10", "TASK25-11", "TASK26-05", "TASK26-06", "TASK26-07"],
  server: () => {
    let allowed = 0;
    const waiting: (() => void)[] = [];
    return new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 40 })] })
      .tool("slow", { task: "required" }, async () => {
        if (allowed === 0) await new Promise<void>((resolve) => waiting.push(resolve));
        else allowed--;
        return "done";
      })
      .tool("finish", { task: "never" }, () => {
        const first = waiting.shift();
        if (first === undefined) allowed++;
        else first();
        return "";
      });
  },
  async run({ connect, era }) {
    const older = era === "stateful";
    const client = await connect({ extensions: [older ? seesTasks : declaresTasks] });
    const task = { ttl: 60_000 };
    const created = await ask(client, "tools/call", { name: "slow", ...(older ? { task } : {}) });
    const shown = (older ? created["task"] : created) as Record<string, unknown>;
    const members = {
      taskId: expect.stringMatching(/^[\w-]{22,}$/),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      ...(older ? { ttl: 60_000, pollInterval: 40 } : { ttlMs: 86_400_000, pollIntervalMs: 40 }),
    };
    if (older) expect(shown).toEqual({ ...members, status: "working" });
    else expect(shown).toEqual({ ...members, status: "working", resultType: "task", _meta: expect.anything() });
    const taskId = String(shown["taskId"]);
    const now = await ask(client, "tasks/get", { taskId });
    expect(now).toMatchObject({ ...members, taskId, status: "working" });
    expect(now["_meta"] ?? {}).not.toHaveProperty([RELATED]);
    const result = { content: [{ type: "text", text: "done" }] };
    await ask(client, "tools/call", { name: "finish" });
    const over = await look(client, taskId, "completed");
    if (older) {
      expect(over).toEqual({ ...members, taskId, status: "completed" });
      const related = { _meta: { [RELATED]: { taskId } } };
      expect(await ask(client, "tasks/result", { taskId })).toMatchObject({ ...result, ...related });
      expect(await ask(client, "tasks/result", { taskId })).toMatchObject({ ...result, ...related });
      // A request that waits for a task that is not over gets the same.
      const other = await begin(client, "slow");
      const awaited = ask(client, "tasks/result", { taskId: other });
      await ask(client, "tools/call", { name: "finish" });
      expect(await awaited).toMatchObject(result);
    } else {
      expect(over).toMatchObject({ ...members, taskId, status: "completed", result });
      expect(over["result"]).toMatchObject({ resultType: "complete" });
      expect(over["result"]).not.toHaveProperty(["_meta", RELATED]);
    }
  },
});
