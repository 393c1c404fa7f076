import { McpError, Server, type ServerOptions } from "@parley/mcp";
import { type TaskOptions, tasks } from "@parley/mcp/tasks";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive, type DriveOptions } from "../../server/drive.js";
import { protectedHandler, TASKS_ID, TaskCaller, taskServer, type Wire } from "./task-callers.js";

const CAPABILITIES = { elicitation: { form: {} }, extensions: { [TASKS_ID]: {} } };
const N = z.object({ n: z.number() });

/** A caller without a transport. */
function drive(server: Server, options: DriveOptions = {}): Drive {
  return new Drive(server, { capabilities: CAPABILITIES, ...options });
}

async function begin(caller: Drive, name: string, args: Wire = {}): Promise<string> {
  const reply = await caller.once("tools/call", { name, arguments: args as never, task: {} });
  const { taskId } = (reply.result?.["task"] ?? reply.result ?? {}) as { taskId?: string };
  if (taskId === undefined) throw Object.assign(new Error("no task"), { reply });
  return taskId;
}

async function look(caller: Drive, taskId: string, ...wanted: string[]): Promise<Wire> {
  for (let i = 0; i < 4000; i++) {
    const { result = {} } = await caller.once("tasks/get", { taskId });
    if (wanted.includes(String(result["status"]))) return result;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`never ${wanted.join(" or ")}`);
}

function hangs(signal: AbortSignal): Promise<string> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

const make = (options: TaskOptions = {}, server: Omit<ServerOptions, "extensions"> = {}) =>
  new Server({ name: "s", version: "1" }, { ...server, extensions: [tasks({ pollIntervalMs: 10, ...options })] });

describe("ids that are none", () => {
  const ids: [string, unknown, number][] = [
    ["a prototype's member", "__proto__", -32602],
    ["a constructor", "constructor", -32602],
    ["toString", "toString", -32602],
    ["empty", "", -32602],
    ["a path", "../tasks-of/x", -32602],
    ["a path to nodes", "../../s/task-nodes", -32602],
    ["a lone surrogate", `${"a".repeat(31)}\ud800`, -32602],
    ["with a zero byte", `${"a".repeat(31)}\0`, -32602],
    ["with a line break", `${"a".repeat(32)}\n`, -32602],
    ["huge", "a".repeat(1_000_000), -32602],
    ["a number", 5, -32602],
    ["null", null, -32602],
    ["a list", ["a"], -32602],
    ["an object", { taskId: "a" }, -32602],
    ["missing", undefined, -32602],
  ];
  it.each(ids)("TASK26-14, TASK25-16: %s", async (_name, taskId, code) => {
    const server = taskServer();
    for (const revision of ["2026-07-28", "2025-11-25"] as const) {
      const caller = drive(server, { revision });
      const third = revision === "2026-07-28" ? "tasks/update" : "tasks/result";
      for (const method of ["tasks/get", "tasks/cancel", third]) {
        const { error } = await caller.once(method, { taskId, inputResponses: {} } as never);
        expect(error?.code).toBe(code);
        expect(JSON.stringify(error).length).toBeLessThan(500);
      }
    }
  });

  it("TASK26-16: a header that names another task is refused before anything happens", async () => {
    const handler = protectedHandler(taskServer());
    const ada = new TaskCaller(handler, "2026-07-28", "ada.app");
    const [one, two] = [await ada.begin("hangs"), await ada.begin("hangs")];
    for (const method of ["tasks/cancel", "tasks/update", "tasks/get"]) {
      const refused = await ada.send(method, { taskId: one, inputResponses: {} }, { "mcp-name": two });
      expect(refused.message.error?.code).toBe(-32020);
      expect(refused.status).toBe(400);
    }
    expect([await ada.status(one), await ada.status(two)]).toEqual(["working", "working"]);
    await handler.close();
  });
});

describe("answers that are none", () => {
  let deep: unknown = {};
  for (let i = 0; i < 200; i++) deep = { deep };
  const refused: [string, unknown][] = [
    ["missing", undefined],
    ["null", null],
    ["a list", [{ action: "accept" }]],
    ["a text", "accept"],
    ["a number", 1],
    ["an answer that is null", { "elicit-1": null }],
    ["an answer that is a list", { "elicit-1": [] }],
    ["an answer that is a text", { "elicit-1": "accept" }],
  ];
  it.each(refused)("TASK26-12: are refused: %s", async (_name, inputResponses) => {
    const caller = drive(taskServer());
    const taskId = await begin(caller, "asks");
    await look(caller, taskId, "input_required");
    const { error } = await caller.once("tasks/update", { taskId, inputResponses } as never);
    expect(error?.code).toBe(-32602);
    expect((await look(caller, taskId, "input_required"))["status"]).toBe("input_required");
  });

  const ignored: [string, string][] = [
    ["of a question that was never asked", '{"nobody": {"action": "accept", "content": {"n": 1}}}'],
    ["with a prototype's name", '{"__proto__": {"action": "accept", "content": {"n": 1}}}'],
    ["with a constructor's name", '{"constructor": {"action": "accept", "content": {"n": 1}}}'],
    ["that are deep, for another question", `{"x": ${JSON.stringify(deep)}}`],
    ["of no question at all", "{}"],
  ];
  it.each(ignored)("TASK26-12: are ignored: those %s", async (_name, text) => {
    const caller = drive(taskServer());
    const taskId = await begin(caller, "asks");
    const { inputRequests } = await look(caller, taskId, "input_required");
    expect((await caller.once("tasks/update", { taskId, inputResponses: JSON.parse(text) })).result).toBeDefined();
    const [key] = Object.keys(inputRequests as Wire);
    const inputResponses = { [String(key)]: { action: "accept", content: { n: 4 } } };
    await caller.once("tasks/update", { taskId, inputResponses });
    expect(await look(caller, taskId, "completed")).toMatchObject({ result: { content: [{ text: "n is 4" }] } });
  });

  it("that are too long for the task are refused by the name of the limit, and the task goes on waiting", async () => {
    const server = make({ limits: { taskLength: 4000 } }).tool("asks", { task: "optional" }, async (_args, ctx) => {
      return `n is ${(await ctx.elicit("how many?", N)).n}`;
    });
    const caller = drive(server);
    const taskId = await begin(caller, "asks");
    const { inputRequests } = await look(caller, taskId, "input_required");
    const key = String(Object.keys(inputRequests as Wire)[0]);
    const answer = (content: Wire) =>
      caller.once("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content } } } as never);
    const { error } = await answer({ n: "x".repeat(5000) });
    expect(error).toMatchObject({ data: { limit: "taskLength", value: 4000 } });
    expect((await look(caller, taskId, "input_required"))["inputRequests"]).toHaveProperty(key);
    await answer({ n: 2 });
    await look(caller, taskId, "completed");
  });

  it("of another task's question change nothing", async () => {
    const caller = drive(taskServer());
    const [one, two] = [await begin(caller, "asks"), await begin(caller, "asks")];
    const { inputRequests } = await look(caller, one, "input_required");
    await look(caller, two, "input_required");
    const key = String(Object.keys(inputRequests as Wire)[0]);
    await caller.once("tasks/update", {
      taskId: one,
      inputResponses: { [key]: { action: "accept", content: { n: 1 } } },
    } as never);
    await look(caller, one, "completed");
    expect((await look(caller, two, "input_required"))["status"]).toBe("input_required");
  });
});

describe("names of the application that look like members of a prototype", () => {
  const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  it.each(NAMES)("%s as a tool, a question and a step", async (name) => {
    const server = make().tool(name, { task: "optional" }, async (_args, ctx) => {
      const a = await ctx.step(name, () => 1);
      const [b, c] = await Promise.all([ctx.elicit("b", N, { key: "b" }), ctx.elicit("c", N, { key: name })]);
      const d = await ctx.step(`${name}2`, () => 4);
      return `${a} ${b.n} ${c.n} ${d}`;
    });
    const caller = drive(server);
    const taskId = await begin(caller, name);
    const { inputRequests } = await look(caller, taskId, "input_required");
    const asked = Object.entries(inputRequests as Record<string, { params: { message: string } }>);
    expect(asked.map(([, { params }]) => params.message).sort()).toEqual(["b", "c"]);
    const given = asked.map(([key, { params }]) => [
      key,
      { action: "accept", content: { n: params.message === "b" ? 2 : 3 } },
    ]);
    await caller.once("tasks/update", { taskId, inputResponses: Object.fromEntries(given) } as never);
    expect(await look(caller, taskId, "completed")).toMatchObject({ result: { content: [{ text: "1 2 3 4" }] } });
  });
});

describe("tools that a caller may not call", () => {
  it("start no task, and a task that runs stays its owner's", async () => {
    let visible = true;
    const server = make()
      .tool("hidden", { task: "optional", visibleTo: () => visible }, async (_args, ctx) => hangs(ctx.signal))
      .tool("scoped", { task: "optional", scopes: ["deploy"] }, () => "deployed");
    const principal = (...scopes: string[]) => ({ principal: { key: "ada", scopes } });
    const caller = drive(server, principal("deploy"));
    const running = await begin(caller, "hidden");
    visible = false;
    expect((await caller.once("tools/call", { name: "hidden" })).error?.code).toBe(-32602);
    expect(await look(caller, running, "working")).toMatchObject({ taskId: running });
    expect((await caller.once("tasks/cancel", { taskId: running })).error).toBeUndefined();
    const lacking = await drive(server, principal()).once("tools/call", { name: "scoped" });
    expect(lacking.result?.["resultType"]).not.toBe("task");
    expect(lacking.answer.scopes).toEqual(["deploy"]);
    const made = await begin(caller, "scoped");
    expect(await look(caller, made, "completed")).toMatchObject({ result: { content: [{ text: "deployed" }] } });
  });
});

describe("limits", () => {
  const open = (options: TaskOptions, more: Omit<ServerOptions, "extensions"> = {}) =>
    make(options, more)
      .tool("hangs", { task: "optional" }, (_args, ctx) => hangs(ctx.signal))
      .tool("quick", { task: "optional" }, () => "done")
      .tool("long", { task: "optional" }, () => "x".repeat(5000));
  const as = (key: string) => ({ principal: { key } });
  const cases: [keyof NonNullable<TaskOptions["limits"]>, string, DriveOptions, DriveOptions][] = [
    ["running", "hangs", {}, as("ada")],
    ["runningPerPrincipal", "hangs", as("ada"), as("ada")],
    ["keptPerPrincipal", "hangs", as("ada"), as("ada")],
    ["kept", "hangs", {}, as("ada")],
  ];
  it.each(cases)("TASK25-17: `%s` refuses one more by its name and value", async (limit, tool, first, second) => {
    const server = open({ limits: { [limit]: 2 } });
    const caller = drive(server, first);
    for (let i = 0; i < 2; i++) await begin(caller, tool);
    const { error, answer } = await drive(server, second).once("tools/call", { name: tool });
    expect(error).toMatchObject({ data: { limit, value: 2, retryAfterMs: 1000 } });
    expect(error?.message).toMatch(
      /^2 tasks .* already (running|stored)(, and none of them has ended)?\. Wait until one has ended, then call/,
    );
    expect(answer).toMatchObject({ status: limit.endsWith("PerPrincipal") ? 429 : 503, retryAfterMs: 1000 });
  });

  it("per principal leave other principals alone, and are free again when a task is over", async () => {
    const server = open({ limits: { runningPerPrincipal: 1 } });
    const ada = drive(server, as("ada"));
    const taskId = await begin(ada, "hangs");
    await expect(begin(ada, "hangs")).rejects.toThrow("no task");
    await begin(drive(server, as("bob")), "hangs");
    await ada.once("tasks/cancel", { taskId });
    await look(ada, taskId, "cancelled");
    await begin(ada, "hangs");
  });

  it("are free again when a kept task has expired", async () => {
    let now = 1_000_000;
    const platform = { now: () => now, monotonic: () => now };
    const server = open({ ttlMs: 60_000, limits: { keptPerPrincipal: 1, kept: 1 } }, { platform });
    const ada = drive(server, as("ada"));
    await begin(ada, "hangs");
    await expect(begin(ada, "hangs")).rejects.toThrow("no task");
    now += 61_000;
    await begin(ada, "hangs");
  });

  it.each([
    ["keptPerPrincipal", as("ada")],
    ["kept", {}],
  ])("TASK25-17: `%s` drops the oldest task that is over, and none that runs", async (limit, options) => {
    const server = open({ limits: { [limit]: 3 } });
    const caller = drive(server, options);
    const running = await begin(caller, "hangs");
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.push(await begin(caller, "quick"));
      await look(caller, String(ids.at(-1)), "completed");
      // The list of its owner learns of the end a little later.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const kept = await Promise.all([running, ...ids].map((taskId) => caller.once("tasks/get", { taskId })));
    expect(kept.map(({ result }) => result?.["status"])).toEqual([
      "working",
      undefined,
      undefined,
      undefined,
      "completed",
      "completed",
    ]);
  });

  it("`taskLength` fails a task whose result is too long, with its reason", async () => {
    const caller = drive(open({ limits: { taskLength: 3000 } }));
    const taskId = await begin(caller, "long");
    const task = await look(caller, taskId, "failed", "completed");
    expect(task).toMatchObject({ status: "failed", error: { message: expect.stringContaining("3000 characters") } });
  });

  it("`taskLength` refuses a call that is too long to be kept", async () => {
    const server = make({ limits: { taskLength: 3000 } }).tool(
      "echo",
      { task: "optional", input: z.object({ text: z.string() }) },
      () => "",
    );
    const { error } = await drive(server).once("tools/call", { name: "echo", arguments: { text: "x".repeat(4000) } });
    expect(error).toMatchObject({ data: { limit: "taskLength", value: 3000 } });
  });

  it("`concurrency` of a tool and `limits.calls` hold for tasks", async () => {
    let [running, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return "done";
    };
    for (const [options, more] of [
      [{ concurrency: 2 }, {}],
      [{}, { limits: { calls: 2 } }],
    ] as const) {
      most = 0;
      const server = make({}, more).tool("work", { task: "optional", ...options }, work);
      const caller = drive(server);
      const ids = [];
      for (let i = 0; i < 6; i++) ids.push(await begin(caller, "work"));
      for (const id of ids) await look(caller, id, "completed");
      expect(most).toBe(2);
    }
  });

  it("`timeoutMs` of a tool ends its task, and does not count the time of questions", async () => {
    const server = make()
      .tool("hangs", { task: "optional", timeoutMs: 40 }, (_args, ctx) => hangs(ctx.signal))
      .tool(
        "asks",
        { task: "optional", timeoutMs: 60 },
        async (_args, ctx) => `n is ${(await ctx.elicit("how many?", N)).n}`,
      );
    const caller = drive(server);
    const late = await look(caller, await begin(caller, "hangs"), "completed", "failed");
    expect(JSON.stringify(late)).toContain("40 ms");
    const taskId = await begin(caller, "asks");
    const { inputRequests } = await look(caller, taskId, "input_required");
    await new Promise((resolve) => setTimeout(resolve, 120));
    const key = String(Object.keys(inputRequests as Wire)[0]);
    await caller.once("tasks/update", {
      taskId,
      inputResponses: { [key]: { action: "accept", content: { n: 2 } } },
    } as never);
    expect(await look(caller, taskId, "completed")).toMatchObject({ result: { content: [{ text: "n is 2" }] } });
  });

  it("a refused call leaves nothing behind", async () => {
    const server = open({ limits: { runningPerPrincipal: 1, kept: 3 } });
    const ada = drive(server, as("ada"));
    await begin(ada, "hangs");
    for (let i = 0; i < 5; i++) await expect(begin(ada, "hangs")).rejects.toThrow("no task");
    await begin(drive(server), "quick");
  });
});

describe("handlers of tasks that misbehave", () => {
  const handlers: [string, () => unknown, object][] = [
    [
      "throws an error",
      () => {
        throw new Error("disk full");
      },
      { status: "completed", result: { isError: true } },
    ],
    [
      "throws an McpError",
      () => {
        throw new McpError("invalid_params", "bad");
      },
      { status: "failed", error: { code: -32602, message: "bad" } },
    ],
    ["rejects", () => Promise.reject(new Error("disk full")), { status: "completed", result: { isError: true } }],
    [
      "throws nothing",
      () => {
        throw undefined;
      },
      { status: "completed", result: { isError: true } },
    ],
    [
      "returns a cycle",
      () => {
        const a: Wire = {};
        a["a"] = a;
        return a;
      },
      { status: "failed", error: { code: -32603 } },
    ],
    ["returns a BigInt", () => ({ n: 1n }), { status: "failed", error: { code: -32603 } }],
    ["returns nothing", () => undefined, { status: "completed" }],
  ];
  it.each(handlers)("TASK26-08: one that %s ends its task", async (_name, handler, expected) => {
    const server = make().tool("odd", { task: "optional" }, handler as never);
    const caller = drive(server);
    const task = await look(caller, await begin(caller, "odd"), "completed", "failed");
    expect(task).toMatchObject(expected);
    const direct = await drive(server, { capabilities: {} }).once("tools/call", { name: "odd" });
    const { _meta, ...plain } = direct.result ?? {};
    // The references of unexpected errors differ.
    if (direct.result !== undefined) expect({ ...(task["result"] as object), _meta: undefined }).toEqual(plain);
    else expect(task["error"]).toMatchObject({ code: direct.error?.code, message: direct.error?.message });
  });

  it("one that never settles is cancelled all the same", async () => {
    const server = make().tool("odd", { task: "optional" }, () => new Promise<string>(() => {}));
    const caller = drive(server);
    const taskId = await begin(caller, "odd");
    await caller.once("tasks/cancel", { taskId });
    expect(await look(caller, taskId, "cancelled")).not.toHaveProperty("result");
  });
});
