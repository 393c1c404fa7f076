import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive, textOf } from "../../../test/server/drive.js";
import { McpError } from "../../protocol/error.js";
import { ToolError } from "../contract/tool.js";
import { Server } from "../server.js";
import { text } from "./content.js";

const info = { name: "s", version: "1" };
const never = () => new Promise<never>(() => {});
const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;
const deep = () => {
  let value: unknown = 1;
  for (let level = 0; level < 200_000; level++) value = [value];
  return value;
};
const hostile = () =>
  new Proxy(
    {},
    {
      get: () => {
        throw new Error("no");
      },
      getPrototypeOf: () => {
        throw new Error("no");
      },
    },
  );

/** Handlers that misbehave, and the part of the answer that shows how: an error code, or the text of a failed result. */
const MISBEHAVIOUR: Record<string, { handler: () => unknown; shows: number | RegExp }> = {
  "throws a string": { handler: () => raise("just text"), shows: /^just text$/ },
  "throws nothing": { handler: () => raise(undefined), shows: /^undefined was thrown/ },
  "throws null": { handler: () => raise(null), shows: /^null was thrown/ },
  "throws an object without a prototype": { handler: () => raise(Object.create(null)), shows: /^\{\} was thrown/ },
  "throws a proxy that throws": { handler: () => raise(hostile()), shows: /cannot be read/ },
  "throws an error whose message throws": {
    handler: () =>
      raise(
        Object.defineProperty(new Error("x"), "message", {
          get() {
            throw new Error("inner");
          },
        }),
      ),
    shows: /cannot be read/,
  },
  "throws an McpError with data that JSON cannot hold": {
    handler: () => raise(new McpError("invalid_params", "bad", { data: { n: 1n } })),
    shows: -32602,
  },
  "rejects later": { handler: () => Promise.reject(new Error("late")), shows: /^late$/ },
  "returns a BigInt": { handler: () => 1n, shows: -32603 },
  "returns a cycle": { handler: () => cycle, shows: -32603 },
  "returns a function": { handler: () => () => 1, shows: -32603 },
  "returns a symbol": { handler: () => Symbol("s"), shows: -32603 },
  "returns something 200,000 levels deep": { handler: deep, shows: -32603 },
  "returns an object whose getter throws": {
    handler: () => ({
      get bad() {
        throw new Error("got");
      },
    }),
    shows: -32603,
  },
  "returns an object whose toJSON throws": {
    handler: () => ({
      toJSON() {
        throw new Error("j");
      },
    }),
    shows: -32603,
  },
  "returns a proxy that throws": { handler: () => hostile(), shows: /^no$/ },
  "returns a thenable that throws": {
    handler: () => ({
      // biome-ignore lint/suspicious/noThenProperty: such values are what is tested
      then() {
        throw new Error("then threw");
      },
    }),
    shows: /^then threw$/,
  },
  "returns a thenable whose `then` is a getter that throws": {
    handler: () => ({
      // biome-ignore lint/suspicious/noThenProperty: such values are what is tested
      get then() {
        throw new Error("then getter");
      },
    }),
    shows: /^then getter$/,
  },
  "returns more than a string can hold": { handler: () => Array(70).fill("x".repeat(8 * 1024 * 1024)), shows: -32603 },
};

function raise(value: unknown): never {
  throw value;
}

describe("a handler that misbehaves", () => {
  for (const [what, { handler, shows }] of Object.entries(MISBEHAVIOUR)) {
    it(`${what}: its own call fails, no other does`, async () => {
      const server = new Server(info).tool("bad", {}, handler as () => object).tool("good", {}, () => "fine");
      const drive = new Drive(server);
      const [bad, good] = await Promise.all([drive.call("bad"), drive.call("good")]);
      if (typeof shows === "number") expect(bad.error?.code).toBe(shows);
      else {
        expect(bad.result?.isError).toBe(true);
        expect(textOf(bad)).toMatch(shows);
      }
      expect(bad.answer.text).not.toMatch(/\\n\s+at /);
      expect(textOf(good)).toBe("fine");
      expect(textOf(await drive.call("good"))).toBe("fine");
    });
  }

  it("ends no request without an answer, whatever kind of handler throws the unreadable", async () => {
    const server = new Server(info)
      .resource("a://sync", {}, () => raise(hostile()))
      .resource("a://async", {}, async () => raise(hostile()))
      .prompt("p", {}, async () => raise(hostile()))
      .use((call, next) => (call.method === "tools/list" ? raise(hostile()) : next()))
      .tool("t", {}, () => "");
    const drive = new Drive(server);
    expect((await drive.send("resources/read", { uri: "a://sync" })).error?.code).toBe(-32603);
    expect((await drive.send("resources/read", { uri: "a://async" })).error?.code).toBe(-32603);
    expect((await drive.send("prompts/get", { name: "p" })).error?.code).toBe(-32603);
    expect((await drive.send("tools/list")).error?.code).toBe(-32603);
  });

  it("shows the model what a ToolError says, and nothing else of it", async () => {
    const server = new Server(info)
      .tool("a", {}, () => raise(new ToolError("try Oslo", { cause: new Error("secret") })))
      .tool("b", {}, () => raise(new ToolError("x", { content: [text("one"), text("two")] })));
    const drive = new Drive(server);
    expect((await drive.call("a")).result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "try Oslo" }],
    });
    expect(textOf(await drive.call("b"))).toBe("one\ntwo");
  });

  it("hides unexpected errors behind an id that the operator finds in the log", async () => {
    const lines: string[] = [];
    const server = new Server(info, { maskErrors: true, platform: { warn: (line) => void lines.push(line) } }).tool(
      "leak",
      {},
      () => raise(new Error("password=hunter2")),
    );
    const shown = textOf(await new Drive(server).call("leak"));
    expect(shown).toMatch(/^internal error \(id [\w-]+\)$/);
    const id = shown.slice(20, -1);
    expect(lines.join("\n")).toContain(id);
    expect(lines.join("\n")).toContain("hunter2");
  });
});

describe("how long a tool may run", () => {
  it("is limited by `timeoutMs`: the signal aborts and the model is told", async () => {
    let aborted: unknown;
    const server = new Server(info).tool("slow", { timeoutMs: 20 }, (_args, { signal }) => {
      signal.addEventListener("abort", () => {
        aborted = signal.reason;
      });
      return never();
    });
    const reply = await new Drive(server).call("slow");
    expect(textOf(reply)).toBe('The tool "slow" did not finish within 20 ms.');
    expect(reply.result).toMatchObject({ isError: true, _meta: { "dev.parley/failure": { kind: "timeout" } } });
    expect(aborted).toMatchObject({ kind: "timeout" });
  });

  it("does not count the time in which the client is asked", async () => {
    let now = 0;
    const timers: { at: number; run: () => void }[] = [];
    const timer = (ms: number, run: () => void) => {
      const entry = { at: now + ms, run };
      timers.push(entry);
      return { cancel: () => void timers.splice(timers.indexOf(entry), 1) };
    };
    const pass = (ms: number) => {
      now += ms;
      for (const due of timers.filter(({ at }) => at <= now)) due.run();
    };
    const server = new Server(info, { platform: { now: () => now, timer } }).tool(
      "ask",
      { timeoutMs: 100 },
      async (_a, ctx) => {
        pass(60);
        await ctx.elicit("ok?", z.object({ ok: z.boolean() }));
        pass(30);
        await Promise.resolve();
        return "done";
      },
    );
    const drive = new Drive(server, {
      revision: "2025-11-25",
      capabilities: { elicitation: {} },
      answer: async () => {
        await Promise.resolve();
        pass(5000);
        return { action: "accept", content: { ok: true } };
      },
    });
    expect(textOf(await drive.call("ask"))).toBe("done");
    expect(timers).toEqual([]);
  });

  it("can be set for all tools of a server", async () => {
    const server = new Server(info, { tools: { timeoutMs: 10 } }).tool("slow", {}, never);
    expect(textOf(await new Drive(server).call("slow"))).toContain("within 10 ms");
    expect(() => new Server(info).tool("x", { timeoutMs: -1 }, () => "")).toThrow(/timeoutMs/);
  });
});

describe("how many calls run at once", () => {
  /** A tool that runs until it is told to end, and how many of it ran at most. */
  function gate() {
    const open: (() => void)[] = [];
    const seen = { running: 0, most: 0, open };
    const handler = async () => {
      seen.most = Math.max(seen.most, ++seen.running);
      await new Promise<void>((resolve) => open.push(resolve));
      seen.running--;
      return "ok";
    };
    return { seen, handler };
  }

  it("is limited per tool; others wait their turn in order", async () => {
    const { seen, handler } = gate();
    const server = new Server(info).tool("one", { concurrency: 2 }, handler);
    const drive = new Drive(server);
    const replies = Promise.all(Array.from({ length: 10 }, () => drive.call("one")));
    for (let ended = 0; ended < 10; ) {
      await new Promise(setImmediate);
      for (const end of seen.open.splice(0)) {
        end();
        ended++;
      }
    }
    expect((await replies).map(textOf)).toEqual(Array(10).fill("ok"));
    expect(seen.most).toBe(2);
  });

  it("is limited per server; a full queue refuses and names the limit", async () => {
    const { seen, handler } = gate();
    const server = new Server(info, { limits: { calls: 1, queuedCalls: 1 } }).tool("one", {}, handler);
    const drive = new Drive(server);
    const first = drive.call("one");
    const second = drive.call("one");
    const third = await drive.call("one");
    expect(third.error).toMatchObject({ code: -32603, data: { limit: "limits.calls", running: 1, queued: 1 } });
    seen.open.shift()?.();
    await first;
    await Promise.resolve();
    seen.open.shift()?.();
    expect(textOf(await second)).toBe("ok");
  });

  it("lets a call that is cancelled while it waits go without taking a place", async () => {
    const { seen, handler } = gate();
    const server = new Server(info).tool("one", { concurrency: 1 }, handler);
    const controller = new AbortController();
    const first = new Drive(server).call("one");
    const waiting = new Drive(server, { signal: controller.signal }).call("one");
    const last = new Drive(server).call("one");
    controller.abort();
    expect((await waiting).error?.message).toContain("cancelled while it waited");
    seen.open.shift()?.();
    await first;
    for (let turn = 0; turn < 20 && seen.open.length === 0; turn++) await Promise.resolve();
    seen.open.shift()?.();
    expect(textOf(await last)).toBe("ok");
  });

  it("frees its slot when questions are sent, although the handler never settles", async () => {
    const server = new Server(info, { limits: { calls: 1, queuedCalls: 0 } }).tool(
      "stubborn",
      {},
      async (_args, ctx) => {
        await ctx.elicit("ok?", z.object({ ok: z.boolean() })).catch(() => {});
        return never();
      },
    );
    const drive = new Drive(server, { capabilities: { elicitation: {} } });
    for (let round = 0; round < 2; round++) {
      expect((await drive.call("stubborn")).result?.["resultType"]).toBe("input_required");
    }
  });

  it("frees its slot whatever the outcome", async () => {
    const outcomes = [
      () => "ok",
      () => raise(new Error("x")),
      () => 1n,
      () => Promise.reject(new Error("y")),
      () => raise(new McpError("invalid_params", "z")),
    ];
    let turn = 0;
    const server = new Server(info, { limits: { calls: 1, queuedCalls: 0 } }).tool("mixed", { concurrency: 1 }, () =>
      (outcomes[turn++ % outcomes.length] as () => object)(),
    );
    const drive = new Drive(server);
    for (let call = 0; call < 50; call++) expect((await drive.call("mixed")).error?.data?.["limit"]).toBeUndefined();
  });
});
