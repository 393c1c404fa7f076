import { connect } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { fakeClock } from "@parley/mcp/testing";
import { describe, expect, it } from "vitest";
import { greetsIn, type Heard, type Pipe, STATEFUL, STATELESS, scriptedPipe } from "../../client/scripted-pipe.js";

const TASKS = "io.modelcontextprotocol/tasks";
const TASK = { taskId: "t-1", status: "working", createdAt: "", lastUpdatedAt: "", ttlMs: 60_000, pollIntervalMs: 20 };
const OLDER = { taskId: "t-1", status: "working", createdAt: "", lastUpdatedAt: "", ttl: 60_000, pollInterval: 20 };
const TOOL = { name: "work", inputSchema: { type: "object" }, execution: { taskSupport: "required" } };

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function turns(count: number): Promise<void> {
  for (let passed = 0; passed < count; passed++) await turn();
}

/** A client of a server whose calls of tools are answered by the test. */
async function held(era: "stateful" | "stateless", clock = fakeClock()) {
  const calls: { message: Heard; pipe: Pipe }[] = [];
  const capabilities = {
    tools: {},
    tasks: { cancel: {}, requests: { tools: { call: {} } } },
    extensions: { [TASKS]: {} },
  };
  const server = scriptedPipe((message, pipe) => {
    if (greetsIn(era, message, pipe, capabilities)) return;
    if (message.method === "tools/call") calls.push({ message, pipe });
    else if (message.method === "tools/list")
      pipe.answer(message, { resultType: "complete", tools: [TOOL], ttlMs: 0, cacheScope: "private" });
    else if (message.method === "tasks/get") {
      pipe.answer(message, { resultType: "complete", ...(era === "stateful" ? OLDER : TASK), status: "cancelled" });
    } else pipe.answer(message, { resultType: "complete", ...(era === "stateful" ? OLDER : {}) });
  });
  const client = await connect(server.makeTransport(), {
    revisions: [era === "stateful" ? STATEFUL : STATELESS],
    extensions: [tasks()],
    platform: clock.platform,
  });
  const create = () => {
    const [{ message, pipe }] = calls as [(typeof calls)[0]];
    pipe.answer(message, era === "stateful" ? { task: OLDER } : { resultType: "task", ...TASK });
  };
  const cancels = () => server.heard().filter(({ method }) => method === "tasks/cancel");
  return { client, server, calls, create, cancels };
}

describe.each(["stateful", "stateless"] as const)("a task of a call that its caller has given up, %s", (era) => {
  it.each([
    ["call", "callTool"],
    ["start", "startTask"],
  ] as const)("is cancelled when it arrives after the cancellation (%s)", async (_name, method) => {
    const { client, calls, create, cancels } = await held(era);
    const controller = new AbortController();
    const call = client[method]("work", {}, { signal: controller.signal });
    await turns(5);
    expect(calls).toHaveLength(1);
    controller.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    create();
    await turns(5);
    expect(cancels()).toMatchObject([{ params: { taskId: "t-1" } }]);
    await client.close();
  });

  it.each([
    ["call", "callTool"],
    ["start", "startTask"],
  ] as const)("is cancelled when it arrives in the turn of the cancellation (%s)", async (_name, method) => {
    const { client, create, cancels } = await held(era);
    const controller = new AbortController();
    const call = client[method]("work", {}, { signal: controller.signal });
    await turns(5);
    create();
    controller.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await turns(5);
    expect(cancels()).toMatchObject([{ params: { taskId: "t-1" } }]);
    await client.close();
  });

  it("is cancelled when it arrives after a deadline of the call", async () => {
    const clock = fakeClock();
    const { client, create, cancels } = await held(era, clock);
    const call = client.callTool("work", {}, { timeouts: { totalMs: 1000 } });
    const failed = expect(call).rejects.toMatchObject({ kind: "timeout" });
    await turns(5);
    await clock.advance(1000);
    await failed;
    create();
    await turns(5);
    expect(cancels()).toHaveLength(1);
    await client.close();
  });

  it("is left alone when the server answers a call that was never made", async () => {
    const { client, server, calls, create, cancels } = await held(era);
    const controller = new AbortController();
    const call = client.callTool("work", {}, { signal: controller.signal });
    await turns(5);
    controller.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    const task = era === "stateful" ? { task: OLDER } : { resultType: "task", ...TASK };
    server.pipes[0]?.say({ jsonrpc: "2.0", id: 9999, result: task });
    create();
    calls[0]?.pipe.answer(calls[0].message, task);
    await turns(5);
    expect(cancels()).toHaveLength(1);
    await client.close();
  });
});
