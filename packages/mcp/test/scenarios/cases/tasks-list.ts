import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { scenario } from "../scenario.js";
import { ask, begin, declaresTasks, look } from "../task-wire.js";

export default scenario({
  name: "a client lists its own tasks page by page where the revision has that",
  ids: ["TASK25-13", "TASK25-16", "TASK26-17"],
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks()], pageSize: 2 }).tool(
      "quick",
      { task: "required" },
      () => "x",
    ),
  async run({ connect, era }) {
    const client = await connect({ extensions: [declaresTasks] });
    const other = await connect({ extensions: [declaresTasks] });
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push(await begin(client, "quick"));
    await begin(other, "quick");
    if (era === "stateless") {
      await expect(ask(client, "tasks/list")).rejects.toMatchObject({ code: -32601 });
      await expect(ask(client, "tasks/result", { taskId: made[0] })).rejects.toMatchObject({ code: -32601 });
      return;
    }
    for (const id of made) await look(client, id, "completed");
    const listed: string[] = [];
    let cursor: unknown;
    for (let pages = 0; pages < 3; pages++) {
      const page = await ask(client, "tasks/list", cursor === undefined ? {} : { cursor });
      const found = page["tasks"] as { taskId: string }[];
      expect(found.length).toBeLessThanOrEqual(2);
      for (const task of found) expect(task).toEqual(await look(client, task.taskId, "completed"));
      listed.push(...found.map(({ taskId }) => taskId));
      cursor = page["nextCursor"];
    }
    expect(cursor).toBeUndefined();
    expect(listed).toEqual(made);
    for (const wrong of ["x", 7]) {
      await expect(ask(client, "tasks/list", { cursor: wrong })).rejects.toMatchObject({ code: -32602 });
    }
  },
});
