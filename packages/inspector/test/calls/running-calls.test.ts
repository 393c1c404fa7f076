import { McpError, Server } from "@parley/mcp";
import { skill, skills } from "@parley/mcp/skills";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { server as everything } from "../../../../examples/everything/server.js";
import { callContext } from "../../src/calls/call-context.js";
import { ERAS } from "../engine/opened-engine.js";
import { openRooms } from "./opened-rooms.js";

const info = { name: "s", version: "1" };
const tool = (name: string, args: Record<string, unknown> = {}) => ({ kind: "tool", name, arguments: args }) as const;

/** A server whose tools end when they are told to. */
function heldServer() {
  const released: (() => void)[] = [];
  const cancelled: string[] = [];
  const server = new Server(info)
    .tool("hold", {}, (_args, ctx) => {
      ctx.signal.addEventListener("abort", () => cancelled.push("hold"));
      return new Promise<string>((resolve, reject) => {
        released.push(() => resolve("let go"));
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
      });
    })
    .tool("large", { input: z.object({ length: z.number() }) }, ({ length }) => "x".repeat(length));
  return { server, released, cancelled };
}

for (const revision of ERAS) {
  for (const over of ["memory", "http"] as const) {
    describe(`calls over ${over}, ${revision}`, () => {
      it("give the whole result, the time and the size", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const outcome = await rooms.call(tool("sum", { numbers: [1, 2] }));
        expect(outcome).toMatchObject({
          call: { connection: "c1", kind: "tool", name: "sum", status: "done" },
          request: { kind: "tool", name: "sum", arguments: { numbers: [1, 2] } },
          result: { structuredContent: { sum: 3, coerced: false } },
        });
        expect(outcome.problem).toBeUndefined();
        expect(outcome.bytes).toBe(Buffer.byteLength(JSON.stringify(outcome.result)));
        expect(outcome.call.durationMs).toBeGreaterThan(0);
      });

      it("show progress while they run", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const id = rooms.calls.start(rooms.connection, tool("work", { steps: 3 }));
        const seen = await rooms.when(() => rooms.calls.list()[0]?.progress);
        expect(seen.total).toBe(3);
        await rooms.ended(id);
        expect(rooms.calls.list()[0]).toMatchObject({ status: "done", progress: { progress: 3, message: "step 3" } });
      });

      it("are cancelled here and at the server", async () => {
        const held = heldServer();
        const rooms = await openRooms(held.server, { revision, over });
        const id = rooms.calls.start(rooms.connection, tool("hold"));
        await expect.poll(() => held.released.length).toBe(1);
        rooms.calls.cancel(id);
        expect(await rooms.ended(id)).toMatchObject({ status: "cancelled" });
        expect(rooms.calls.outcome(id).problem).toMatchObject({ kind: "cancelled" });
        await expect.poll(() => held.cancelled).toEqual(["hold"]);
        rooms.calls.cancel(id);
        expect(rooms.calls.list()[0]?.status).toBe("cancelled");
      });

      it("show what a failing tool says to the model, with its whole result", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const outcome = await rooms.call(tool("fail", { how: "model" }));
        expect(outcome).toMatchObject({ call: { status: "failed" }, result: { isError: true } });
        expect(JSON.stringify(outcome.result)).toContain("try Oslo");
      });

      it("show an error of the server with its kind, what to change, and its data", async () => {
        const rooms = await openRooms(everything, { revision, over });
        const outcome = await rooms.call(tool("fail", { how: "protocol" }));
        expect(outcome).toMatchObject({
          call: { status: "failed" },
          problem: { kind: "invalid_params", message: "there is no such account", data: { account: 7 } },
        });
        expect(outcome.problem?.fix).not.toBe("");
        expect(outcome.result).toBeUndefined();
      });
    });
  }
}

describe("a call", () => {
  it("reads prompts, resources and anything else", async () => {
    const rooms = await openRooms(everything);
    const prompt = await rooms.call({ kind: "prompt", name: "greet", arguments: { name: "Ada" } });
    expect(JSON.stringify(prompt.result)).toContain("Say hello to Ada.");
    const resource = await rooms.call({ kind: "resource", uri: "logo://small" });
    expect(resource.result).toMatchObject({ contents: [{ uri: "logo://small", mimeType: "image/png" }] });
    const raw = await rooms.call({ kind: "request", method: "tools/list", params: {} });
    expect(raw.result).toHaveProperty("tools");
    const unknown = await rooms.call({ kind: "request", method: "nobody/knows", params: {} });
    expect(unknown.problem).toMatchObject({ kind: "method_not_found" });
    expect(rooms.calls.list().map(({ name }) => name)).toEqual(["nobody/knows", "tools/list", "logo://small", "greet"]);
  });

  it("loads a skill with all its files", async () => {
    const mail = skill({
      name: "mail",
      description: "Writes mail",
      body: "Be short.",
      files: { "logo.bin": new Uint8Array([0, 255]) },
    });
    const served = new Server(info, { extensions: [skills(mail)] });
    const rooms = await openRooms(served);
    const outcome = await rooms.call({ kind: "skill", name: "skill://mail/SKILL.md" });
    expect(outcome.result).toMatchObject({
      skill: { uri: "skill://mail/SKILL.md", frontmatter: { name: "mail" } },
      body: "Be short.",
      contents: [
        { uri: "skill://mail/SKILL.md", text: expect.stringContaining("Be short.") },
        { uri: "skill://mail/logo.bin", blob: "AP8=" },
      ],
    });
    const wrong = await rooms.call({ kind: "skill", name: "skill://nobody/SKILL.md" });
    expect(wrong.call.status).toBe("failed");
  });

  it("shows a result that breaks the tool's own output schema, and why it was refused", async () => {
    const wrong = new Server(info).tool("wrong", { output: z.object({ n: z.number() }) }, () => ({ n: 1 }));
    wrong.use(async (request, next) => {
      const result = await next();
      return request.method === "tools/call" ? { ...result, structuredContent: { n: "one" } } : result;
    });
    const rooms = await openRooms(wrong);
    await rooms.offers.list(rooms.connection, "tools");
    const outcome = await rooms.call(tool("wrong"));
    expect(outcome).toMatchObject({
      call: { status: "failed" },
      result: { structuredContent: { n: "one" } },
      problem: { kind: "invalid_response", data: { issues: [expect.stringContaining("/n")] } },
    });
  });

  it("asks the server each time, whatever may be kept", async () => {
    let reads = 0;
    const server = new Server(info, { cache: { ttlMs: 60_000, scope: "public" } }).resource("count://me", {}, () =>
      String(++reads),
    );
    const rooms = await openRooms(server, { revision: "2026-07-28" });
    for (const text of ["1", "2"]) {
      const { result } = await rooms.call({ kind: "resource", uri: "count://me" });
      expect(result).toMatchObject({ contents: [{ text }] });
    }
  });

  it("is known to what it causes, and to nothing else", async () => {
    const seen: (string | undefined)[] = [];
    const rooms = await openRooms(everything);
    rooms.connection.client.use((_call, next) => {
      seen.push(callContext.getStore());
      return next();
    });
    const { call } = await rooms.call(tool("media"));
    await rooms.connection.client.ping();
    expect(seen).toEqual([call.id, undefined]);
  });

  it("keeps no text of a server that is longer than the state may hold", async () => {
    const long = "y".repeat(100_000);
    const chatty = new Server(info).tool("talk", {}, (_args, ctx) => {
      ctx.progress(1, { message: long });
      return "done";
    });
    const rooms = await openRooms(chatty);
    await rooms.call(tool("talk"));
    await rooms.call(tool(long));
    expect(JSON.stringify(rooms.calls.list()).length).toBeLessThan(3000);
    expect(rooms.calls.list()[1]?.progress?.message).toContain("yyy");
  });

  it("fails with its connection", async () => {
    const held = heldServer();
    const rooms = await openRooms(held.server);
    const id = rooms.calls.start(rooms.connection, tool("hold"));
    await expect.poll(() => held.released.length).toBe(1);
    await rooms.connection.client.close();
    expect(await rooms.ended(id)).toMatchObject({ status: "failed" });
    expect(rooms.calls.outcome(id).problem?.kind).toBe("connection_closed");
  });
});

describe("running calls", () => {
  it("know the only one of a connection", async () => {
    const held = heldServer();
    const { calls, connection, ended } = await openRooms(held.server);
    expect(calls.only("c1")).toBeUndefined();
    const first = calls.start(connection, tool("hold"));
    expect(calls.only("c1")).toBe(first);
    expect(calls.only("c2")).toBeUndefined();
    const second = calls.start(connection, tool("hold"));
    expect(calls.only("c1")).toBeUndefined();
    expect(callContext.run(second, () => calls.current("c1"))).toBe(second);
    calls.cancel(second);
    await ended(second);
    expect(callContext.run(second, () => calls.current("c1"))).toBe(first);
  });

  it("are refused beyond their limit, and never forgotten", async () => {
    const held = heldServer();
    const { calls, connection, ended } = await openRooms(held.server, { limits: { running: 2, calls: 1 } });
    const ids = [calls.start(connection, tool("hold")), calls.start(connection, tool("hold"))];
    expect(() => calls.start(connection, tool("hold"))).toThrow("2 calls are running");
    expect(calls.list()).toHaveLength(2);
    await expect.poll(() => held.released.length).toBe(2);
    const [first = "", second = ""] = ids;
    held.released[1]?.();
    await ended(second);
    expect(calls.outcome(second).result).toBeDefined();
    held.released[0]?.();
    await ended(first);
    expect(calls.list().map(({ id }) => id)).toEqual([first]);
    expect(calls.outcome(first).result).toBeDefined();
  });

  it("have no outcome before their end, and none that nobody knows", async () => {
    const held = heldServer();
    const { calls, connection } = await openRooms(held.server);
    const id = calls.start(connection, tool("hold"));
    expect(() => calls.outcome(id)).toThrow("is still running");
    expect(() => calls.outcome("call-99")).toThrow(McpError);
    expect(() => calls.cancel("call-99")).toThrow("does not exist or is no longer stored");
  });

  it("are not started while there is no connection", async () => {
    const { calls, connection } = await openRooms(heldServer().server);
    const lost = {
      ...connection,
      get client(): never {
        throw new McpError("connection_closed", "it is closed");
      },
    };
    expect(() => calls.start(lost, tool("hold"))).toThrow("it is closed");
    expect(calls.list()).toEqual([]);
  });
});

describe("results that were kept", () => {
  it("are forgotten, the oldest first, when there are too many", async () => {
    const rooms = await openRooms(heldServer().server, { limits: { calls: 3 } });
    const ids: string[] = [];
    for (const length of [1, 2, 3, 4, 5]) ids.push((await rooms.call(tool("large", { length }))).call.id);
    expect(rooms.calls.list().map(({ id }) => id)).toEqual(ids.slice(2).reverse());
    expect(() => rooms.calls.outcome(ids[0] ?? "")).toThrow("no longer stored");
    expect(rooms.calls.outcome(ids[4] ?? "").result).toBeDefined();
  });

  it("are forgotten when they are too large together", async () => {
    const rooms = await openRooms(heldServer().server, { limits: { bytes: 10_000 } });
    const first = await rooms.call(tool("large", { length: 4000 }));
    const second = await rooms.call(tool("large", { length: 4000 }));
    expect(rooms.calls.outcome(first.call.id).result).toBeDefined();
    await rooms.call(tool("large", { length: 4000 }));
    expect(() => rooms.calls.outcome(first.call.id)).toThrow("no longer stored");
    expect(rooms.calls.outcome(second.call.id).result).toBeDefined();
  });

  it("are not kept where one alone is too large, and say so", async () => {
    const rooms = await openRooms(heldServer().server, { limits: { bytes: 10_000 } });
    const outcome = await rooms.call(tool("large", { length: 20_000 }));
    expect(outcome.result).toBeUndefined();
    expect(outcome).toMatchObject({ call: { status: "done" }, problem: { kind: "limit_exceeded" } });
    expect(outcome.bytes).toBeGreaterThan(20_000);
    expect((await rooms.call(tool("large", { length: 10 }))).result).toBeDefined();
  });

  it("may have many mebibytes", async () => {
    const rooms = await openRooms(heldServer().server, { over: "http" });
    const outcome = await rooms.call(tool("large", { length: 8 * 1024 * 1024 }));
    expect(outcome.call.status).toBe("done");
    expect(outcome.bytes).toBeGreaterThan(8 * 1024 * 1024);
  });
});
