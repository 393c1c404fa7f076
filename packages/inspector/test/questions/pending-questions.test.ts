import { Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { server as everything } from "../../../../examples/everything/server.js";
import { greetsIn, scriptedPipe } from "../../../mcp/test/client/scripted-pipe.js";
import type { CallRequest } from "../../src/contract/calls.js";
import { openRooms } from "../calls/opened-rooms.js";
import { ERAS } from "../engine/opened-engine.js";

const info = { name: "s", version: "1" };
const tool = (name: string, args: Record<string, unknown> = {}): CallRequest => ({
  kind: "tool",
  name,
  arguments: args,
});
const word = (text: string) =>
  ({ action: "sample", result: { role: "assistant", model: "me", content: { type: "text", text } } }) as const;

for (const revision of ERAS) {
  for (const over of ["memory", "http"] as const) {
    describe(`questions over ${over}, ${revision}`, () => {
      it("wait until the user has filled the form, round after round", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const id = rooms.calls.start(rooms.connection, tool("buy"));
        const first = await rooms.asked();
        expect(first).toMatchObject({ connection: "c1", call: id, question: { kind: "form" } });
        await rooms.questions.answer(first.id, { action: "accept", content: { name: "Ada" } });
        const second = await rooms.when(() => rooms.questions.list().find((one) => one.id !== first.id));
        expect(second.question.params).toMatchObject({ message: "Really for Ada?" });
        expect(second.call).toBe(id);
        await rooms.questions.answer(second.id, { action: "accept", content: { sure: true } });
        await rooms.ended(id);
        expect(JSON.stringify(rooms.calls.outcome(id).result)).toMatch(/receipt \d+ for Ada/);
        expect(rooms.questions.list()).toEqual([]);
      });

      it("are declined or dismissed", async () => {
        const rooms = await openRooms(everything, { revision, over });
        for (const action of ["decline", "cancel"] as const) {
          const id = rooms.calls.start(rooms.connection, tool("survey"));
          await rooms.questions.answer((await rooms.asked()).id, { action });
          await rooms.ended(id);
          expect(JSON.stringify(rooms.calls.outcome(id).result)).toContain(`no answer (${action})`);
        }
      });

      it("are asked again by nobody when content does not fit: the form waits for what does", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const id = rooms.calls.start(rooms.connection, tool("order"));
        const { id: question } = await rooms.asked();
        const wrong = { mail: "nobody", amount: 99, size: "small", extras: ["hat"] };
        await expect(rooms.questions.answer(question, { action: "accept", content: wrong })).rejects.toMatchObject({
          kind: "invalid_params",
          data: {
            issues: expect.arrayContaining([
              { path: "/colour", message: "Required" },
              { path: "/amount", message: expect.stringContaining("9") },
              { path: "/mail", message: expect.stringContaining("email") },
              { path: "/extras/0", message: expect.any(String) },
            ]),
          },
        });
        expect(rooms.questions.list().map((one) => one.id)).toEqual([question]);
        const content = { size: "large", colour: "g", extras: ["bow"] };
        await rooms.questions.answer(question, { action: "accept", content });
        await rooms.ended(id);
        expect(rooms.calls.outcome(id).result?.["structuredContent"]).toMatchObject({
          name: "Ada",
          amount: 1,
          size: "large",
        });
      });

      it("show a page to visit, and go on when the user agrees", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const id = rooms.calls.start(rooms.connection, tool("pay"));
        const { id: question, question: asked } = await rooms.asked();
        expect(asked).toMatchObject({ kind: "url", params: { url: "https://example.com/pay", message: "Pay here" } });
        await rooms.questions.answer(question, { action: "accept" });
        await rooms.ended(id);
        expect(JSON.stringify(rooms.calls.outcome(id).result)).toContain("paid");
      });

      it("for a model are answered by hand", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const id = rooms.calls.start(rooms.connection, tool("ask", { question: "How?" }));
        const { id: question, question: asked } = await rooms.asked();
        expect(asked).toMatchObject({ kind: "sampling", params: { systemPrompt: "Answer in one word." } });
        await rooms.questions.answer(question, word("Slowly"));
        await rooms.ended(id);
        expect(JSON.stringify(rooms.calls.outcome(id).result)).toContain("Slowly");
      });

      it("for a model may be declined, which fails the call", async () => {
        const rooms = await openRooms(everything, { revision, over });
        for (const action of ["decline", "cancel"] as const) {
          const id = rooms.calls.start(rooms.connection, tool("ask", { question: "How?" }));
          await rooms.questions.answer((await rooms.asked()).id, { action });
          expect(await rooms.ended(id)).toMatchObject({ status: "failed" });
        }
      });

      it("go with the call that is cancelled", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const id = rooms.calls.start(rooms.connection, tool("survey"));
        const { id: question } = await rooms.asked();
        rooms.calls.cancel(id);
        await rooms.ended(id);
        await rooms.when(() => rooms.questions.list().length === 0);
        await expect(rooms.questions.answer(question, { action: "decline" })).rejects.toThrow("no longer pending");
      });

      it("go with the connection", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const id = rooms.calls.start(rooms.connection, tool("survey"));
        await rooms.asked();
        await rooms.connection.client.close();
        await rooms.ended(id);
        await rooms.when(() => rooms.questions.list().length === 0);
      });
    });
  }
}

describe("a question to a model", () => {
  const askModel = tool("ask", { question: "How?" });

  it("is drafted by the command, and sent when the user agrees", async () => {
    const prompts: unknown[] = [];
    const rooms = await openRooms(everything, {
      model: async (params) => {
        prompts.push(params.systemPrompt);
        return { role: "assistant", model: "command", content: { type: "text", text: "Quickly" } };
      },
    });
    const id = rooms.calls.start(rooms.connection, askModel);
    const { id: question } = await rooms.asked();
    await rooms.questions.answer(question, { action: "run-command" });
    const { question: drafted } = await rooms.asked();
    expect(drafted).toMatchObject({ kind: "sampling", draft: { model: "command" } });
    expect(rooms.calls.list()[0]?.status).toBe("running");
    if (drafted.kind !== "sampling" || drafted.draft === undefined) throw new Error("there is no draft");
    await rooms.questions.answer(question, { action: "sample", result: drafted.draft });
    await rooms.ended(id);
    expect(JSON.stringify(rooms.calls.outcome(id).result)).toContain("Quickly");
    expect(prompts).toEqual(["Answer in one word."]);
  });

  it("stays when the command fails or answers wrongly, and can be answered by hand", async () => {
    const answers = [Promise.reject(new Error("no money")), Promise.resolve({ role: "assistant" } as never)];
    for (const answer of answers) answer.catch(() => {});
    const rooms = await openRooms(everything, { model: () => answers.shift() ?? Promise.reject(new Error("over")) });
    const id = rooms.calls.start(rooms.connection, askModel);
    const { id: question } = await rooms.asked();
    await expect(rooms.questions.answer(question, { action: "run-command" })).rejects.toThrow("no money");
    expect((await rooms.asked()).question).toMatchObject({ command: "failed" });
    await expect(rooms.questions.answer(question, { action: "run-command" })).rejects.toThrow("`model` is missing");
    await rooms.questions.answer(question, word("Slowly"));
    expect(await rooms.ended(id)).toMatchObject({ status: "done" });
  });

  it("runs the command once at a time, and ends it with the question", async () => {
    const signals: AbortSignal[] = [];
    const rooms = await openRooms(everything, {
      model: (_params, signal) => {
        signals.push(signal);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))));
      },
    });
    const id = rooms.calls.start(rooms.connection, askModel);
    const { id: question } = await rooms.asked();
    const running = rooms.questions.answer(question, { action: "run-command" });
    expect((await rooms.asked()).question).toMatchObject({ command: "running" });
    await expect(rooms.questions.answer(question, { action: "run-command" })).rejects.toThrow("already running");
    rooms.calls.cancel(id);
    await expect(running).rejects.toThrow("ended");
    expect(signals).toHaveLength(1);
    expect(rooms.questions.list()).toEqual([]);
  });

  it("takes no answer of another kind, and no command where none is configured", async () => {
    const rooms = await openRooms(everything);
    rooms.calls.start(rooms.connection, askModel);
    const { id: question } = await rooms.asked();
    await expect(rooms.questions.answer(question, { action: "accept" })).rejects.toThrow('"accept" cannot answer');
    await expect(rooms.questions.answer(question, { action: "run-command" })).rejects.toThrow("no command");
    for (const content of [undefined, [], { type: "text" }, { type: "tool" }, "text"]) {
      const result = { role: "assistant", model: "m", content } as never;
      await expect(rooms.questions.answer(question, { action: "sample", result })).rejects.toThrow("`content`");
    }
    const strange = { role: "system", model: "m", content: { type: "text", text: "x" } } as never;
    await expect(rooms.questions.answer(question, { action: "sample", result: strange })).rejects.toThrow("`role`");
    expect(rooms.questions.list()).toHaveLength(1);
  });
});

describe("questions of a server that asks too much", () => {
  const asking = (texts: readonly string[]) =>
    new Server(info).tool("asks", {}, async (_args, ctx) => {
      const replies = await Promise.all(texts.map((text) => ctx.tryElicit(text, z.object({ a: z.string() }))));
      return replies.map(({ action }) => action).join(" ");
    });

  for (const revision of ERAS) {
    it(`are refused beyond the limit, ${revision}`, async () => {
      const limits = { questions: 2 };
      const rooms = await openRooms(asking(["1", "2", "3"]), { revision, limits });
      const id = rooms.calls.start(rooms.connection, tool("asks"));
      expect(await rooms.ended(id)).toMatchObject({ status: "failed" });
      expect(JSON.stringify(rooms.calls.outcome(id))).toContain("there are already 2 questions");
      await rooms.when(() => rooms.questions.list().length === 0);
    });

    it(`are refused when they are too long, ${revision}`, async () => {
      const limits = { bytes: 64 * 1024 * 1024, totalBytes: 4 * 1024 * 1024 };
      const rooms = await openRooms(asking(["y".repeat(5 * 1024 * 1024)]), { revision, limits });
      const outcome = await rooms.call(tool("asks"));
      expect(JSON.stringify(outcome)).toContain("all questions together have more than 4194304 bytes");
      expect(rooms.questions.list()).toEqual([]);
    });
  }

  it("go when the server ends the connection", async () => {
    const params = { message: "who?", requestedSchema: { type: "object", properties: {} } };
    const dying = scriptedPipe((message, pipe) => {
      if (greetsIn("stateful", message, pipe)) return;
      pipe.say({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params });
    });
    const rooms = await openRooms(dying, { revision: "2025-11-25" });
    const id = rooms.calls.start(rooms.connection, tool("any"));
    expect((await rooms.asked()).call).toBe(id);
    dying.pipes[0]?.end();
    await rooms.when(() => rooms.questions.list().length === 0);
    expect(await rooms.ended(id)).toMatchObject({ status: "failed" });
  });

  it("belong to the only call that is running, or to none", async () => {
    const rooms = await openRooms(everything, { revision: "2025-11-25" });
    void rooms.connection.client.callTool("survey").catch(() => {});
    expect((await rooms.asked()).call).toBeUndefined();
  });
});
