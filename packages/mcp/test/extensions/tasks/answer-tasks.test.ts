import { connect, McpError } from "@parley/mcp";
import { type TaskOptions, tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import type { ClientOptions } from "../../../src/client/contract/options.js";
import { greetsIn, type Heard, type Pipe, scriptedPipe } from "../../client/scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

type Wire = Record<string, unknown>;

/** A server that sends requests, and what the client answers to them. */
async function asking(options: ClientOptions, settings: TaskOptions = {}) {
  const answers = new Map<unknown, (answer: Heard) => void>();
  const told: Wire[] = [];
  const warnings: string[] = [];
  let pipe: Pipe | undefined;
  const server = scriptedPipe((message, own) => {
    pipe = own;
    if (message.method === undefined) answers.get(message.id)?.(message);
    else if (message.method === "notifications/tasks/status") told.push(message.params as Wire);
    else greetsIn("stateful", message, own);
  });
  const client = await connect(server, {
    revisions: ["2025-11-25"],
    extensions: [tasks(settings)],
    onWarning: (text) => warnings.push(text),
    ...options,
  });
  open.push(client);
  let last = 0;
  const ask = (method: string, params?: object, id = `q${++last}`) => {
    const answer = new Promise<Heard>((resolve) => answers.set(id, resolve));
    pipe?.say({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    return answer;
  };
  const create = async (params: object = QUESTION, method = "elicitation/create") => {
    const { result, error } = await ask(method, { ...params, task: { ttl: 60_000 } });
    if (error !== undefined) throw Object.assign(new Error(error.message), error);
    return (result as { task: Wire })["task"];
  };
  return { server, client, ask, create, told, warnings, say: (value: unknown) => pipe?.say(value) };
}

const QUESTION = { message: "how many?", requestedSchema: { type: "object", properties: { n: { type: "number" } } } };
const SAMPLE = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 5 };
const RELATED = "io.modelcontextprotocol/related-task";

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const accepts = () => ({ action: "accept" as const, content: { n: 3 } });
const replies = () => ({ role: "assistant" as const, model: "m", content: { type: "text" as const, text: "ho" } });
const declared = (server: { heard(): Heard[] }) => {
  const [greeting] = server.heard();
  return ((greeting?.params?.["capabilities"] ?? {}) as Wire)["tasks"];
};

describe("TASK25-01: a client declares tasks", () => {
  const all = { list: {}, cancel: {} };
  const cases: [string, ClientOptions, TaskOptions, unknown][] = [
    ["for forms", { onElicit: accepts }, {}, { ...all, requests: { elicitation: { create: {} } } }],
    ["for models", { onSample: replies }, {}, { ...all, requests: { sampling: { createMessage: {} } } }],
    [
      "for both",
      { onElicit: accepts, onSample: replies },
      {},
      { ...all, requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } },
    ],
    ["not for what it cannot answer", { roots: [] }, {}, undefined],
    ["not when it is told not to", { onElicit: accepts }, { answerByTask: false }, undefined],
    ["not in other revisions", { onElicit: accepts, revisions: ["2025-06-18"] }, {}, undefined],
    ["not without the extension", { onElicit: accepts, extensions: [] }, {}, undefined],
  ];
  it.each(cases)("%s", async (_name, options, settings, expected) => {
    const { server } = await asking(options, settings);
    expect(declared(server)).toEqual(expected);
  });
});

describe("a question that is answered as a task", () => {
  it("TASK25-05, TASK25-10: is answered at once, and its answer is read later, exactly", async () => {
    const user = withResolvers<void>();
    const { ask, create, told } = await asking({
      onElicit: async () => {
        await user.promise;
        return accepts();
      },
    });
    const task = await create();
    expect(task).toMatchObject({ status: "working", ttl: 60_000, pollInterval: 1000 });
    const taskId = String(task["taskId"]);
    expect(Buffer.from(taskId, "base64url").length).toBeGreaterThanOrEqual(16);
    expect(new Date(String(task["createdAt"])).toISOString()).toBe(task["createdAt"]);
    expect((await ask("tasks/get", { taskId })).result).toEqual(task);
    const waiting = ask("tasks/result", { taskId });
    user.resolve();
    expect((await waiting).result).toEqual({
      action: "accept",
      content: { n: 3 },
      _meta: { [RELATED]: { taskId } },
    });
    expect((await ask("tasks/get", { taskId })).result).toMatchObject({ taskId, status: "completed" });
    expect(told).toEqual([expect.objectContaining({ taskId, status: "completed", ttl: 60_000 })]);
    expect(told[0]).not.toHaveProperty("_meta");
  });

  it("TASK25-05: is one for models too", async () => {
    const { ask, create } = await asking({ onSample: replies });
    const { taskId } = await create(SAMPLE, "sampling/createMessage");
    expect((await ask("tasks/result", { taskId })).result).toEqual({
      ...replies(),
      _meta: { [RELATED]: { taskId } },
    });
  });

  it("TASK25-04: ignores `task` where it was not declared", async () => {
    const cases: [ClientOptions, TaskOptions, string, object, object][] = [
      [{ onElicit: accepts }, { answerByTask: false }, "elicitation/create", QUESTION, accepts()],
      [{ onElicit: accepts, revisions: ["2025-06-18"] }, {}, "elicitation/create", QUESTION, accepts()],
      [{ onElicit: accepts, roots: [] }, {}, "roots/list", {}, { roots: [] }],
      [{ onElicit: accepts, extensions: [] }, {}, "elicitation/create", QUESTION, accepts()],
    ];
    for (const [options, settings, method, params, expected] of cases) {
      const { ask } = await asking(options, settings);
      expect((await ask(method, { ...params, task: { ttl: 5 } })).result).toEqual(expected);
      const missing = ["roots/list"].includes(method) ? -32602 : -32601;
      expect((await ask("tasks/get", { taskId: "x" })).error?.code).toBe(missing);
    }
  });

  it("plain questions stay plain, and a `task` that is no object is ignored", async () => {
    const { ask } = await asking({ onElicit: accepts });
    expect((await ask("elicitation/create", QUESTION)).result).toEqual(accepts());
    for (const task of [5, "x", [], null, true]) {
      expect((await ask("elicitation/create", { ...QUESTION, task })).result).toEqual(accepts());
    }
  });

  it("TASK25-08: has a ttl that is capped, and refuses what is none", async () => {
    const { ask } = await asking({ onElicit: accepts }, { ttlMs: 500, maxTtlMs: 1000 });
    const ttlOf = async (task: object) => (await ask("elicitation/create", { ...QUESTION, task })) as object;
    expect(await ttlOf({ ttl: 800 })).toMatchObject({ result: { task: { ttl: 800 } } });
    expect(await ttlOf({ ttl: 1e12 })).toMatchObject({ result: { task: { ttl: 1000 } } });
    expect(await ttlOf({})).toMatchObject({ result: { task: { ttl: 500 } } });
    for (const ttl of [0, -1, "5", {}]) expect(await ttlOf({ ttl })).toMatchObject({ error: { code: -32602 } });
  });

  it("TASK25-16: is unknown after its ttl, and its handler is then no longer wanted", async () => {
    let now = 1_000_000;
    let aborted = false;
    const { ask, create } = await asking({
      platform: { now: () => now },
      onElicit: (_question, { signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            aborted = true;
          });
        }),
    });
    const { taskId } = await create();
    now += 60_001;
    expect((await ask("tasks/get", { taskId })).error).toMatchObject({ code: -32602 });
    expect((await ask("tasks/result", { taskId })).error).toMatchObject({ code: -32602 });
    expect((await ask("tasks/list")).result).toEqual({ tasks: [] });
    expect(aborted).toBe(true);
  });

  it("TASK25-14: is cancelled before the answer, for good, and only once", async () => {
    let reason: unknown;
    const { ask, create, told } = await asking({
      onElicit: (_question, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            resolve(accepts());
          });
        }),
    });
    const { taskId } = await create();
    const waiting = ask("tasks/result", { taskId });
    expect((await ask("tasks/cancel", { taskId })).result).toMatchObject({ taskId, status: "cancelled" });
    expect(reason).toMatchObject({ kind: "cancelled" });
    expect((await waiting).error).toMatchObject({ code: -32602 });
    expect((await ask("tasks/cancel", { taskId })).error).toMatchObject({ code: -32602 });
    expect((await ask("tasks/get", { taskId })).result).toMatchObject({ status: "cancelled" });
    expect(told.map(({ status }) => status)).toEqual(["cancelled"]);
  });

  const failures: [string, () => unknown, { code: number; message: unknown }, number][] = [
    ["declines", () => Promise.reject(new McpError("declined", "not now")), { code: -1, message: "not now" }, 0],
    [
      "throws",
      () => {
        throw new Error("secret path");
      },
      { code: -32603, message: "the application could not answer" },
      1,
    ],
    ["returns nothing", () => undefined, { code: -32603, message: "the application could not answer" }, 1],
    [
      "gives content that does not fit",
      () => ({ action: "accept", content: { n: "x" } }),
      { code: -32602, message: expect.stringContaining("does not fit the form") },
      1,
    ],
  ];
  it.each(failures)(
    "TASK25-10: fails as the plain question does when the user's function %s",
    async (_n, run, error, warned) => {
      const { ask, create, told, warnings } = await asking({ onElicit: run as never });
      const plain = await ask("elicitation/create", QUESTION);
      const before = warnings.length;
      const { taskId } = await create();
      const outcome = await ask("tasks/result", { taskId });
      expect(outcome.error).toEqual(plain.error);
      expect(outcome.error).toEqual(error);
      expect((await ask("tasks/result", { taskId })).error).toEqual(plain.error);
      expect((await ask("tasks/get", { taskId })).result).toMatchObject({
        status: "failed",
        statusMessage: plain.error?.message,
      });
      expect(told.at(-1)).toMatchObject({ status: "failed" });
      expect(warnings.length - before).toBe(warned);
    },
  );

  it("ends with the time that answers may take", async () => {
    const { ask, create } = await asking({ onElicit: () => new Promise(() => {}), timeouts: { answerMs: 30 } });
    const { taskId } = await create();
    expect((await ask("tasks/result", { taskId })).error?.message).toContain("did not answer within 30 ms");
  });

  it("is refused like the plain question when it is malformed, without a task", async () => {
    const { ask } = await asking({ onElicit: accepts });
    expect((await ask("elicitation/create", { message: 5, task: {} })).error).toMatchObject({ code: -32602 });
    expect((await ask("sampling/createMessage", { ...SAMPLE, task: {} })).error).toMatchObject({ code: -32601 });
    expect((await ask("tasks/list")).result).toEqual({ tasks: [] });
  });

  it("is aborted when the client is closed", async () => {
    let aborted = false;
    const { client, create } = await asking({
      onElicit: (_question, { signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            aborted = true;
          });
        }),
    });
    await create();
    await client.close();
    expect(aborted).toBe(true);
  });

  it("outlives a lost connection, and is read over the next one", async () => {
    const user = withResolvers<void>();
    const { ask, create, server } = await asking({ onElicit: () => user.promise.then(accepts) });
    const { taskId } = await create();
    server.pipes[0]?.end();
    user.resolve();
    await expect.poll(() => server.pipes.length).toBe(2);
    await expect.poll(() => server.methods().slice(2)).toContain("notifications/initialized");
    expect((await ask("tasks/result", { taskId })).result).toMatchObject(accepts());
  });

  it("goes on when the wait for its result is taken back", async () => {
    const user = withResolvers<void>();
    const { ask, create, say } = await asking({ onElicit: () => user.promise.then(accepts) });
    const { taskId } = await create();
    void ask("tasks/result", { taskId }, "wait");
    await ask("tasks/get", { taskId });
    say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "wait" } });
    expect((await ask("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
    user.resolve();
    expect((await ask("tasks/result", { taskId })).result).toMatchObject(accepts());
  });
});

describe("the tasks of a client", () => {
  it("TASK25-13: are listed in pages, oldest first", async () => {
    const { ask, create } = await asking({ onElicit: accepts });
    const ids: unknown[] = [];
    for (let i = 0; i < 103; i++) {
      const { taskId } = await create();
      await ask("tasks/result", { taskId });
      ids.push(taskId);
    }
    const first = (await ask("tasks/list")).result as { tasks: Wire[]; nextCursor: string };
    expect(first.tasks.map(({ taskId }) => taskId)).toEqual(ids.slice(0, 100));
    const rest = (await ask("tasks/list", { cursor: first.nextCursor })).result as { tasks: Wire[] };
    expect(rest.tasks.map(({ taskId }) => taskId)).toEqual(ids.slice(100));
    expect(rest).not.toHaveProperty("nextCursor");
    for (const cursor of ["forged", 5, null, {}, "__proto__"]) {
      expect((await ask("tasks/list", { cursor })).error).toMatchObject({ code: -32602 });
    }
  });

  it("are no more than a user can follow, and no more than fit", async () => {
    const user = withResolvers<void>();
    const { ask, create } = await asking({ onElicit: () => user.promise.then(accepts) });
    for (let i = 0; i < 100; i++) await create();
    await expect(create()).rejects.toMatchObject({ code: -32603, message: expect.stringContaining("100 questions") });
    user.resolve();
    await ask("tasks/list");
    for (let i = 100; i < 1000; i++) await create();
    await expect(create()).rejects.toMatchObject({ message: expect.stringContaining("1000 answers already wait") });
    const { tasks: listed } = (await ask("tasks/list")).result as { tasks: Wire[] };
    const taskId = listed[7]?.["taskId"];
    await ask("tasks/result", { taskId });
    await create();
    expect((await ask("tasks/get", { taskId })).error).toMatchObject({ code: -32602 });
  });

  const ids: [string, unknown][] = [
    ["unknown", "nope"],
    ["a prototype's member", "__proto__"],
    ["another", "constructor"],
    ["a number", 5],
    ["an object", {}],
    ["missing", undefined],
    ["huge", "x".repeat(100_000)],
  ];
  it.each(ids)("TASK25-16: do not exist for an id that is %s", async (_name, taskId) => {
    const { ask } = await asking({ onElicit: accepts });
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      expect((await ask(method, { taskId })).error).toEqual({
        code: -32602,
        message: "the task does not exist or has expired",
      });
    }
  });
});
