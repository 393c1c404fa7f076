import { connect, McpError, Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { until, virtualTime } from "../../http-client/virtual-time.js";

// Each of these was found by a seed of the simulation of tasks.

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function server() {
  return new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] }).tool(
    "asks",
    { task: "required" },
    async (_args, ctx) => `hello ${(await ctx.elicit("who?", z.object({ name: z.string() }))).name}`,
  );
}

const answer = () => ({ action: "accept", content: { name: "Ada" } }) as const;

describe.each(["2026-07-28", "2025-11-25"] as const)("a client that follows a task, %s", (revision) => {
  const options = { revisions: [revision], extensions: [tasks()] };

  it("is asked while it only iterates, and the iteration ends with the task", async () => {
    const client = await connect(server(), { ...options, onElicit: answer });
    cleanups.push(() => client.close());
    const handle = await client.startTask("asks");
    const seen: string[] = [];
    for await (const { status } of handle) seen.push(status);
    expect(seen.at(-1)).toBe("completed");
    expect(await handle.result()).toBe("hello Ada");
  });

  it("leaves a question to the next client when it is closed", async () => {
    const instance = server();
    let withdrawn: AbortSignal | undefined;
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const first = await connect(instance, {
      ...options,
      onElicit: (_question, { signal }) => {
        withdrawn = signal;
        asked();
        return new Promise(() => {});
      },
    });
    const handle = await first.startTask("asks");
    const lost = handle.result().catch((error: McpError) => error.kind);
    await isAsked;
    await first.close();
    expect(await lost).toBe("connection_closed");
    expect(withdrawn?.aborted).toBe(true);
    const second = await connect(instance, { ...options, onElicit: answer });
    cleanups.push(() => second.close());
    expect(await second.task(handle.toJSON()).result()).toBe("hello Ada");
  });
});

describe("a client that is closed", () => {
  it("has no timer left, although a call that ends by it would cancel its task", async () => {
    const { platform, pending } = virtualTime();
    const onElicit = () => new Promise<never>(() => {});
    const client = await connect(server(), { platform, revisions: ["2026-07-28"], extensions: [tasks()], onElicit });
    const ended = client.call("asks").catch((error: McpError) => error.kind);
    await until(() => pending() > 1);
    await client.close();
    expect(await ended).toBe("connection_closed");
    await expect(client.call("asks")).rejects.toMatchObject({ kind: "connection_closed" });
    expect(pending()).toBe(0);
  });
});

describe("a client whose connection is lost while it sends an answer", () => {
  it("sends the answer again, asks nobody twice and does not cancel the task", async () => {
    let asked = 0;
    let failed = 0;
    const client = await connect(server(), {
      revisions: ["2026-07-28"],
      extensions: [tasks()],
      onElicit: () => {
        asked++;
        return answer();
      },
    });
    cleanups.push(() => client.close());
    client.use(({ method }, next) => {
      if (method === "tasks/update" && failed++ === 0) throw new McpError("connection_closed", "lost");
      return next();
    });
    expect(await client.call("asks")).toBe("hello Ada");
    expect({ asked, failed }).toEqual({ asked: 1, failed: 2 });
  });
});

describe("a client whose answer the server could not take", () => {
  it.each([
    ["failed, sends the answer again in the next wait", "internal_error", 1],
    ["refused it, asks again in the next wait", "invalid_params", 2],
  ] as const)("because it %s", async (_how, kind, times) => {
    let asked = 0;
    let failed = 0;
    const client = await connect(server(), {
      revisions: ["2026-07-28"],
      extensions: [tasks()],
      onElicit: () => {
        asked++;
        return answer();
      },
    });
    cleanups.push(() => client.close());
    client.use(({ method }, next) => {
      if (method === "tasks/update" && failed++ === 0) throw new McpError(kind, "not now");
      return next();
    });
    const handle = await client.startTask("asks");
    await expect(handle.result()).rejects.toMatchObject({ kind });
    expect(await handle.result()).toBe("hello Ada");
    expect({ asked, failed }).toEqual({ asked: times, failed: 2 });
  });
});
