import { type Client, type ClientOptions, connect, McpError, Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function open(revision: "2026-07-28" | "2025-11-25", more: ClientOptions = {}) {
  let aborted = 0;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const server = new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
    .tool("long", { task: "required", output: z.object({ n: z.number() }) }, async (_args, ctx) => {
      ctx.signal.addEventListener("abort", () => aborted++);
      await finished;
      return { n: 1 };
    })
    .tool("fails", { task: "required" }, () => ({ isError: true, content: [{ type: "text", text: "no good" }] }))
    .tool("asks", { task: "required" }, async (_args, ctx) => {
      return `got ${(await ctx.elicit("n?", z.object({ n: z.number() }))).n}`;
    });
  const client = await connect(server, { revisions: [revision], extensions: [tasks()], ...more });
  cleanups.push(finish, () => client.close());
  return { client: client as unknown as Client, finish, aborted: () => aborted };
}

describe.each(["2026-07-28", "2025-11-25"] as const)("the wait for a long task, %s", (revision) => {
  it("outlasts the total deadline of the connection", async () => {
    const { client, finish, aborted } = await open(revision, { timeouts: { totalMs: 200 } });
    const result = client.call("long");
    await pause(500);
    expect(aborted()).toBe(0);
    finish();
    expect(await result).toEqual({ n: 1 });
  });

  it("ends with a deadline that the caller set, and so does the task", async () => {
    const { client, aborted } = await open(revision);
    const call = client.call("long", {}, { timeouts: { totalMs: 200 } });
    await expect(call).rejects.toMatchObject({ kind: "timeout", data: { deadline: "total" } });
    await expect.poll(aborted).toBe(1);
  });

  it("ends with the signal or the deadline of one wait alone, and the task goes on", async () => {
    const { client, finish, aborted } = await open(revision);
    const handle = await client.startTask("long");
    const patient = handle.result();
    const impatient = new AbortController();
    const left = handle.result({ signal: impatient.signal }).catch((error: unknown) => error);
    impatient.abort();
    expect(await left).toMatchObject({ kind: "cancelled", operation: { method: "tools/call", target: "long" } });
    const late = handle.result({ timeouts: { totalMs: 100 } });
    await expect(late).rejects.toMatchObject({ kind: "timeout", data: { deadline: "total", ms: 100 } });
    await expect(handle.result({ idleMs: 1 } as never)).rejects.toMatchObject({ message: /idleMs/ });
    expect(aborted()).toBe(0);
    finish();
    expect(await patient).toEqual({ n: 1 });
  });

  it("is no call: a handle that nobody awaits lets the client close at once", async () => {
    const { client } = await open(revision);
    let under = 0;
    client.use(async (_call, next) => {
      under++;
      try {
        return await next();
      } finally {
        under--;
      }
    });
    const handle = await client.startTask("long");
    expect(under).toBe(0);
    expect(handle.status).toBe("working");
    // Longer than a test may take.
    await client.close({ drainMs: 600_000 });
  });

  it("ends as a call does", async () => {
    const { client } = await open(revision);
    const handle = await client.startTask("fails");
    for (let times = 0; times < 2; times++) {
      await expect(handle.result()).rejects.toMatchObject({
        kind: "tool_error",
        message: "no good",
        operation: { method: "tools/call", target: "fails" },
      });
    }
  });

  it("can begin again after an outage", async () => {
    const { client, finish } = await open(revision);
    const handle = await client.startTask("long");
    let refused = true;
    client.use(({ method }, next) => {
      if (refused && method.startsWith("tasks/")) throw new McpError("auth_required", "away");
      return next();
    });
    await expect(handle.result()).rejects.toMatchObject({ message: "away" });
    refused = false;
    finish();
    expect(await handle.result()).toEqual({ n: 1 });
    refused = true;
    expect(await handle.result()).toEqual({ n: 1 });
  });
});

describe("a handle whose answer the server refused", () => {
  it("asks again for the next who waits", async () => {
    let asked = 0;
    const { client } = await open("2026-07-28", {
      onElicit: () => ({ action: "accept", content: { n: ++asked } }),
    });
    let refused = true;
    client.use(({ method }, next) => {
      if (refused && method === "tasks/update") throw new McpError("invalid_params", "not now");
      return next();
    });
    const handle = await client.startTask("asks");
    await expect(handle.result()).rejects.toMatchObject({ kind: "invalid_params", message: "not now" });
    refused = false;
    expect(await handle.result()).toBe("got 2");
  });
});
