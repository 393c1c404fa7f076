import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool that runs as a task gives its value to those who call it and to those who start it",
  ids: ["TASK25-09", "TASK26-04", "TASK26-09"],
  server: () => {
    let proceed = () => {};
    const watched = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    return new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 30 })] })
      .tool(
        "sum",
        { task: "required", input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
        async ({ a, b }, ctx) => {
          ctx.progress(1, { message: "adding" });
          if (a === 2) await watched;
          return { sum: a + b };
        },
      )
      .tool("list", { task: "required", output: z.array(z.number()) }, () => [1, 2, 3])
      .tool("plain", { task: "never" }, () => "at once")
      .tool("proceed", { task: "never" }, () => {
        proceed();
        return "";
      });
  },
  except: {
    "gateway-stateless/stateful":
      "a server without sessions does not list which tools run as tasks, so that all of them may",
  },
  async run({ connect }) {
    const client = await connect({ extensions: [tasks()] });
    expect(await client.call("sum", { a: 1, b: 2 })).toEqual({ sum: 3 });
    // In the older era the output is wrapped in an object, which the client takes off.
    expect(await client.call("list")).toEqual([1, 2, 3]);
    expect(await client.call("plain")).toBe("at once");
    const handle = await client.startTask("sum", { a: 2, b: 3 });
    expect(handle.id).toMatch(/^\S{22,}$/);
    const seen: (string | undefined)[] = [];
    for await (const task of handle) {
      seen.push(task.status, task.statusMessage);
      if (task.statusMessage === "adding") await client.call("proceed");
    }
    expect(seen[0]).toBe("working");
    expect(seen).toContain("adding");
    expect(seen.at(-2)).toBe("completed");
    expect(await handle.result()).toEqual({ sum: 5 });
    expect(await handle.result()).toEqual({ sum: 5 });
    expect(handle.status).toBe("completed");
    const plain = await client.startTask("plain");
    expect(plain.id).toBeUndefined();
    expect(await plain.result()).toBe("at once");
  },
});
