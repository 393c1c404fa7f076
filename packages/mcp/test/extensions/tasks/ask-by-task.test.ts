import { connect, McpError, Server } from "@parley/mcp";
import { fetchHandler } from "@parley/mcp/http";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ClientOptions } from "../../../src/client/contract/options.js";
import { Drive, type DriveOptions } from "../../server/drive.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const N = z.object({ n: z.number() });

function server(options: { askByTask?: boolean; answerMs?: number } = {}) {
  const { askByTask = true, answerMs = 5000 } = options;
  return new Server(
    { name: "s", version: "1" },
    { extensions: [tasks({ askByTask, pollIntervalMs: 20 })], limits: { answerMs } },
  )
    .tool("count", async (_args, ctx) => `n is ${(await ctx.elicit("how many?", N)).n}`)
    .tool("both", async (_args, ctx) => {
      const [a, b] = await Promise.all([ctx.elicit("one", N), ctx.elicit("two", N)]);
      return `sum ${a.n + b.n}`;
    })
    .tool("tries", async (_args, ctx) => (await ctx.tryElicit("how many?", N)).action)
    .tool("samples", async (_args, ctx) => {
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: "hi" } }];
      return JSON.stringify((await ctx.sample({ messages, maxTokens: 5 })).content);
    })
    .tool("roots", async (_args, ctx) => `${(await ctx.roots()).length}`)
    .tool("steps", async (_args, ctx) => `${await ctx.step("a", () => 4)}`)
    .tool("sampling-task", { task: "required" }, async (_args, ctx) => {
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: "hi" } }];
      return JSON.stringify((await ctx.sample({ messages, maxTokens: 5 })).content);
    })
    .tool("task", { task: "required" }, async (_args, ctx) => `n is ${(await ctx.elicit("how many?", N)).n}`)
    .prompt("ask", {}, async (_args, ctx) => `n is ${(await ctx.elicit("how many?", N)).n}`);
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const ELICITS = { elicitation: { form: {} }, tasks: { cancel: {}, requests: { elicitation: { create: {} } } } };

interface Heard {
  id?: unknown;
  method: string;
  params?: Record<string, unknown>;
}

const task = (members: object = {}) => ({
  taskId: "t1",
  status: "working",
  createdAt: "2026-01-01T00:00:00.000Z",
  lastUpdatedAt: "2026-01-01T00:00:00.000Z",
  ttl: 1000,
  pollInterval: 20,
  ...members,
});
const accepted = { action: "accept", content: { n: 3 } };

/** A client of 2025-11-25 that answers by tables, and what it was sent. */
function driven(answers: Record<string, (asked: Heard) => unknown>, options: DriveOptions = {}, serving = server()) {
  const heard: Heard[] = [];
  const drive = new Drive(serving, {
    revision: "2025-11-25",
    capabilities: ELICITS,
    ...options,
    answer(question) {
      heard.push(question);
      return answers[question.method]?.(question);
    },
  });
  return { drive, heard, methods: () => heard.map(({ method }) => method) };
}

describe("a server that asks by tasks", () => {
  it("TASK25-02, TASK25-09: sends the question with a ttl, looks at the task in its interval, then reads the result", async () => {
    let looks = 0;
    const started = performance.now();
    const { drive, heard, methods } = driven({
      "elicitation/create": () => ({ task: task({ pollInterval: 40 }) }),
      "tasks/get": () => task({ pollInterval: 40, status: ++looks < 3 ? "working" : "completed" }),
      "tasks/result": () => ({ ...accepted, _meta: { "io.modelcontextprotocol/related-task": { taskId: "t1" } } }),
    });
    const { result } = await drive.call("count");
    expect(result?.content).toEqual([{ type: "text", text: "n is 3" }]);
    expect(methods()).toEqual(["elicitation/create", "tasks/get", "tasks/get", "tasks/get", "tasks/result"]);
    expect(heard[0]?.params?.["task"]).toEqual({ ttl: 5000 });
    expect(performance.now() - started).toBeGreaterThan(100);
  });

  const plain: [string, DriveOptions, boolean][] = [
    ["the option is off", {}, false],
    ["the client declares no tasks", { capabilities: { elicitation: { form: {} } } }, true],
    [
      "the client declares other tasks",
      { capabilities: { ...ELICITS, tasks: { requests: { sampling: { createMessage: {} } } } } },
      true,
    ],
    ["the revision has no tasks", { revision: "2025-06-18" }, true],
    ["the revision asks otherwise", { revision: "2026-07-28" }, true],
  ];
  it.each(plain)("TASK25-02: sends plain questions where %s", async (_name, options, askByTask) => {
    const { drive, heard } = driven({ "elicitation/create": () => accepted }, options, server({ askByTask }));
    expect((await drive.call("count")).result?.content).toEqual([{ type: "text", text: "n is 3" }]);
    expect(heard.map(({ method, params }) => [method, params?.["task"]])).toEqual([["elicitation/create", undefined]]);
  });

  it("TASK25-04: takes the answer of a client that ignores the wish", async () => {
    const { drive, methods } = driven({ "elicitation/create": () => accepted });
    expect((await drive.call("count")).result?.content).toEqual([{ type: "text", text: "n is 3" }]);
    expect(methods()).toEqual(["elicitation/create"]);
  });

  it("asks for the result at once where the client needs input itself", async () => {
    const { drive, methods } = driven({
      "elicitation/create": () => ({ task: task({ status: "input_required" }) }),
      "tasks/result": () => accepted,
    });
    expect((await drive.call("count")).result?.content).toEqual([{ type: "text", text: "n is 3" }]);
    expect(methods()).toEqual(["elicitation/create", "tasks/result"]);
  });

  const broken: [string, Record<string, (asked: Heard) => unknown>, RegExp][] = [
    [
      "a task without an id",
      { "elicitation/create": () => ({ task: { status: "working" } }) },
      /task of the client has no taskId/,
    ],
    [
      "a task with an unknown status",
      { "elicitation/create": () => ({ task: task({ status: "odd" }) }) },
      /has the status "odd"/,
    ],
    [
      "another task",
      { "elicitation/create": () => ({ task: task() }), "tasks/get": () => task({ taskId: "t2" }) },
      /answered with another task/,
    ],
    ["no object", { "elicitation/create": () => ({ task: task() }), "tasks/get": () => 5 }, /not an object/],
    [
      "a cancelled task",
      { "elicitation/create": () => ({ task: task() }), "tasks/get": () => task({ status: "cancelled" }) },
      /the client cancelled its task/,
    ],
    [
      "a result that is none",
      {
        "elicitation/create": () => ({ task: task() }),
        "tasks/get": () => task({ status: "completed" }),
        "tasks/result": () => [],
      },
      /not an object/,
    ],
  ];
  it.each(broken)("fails the call of a client that answers with %s", async (_name, answers, message) => {
    const { drive } = driven(answers);
    const { result, error } = await drive.call("count");
    expect(error?.message ?? result?.content?.[0]?.text).toMatch(message);
  });

  it("gives up after `limits.answerMs`, whatever interval the client wants, and cancels the task", async () => {
    const { drive } = driven(
      {
        "elicitation/create": () => ({ task: task({ pollInterval: 1e9 }) }),
        "tasks/get": () => task({ pollInterval: 1e9 }),
      },
      {},
      server({ answerMs: 60 }),
    );
    const { result, error } = await drive.call("count");
    expect(error?.message ?? result?.content?.[0]?.text).toMatch(/did not answer elicitation\/create within 60 ms/);
    expect(drive.said).toContainEqual(expect.objectContaining({ method: "tasks/cancel", params: { taskId: "t1" } }));
  });

  it("asks several questions at once, and runs steps", async () => {
    let made = 0;
    const { drive } = driven({
      "elicitation/create": () => ({ task: task({ taskId: `t${++made}` }) }),
      "tasks/get": ({ params }) => task({ taskId: params?.["taskId"], status: "completed" }),
      "tasks/result": ({ params }) => ({
        action: "accept",
        content: { n: Number(String(params?.["taskId"]).slice(1)) },
      }),
    });
    expect((await drive.call("both")).result?.content?.[0]?.text).toBe("sum 3");
    expect((await drive.call("steps")).result?.content?.[0]?.text).toBe("4");
  });
});

describe.each(["in memory", "over HTTP"])("both sides with tasks, %s", (way) => {
  const open = async (options: ClientOptions, serving = server()) => {
    const seen: string[] = [];
    const target = way === "in memory" ? serving : "http://localhost:3000/mcp";
    const handler = fetchHandler(serving);
    cleanups.push(() => handler.close());
    const fetching = async (input: unknown, init?: RequestInit) => {
      const request = new Request(input as string, init);
      if (request.method === "POST") seen.push(await request.clone().text());
      return handler(request);
    };
    const client = await connect(target as string, {
      revisions: ["2025-11-25"],
      extensions: [tasks({ pollIntervalMs: 20 })],
      ...(way === "in memory" ? {} : { fetch: fetching as never }),
      ...options,
    });
    cleanups.push(() => client.close());
    return { client, seen };
  };
  const slow = <T>(value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), 60));

  it("TASK25-10: a call gets its answer", async () => {
    const { client, seen } = await open({ onElicit: () => slow({ action: "accept", content: { n: 7 } }) });
    expect(await client.call("count")).toBe("n is 7");
    if (way !== "in memory") expect(seen.some((text) => text.includes('"task":{'))).toBe(true);
  });

  it("TASK25-12: a task asks by a task", async () => {
    const asked: unknown[] = [];
    const { client } = await open({
      onElicit: (question) => {
        asked.push(question._meta);
        return slow({ action: "accept", content: { n: 7 } });
      },
    });
    expect(await client.call("task")).toBe("n is 7");
    expect(asked).toEqual([{ "io.modelcontextprotocol/related-task": { taskId: expect.any(String) } }]);
  });

  it("the user's decisions and failures are those of a plain question", async () => {
    for (const action of ["decline", "cancel"] as const) {
      const { client } = await open({ onElicit: () => ({ action }) });
      expect(await client.call("tries")).toBe(action);
    }
    const refusing = { onSample: () => Promise.reject(new McpError("declined", "not now")) };
    const failures = [];
    for (const askByTask of [true, false]) {
      const { client } = await open(refusing, server({ askByTask }));
      failures.push(await client.request("tools/call", { name: "samples" }).catch((error: unknown) => String(error)));
    }
    expect(failures[0]).toEqual(failures[1]);
  });

  it("a task ends as the plain call does when its question fails", async () => {
    const fails = [() => Promise.reject(new McpError("declined", "not now")), () => Promise.reject(new Error("boom"))];
    for (const onSample of fails) {
      const ended: unknown[] = [];
      for (const [askByTask, name] of [
        [false, "samples"],
        [false, "sampling-task"],
        [true, "sampling-task"],
      ] as const) {
        const { client } = await open({ onSample }, server({ askByTask }));
        const result = await client.callTool(name).catch((error: unknown) => String(error));
        ended.push(typeof result === "string" ? result : { content: result.content, isError: result.isError });
      }
      expect(ended[1]).toEqual(ended[0]);
      expect(ended[2]).toEqual(ended[0]);
    }
  });

  it("a cancelled call cancels the task of the client", async () => {
    const aborted = withResolver();
    const begun = withResolver();
    const { client } = await open({
      onElicit: (_question, { signal }) =>
        new Promise(() => {
          begun.resolve();
          signal.addEventListener("abort", () => aborted.resolve());
        }),
    });
    const controller = new AbortController();
    const call = client.call("count", {}, { signal: controller.signal });
    await begun.promise;
    await new Promise((resolve) => setTimeout(resolve, 60));
    controller.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await aborted.promise;
  });

  it("a cancelled task takes back its question", async () => {
    for (const askByTask of [true, false]) {
      const aborted = withResolver();
      const begun = withResolver();
      const { client } = await open(
        {
          onElicit: (_question, { signal }) =>
            new Promise(() => {
              begun.resolve();
              signal.addEventListener("abort", () => aborted.resolve());
            }),
        },
        server({ askByTask }),
      );
      const handle = await client.startTask("task");
      const result = handle.result().catch((error: unknown) => error);
      await begun.promise;
      await handle.cancel();
      await aborted.promise;
      await result;
    }
  });

  it("roots and prompts are asked as usual", async () => {
    const { client } = await open({ roots: [], onElicit: () => ({ action: "accept", content: { n: 7 } }) });
    expect(await client.call("roots")).toBe("0");
    expect(JSON.stringify(await client.getPrompt("ask"))).toContain("n is 7");
  });
});
