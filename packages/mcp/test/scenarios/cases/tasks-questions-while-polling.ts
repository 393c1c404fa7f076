import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";
import { ask, begin, declaresTasks, look } from "../task-wire.js";

const form = z.object({ n: z.number() });

export default scenario({
  name: "a client that only looks at its task is asked its questions by requests, and none of them twice",
  ids: ["TASK25-11", "TASK25-12"],
  except: { stateless: "the questions of a task are in `tasks/get` there" },
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [tasks()] }).tool(
      "asks",
      { task: "required" },
      async (_, ctx) => {
        const [a, b] = await Promise.all([ctx.elicit("first?", form), ctx.elicit("second?", form)]);
        const c = await ctx.elicit("third?", form);
        return `${a.n} ${b.n} ${c.n}`;
      },
    ),
  async run({ connect }) {
    const asked: string[] = [];
    const client = await connect({
      extensions: [declaresTasks],
      async onElicit({ message }) {
        asked.push(message);
        await new Promise((resolve) => setTimeout(resolve, 60));
        return { action: "accept", content: { n: asked.length } };
      },
    });
    const polled = await begin(client, "asks");
    await look(client, polled, "completed");
    expect([...asked].sort()).toEqual(["first?", "second?", "third?"]);
    // Who asks for the outcome as well is not asked more.
    asked.length = 0;
    const waited = await begin(client, "asks");
    await look(client, waited, "input_required");
    const [result] = await Promise.all([
      ask(client, "tasks/result", { taskId: waited }),
      look(client, waited, "completed"),
    ]);
    expect(result).toHaveProperty("content");
    expect([...asked].sort()).toEqual(["first?", "second?", "third?"]);
  },
});
