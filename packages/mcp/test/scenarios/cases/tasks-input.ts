import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";
import { ask, begin, declaresTasks, look } from "../task-wire.js";

const form = z.object({ n: z.number() });

export default scenario({
  name: "a task shows its open questions, takes answers one by one and never asks under a name again",
  ids: ["TASK26-07", "TASK26-10", "TASK26-12"],
  except: { stateful: "questions of a task are requests there, not members of it" },
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks()] }).tool(
      "asks",
      { task: "required" },
      async (_, ctx) => {
        const [a, b] = await Promise.all([ctx.elicit("first?", form), ctx.elicit("second?", form)]);
        const c = await ctx.elicit("first?", form);
        return `${a.n} ${b.n} ${c.n}`;
      },
    ),
  async run({ connect }) {
    const client = await connect({ extensions: [declaresTasks], onElicit: () => ({ action: "cancel" }) });
    const taskId = await begin(client, "asks");
    const answer = (key: string, n: number) => ({ [key]: { action: "accept", content: { n } } });
    const update = (inputResponses: object) => ask(client, "tasks/update", { taskId, inputResponses });
    const open = async () => {
      const { inputRequests } = await look(client, taskId, "input_required");
      return Object.entries(inputRequests as Record<string, { method: string; params: { message: string } }>);
    };
    const [first, second, ...more] = await open();
    expect(more).toEqual([]);
    expect(first?.[1]).toMatchObject({ method: "elicitation/create", params: { message: "first?" } });
    const used = [String(first?.[0]), String(second?.[0])] as const;
    expect(Object.keys(await update(answer(used[1], 2))).filter((key) => key !== "_meta")).toEqual(["resultType"]);
    expect((await open()).map(([key]) => key)).toEqual([used[0]]);
    // What is unknown or answered already is ignored.
    await update({ ...answer("nobody", 9), ...answer(used[1], 9) });
    expect((await open()).map(([key]) => key)).toEqual([used[0]]);
    await update(answer(used[0], 1));
    await expect.poll(async () => (await open())[0]?.[0] !== used[0]).toBe(true);
    const [third] = await open();
    expect(third?.[1].params.message).toBe("first?");
    expect(used).not.toContain(third?.[0]);
    await expect(update({ [String(third?.[0])]: 7 })).rejects.toMatchObject({ code: -32602 });
    await expect(ask(client, "tasks/update", { taskId })).rejects.toMatchObject({ code: -32602 });
    await update(answer(String(third?.[0]), 3));
    const task = await look(client, taskId, "completed");
    expect(task).toMatchObject({ result: { content: [{ text: "1 2 3" }] } });
    expect(task).not.toHaveProperty("inputRequests");
  },
});
