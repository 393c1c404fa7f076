import { connect, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive } from "../../server/drive.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const ID = "io.modelcontextprotocol/tasks";

/** A client that declares the extension and handles nothing of it. */
const bare = defineExtension({ id: ID, settings: {}, resultTypes: ["task"] });

function server() {
  return new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 10 })] })
    .tool("slow", { task: "optional" }, async (_args, ctx) => {
      await ctx.step("a", () => 1);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return "done";
    })
    .tool("asks", { task: "optional" }, async (_args, ctx) => {
      const { n } = await ctx.elicit("how many?", z.object({ n: z.number() }));
      return `n is ${n}`;
    })
    .tool("must", { task: "required" }, () => "x");
}

/** A request whose result is looked at as it came. */
function ask(
  client: { request(method: string, params: object): Promise<object> },
  method: string,
  params: object,
): Promise<Record<string, unknown>> {
  return client.request(method, params) as Promise<Record<string, unknown>>;
}

async function until<T>(look: () => Promise<T>, done: (value: T) => boolean): Promise<T> {
  for (let i = 0; i < 2000; i++) {
    const value = await look();
    if (done(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("never");
}

describe("tasks of the extension", () => {
  it("TASK26-05, TASK26-07: answers with a task, whose result is read later", async () => {
    const client = await connect(server(), { revisions: ["2026-07-28"], extensions: [bare] });
    cleanups.push(() => client.close());
    const created = await ask(client, "tools/call", { name: "slow" });
    expect(created).toMatchObject({ resultType: "task", status: "working", ttlMs: 86_400_000, pollIntervalMs: 10 });
    const taskId = String(created["taskId"]);
    const task = await until(
      () => ask(client, "tasks/get", { taskId }),
      ({ status }) => status !== "working",
    );
    expect(task).toMatchObject({ status: "completed", result: { content: [{ type: "text", text: "done" }] } });
  });

  it("TASK26-12: is asked by its task and answered by an update", async () => {
    const client = await connect(server(), {
      revisions: ["2026-07-28"],
      extensions: [bare],
      onElicit: () => ({ action: "cancel" }),
    });
    cleanups.push(() => client.close());
    const created = await ask(client, "tools/call", { name: "asks" });
    const taskId = String(created["taskId"]);
    const look = () => ask(client, "tasks/get", { taskId });
    const asking = await until(look, ({ status }) => status === "input_required");
    const [key] = Object.keys(asking["inputRequests"] as object);
    await client.request("tasks/update", {
      taskId,
      inputResponses: { [String(key)]: { action: "accept", content: { n: 3 } } },
    });
    const task = await until(look, ({ status }) => status === "completed");
    expect(task).toMatchObject({ result: { content: [{ text: "n is 3" }] } });
  });

  it("TASK26-03: a client without the extension gets the result, or learns what it lacks", async () => {
    const client = await connect(server(), { revisions: ["2026-07-28"] });
    cleanups.push(() => client.close());
    expect(await client.call("slow")).toBe("done");
    await expect(client.call("must")).rejects.toMatchObject({
      kind: "capability_missing",
      data: { requiredCapabilities: { extensions: { [ID]: {} } } },
    });
  });

  it("TASK25-03: a client of a revision without tasks is not told to ask for one", async () => {
    const client = await connect(server(), { revisions: ["2025-06-18"] });
    cleanups.push(() => client.close());
    await expect(client.call("must")).rejects.toMatchObject({
      kind: "method_not_found",
      message: 'the tool "must" can only run as a task; this revision of the protocol has no tasks',
    });
  });
});

describe("requests in a wrong form", () => {
  const capabilities = { extensions: { [ID]: {} } };

  it.each(["all", [5], 7, null, true, {}])("TASK26-15: `taskIds` of %j is refused", async (taskIds) => {
    const caller = new Drive(server(), { capabilities });
    const { error } = await caller.once("subscriptions/listen", { notifications: { taskIds } } as never);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("`params.notifications.taskIds`") });
  });

  it.each([7, null, "yes", [], true])("a call of 2025-11-25 with `task` of %j is refused", async (task) => {
    const caller = new Drive(server(), { revision: "2025-11-25" });
    for (const name of ["slow", "must"]) {
      const { error } = await caller.once("tools/call", { name, task } as never);
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringContaining("`params.task` must be an object"),
      });
    }
  });
});
