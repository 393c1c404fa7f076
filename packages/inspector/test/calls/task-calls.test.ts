import { McpError, Server, ToolError } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { greetsIn, type Heard, scriptedPipe } from "../../../mcp/test/client/scripted-pipe.js";
import { ERAS } from "../engine/opened-engine.js";
import { openRooms } from "./opened-rooms.js";

const run = (name: string) => ({ kind: "tool", name, arguments: {}, asTask: true }) as const;

function taskServer() {
  const released: (() => void)[] = [];
  const server = new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
    .tool("slow", { task: "optional", output: z.object({ n: z.number() }) }, async (_args, ctx) => {
      ctx.progress(1, { message: "half way" });
      await new Promise<void>((resolve) => released.push(resolve));
      return { n: 2 };
    })
    .tool("asks", { task: "optional" }, async (_args, ctx) => {
      const { n } = await ctx.elicit("how many?", z.object({ n: z.number() }));
      return `got ${n}`;
    })
    .tool("hangs", { task: "optional" }, (_args, ctx) => {
      return new Promise<string>((_, reject) => {
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
      });
    })
    .tool("fails", { task: "optional" }, () => {
      throw new McpError("invalid_params", "no good", { data: { why: "bad" } });
    })
    .tool("broken", { task: "optional" }, () => {
      throw new ToolError("the disk is full");
    })
    .tool("plain", {}, () => "at once");
  return { server, released };
}

for (const revision of ERAS) {
  for (const over of ["memory", "http"] as const) {
    describe(`a tool as a task over ${over}, ${revision}`, () => {
      it("shows the status of its task, and the whole result in the end", async () => {
        const { server, released } = taskServer();
        const rooms = await openRooms(server, { revision, over });
        const id = rooms.calls.start(rooms.connection, run("slow"));
        const task = await rooms.when(() => rooms.calls.list()[0]?.task);
        expect(task.status).toBe("working");
        await expect.poll(() => released.length).toBe(1);
        released[0]?.();
        expect(await rooms.ended(id)).toMatchObject({ status: "done" });
        await rooms.when(() => rooms.calls.list()[0]?.task?.status === "completed");
        expect(rooms.calls.outcome(id).result).toMatchObject({ structuredContent: { n: 2 } });
        expect(rooms.calls.list()[0]?.task?.id).toBe(task.id);
      });

      it("asks the user what the task asks", async () => {
        const rooms = await openRooms(taskServer().server, { revision, over });
        const id = rooms.calls.start(rooms.connection, run("asks"));
        const question = await rooms.asked();
        expect(question).toMatchObject({ call: id, question: { kind: "form", params: { message: "how many?" } } });
        await rooms.when(() => rooms.calls.list()[0]?.task?.status === "input_required");
        await rooms.questions.answer(question.id, { action: "accept", content: { n: 7 } });
        await rooms.ended(id);
        expect(JSON.stringify(rooms.calls.outcome(id).result)).toContain("got 7");
      });

      it("is cancelled with its call", async () => {
        const rooms = await openRooms(taskServer().server, { revision, over });
        const id = rooms.calls.start(rooms.connection, run("hangs"));
        await rooms.when(() => rooms.calls.list()[0]?.task);
        rooms.calls.cancel(id);
        expect(await rooms.ended(id)).toMatchObject({ status: "cancelled" });
        await rooms.when(() => rooms.calls.list()[0]?.task?.status === "cancelled");
      });

      it("is cancelled while it waits for an answer, which takes the question back", async () => {
        const rooms = await openRooms(taskServer().server, { revision, over });
        const id = rooms.calls.start(rooms.connection, run("asks"));
        await rooms.asked();
        rooms.calls.cancel(id);
        expect(await rooms.ended(id)).toMatchObject({ status: "cancelled" });
        await rooms.when(() => rooms.questions.list().length === 0);
      });

      it("fails as its task does", async () => {
        const rooms = await openRooms(taskServer().server, { revision, over });
        const outcome = await rooms.call(run("fails"));
        expect(outcome.problem).toMatchObject({ kind: "invalid_params", message: "no good", data: { why: "bad" } });
        const broken = await rooms.call(run("broken"));
        expect(broken).toMatchObject({ call: { status: "failed" }, result: { isError: true } });
      });

      it("is an ordinary call where the tool is no task", async () => {
        const rooms = await openRooms(taskServer().server, { revision, over });
        const outcome = await rooms.call(run("plain"));
        expect(outcome.call).toMatchObject({ status: "done" });
        expect(outcome.call.task).toBeUndefined();
        expect(outcome.result).toMatchObject({ content: [{ type: "text", text: "at once" }] });
      });
    });
  }
}

describe("a server that decides what becomes a task", () => {
  it("shows the task also of a call that did not ask for one", async () => {
    const { server, released } = taskServer();
    const rooms = await openRooms(server, { revision: "2026-07-28" });
    const id = rooms.calls.start(rooms.connection, { kind: "tool", name: "slow", arguments: {} });
    expect(await rooms.when(() => rooms.calls.list()[0]?.task)).toMatchObject({ status: "working" });
    await expect.poll(() => released.length).toBe(1);
    released[0]?.();
    expect(await rooms.ended(id)).toMatchObject({ status: "done" });
  });

  it("has no task where the revision lets the client decide", async () => {
    const { server, released } = taskServer();
    const rooms = await openRooms(server, { revision: "2025-11-25" });
    const id = rooms.calls.start(rooms.connection, { kind: "tool", name: "slow", arguments: {} });
    await expect.poll(() => released.length).toBe(1);
    released[0]?.();
    const ended = await rooms.ended(id);
    expect(ended).toMatchObject({ status: "done" });
    expect(ended.task).toBeUndefined();
  });
});

describe("a server that goes on with a cancelled task", () => {
  it("is waited for no longer, and its task stays visible", async () => {
    const task = {
      taskId: "t1",
      status: "working",
      createdAt: "2026-01-01T00:00:00Z",
      lastUpdatedAt: "2026-01-01T00:00:00Z",
      ttlMs: null,
      pollIntervalMs: 20,
    };
    const capabilities = { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
    const deaf = scriptedPipe((message: Heard, pipe) => {
      if (greetsIn("stateless", message, pipe, capabilities)) return;
      if (message.method === "tools/call") pipe.answer(message, { resultType: "task", ...task });
      else if (message.method === "tasks/get") pipe.answer(message, { resultType: "complete", ...task });
      else if (message.method === "tasks/cancel") pipe.answer(message, { resultType: "complete" });
      else pipe.refuse(message, -32601);
    });
    const rooms = await openRooms(deaf, { revision: "2026-07-28" });
    const id = rooms.calls.start(rooms.connection, run("anything"));
    await rooms.when(() => rooms.calls.list()[0]?.task);
    rooms.calls.cancel(id);
    expect(await rooms.ended(id)).toMatchObject({ status: "cancelled", task: { id: "t1", status: "working" } });
    expect(rooms.calls.outcome(id).problem?.message).toContain("its task is still running");
  });
});
