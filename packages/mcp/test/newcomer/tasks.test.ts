import { connect, type HandlerContext, McpError, Server } from "@parley/mcp";
import { type TaskPolicy, tasks } from "@parley/mcp/tasks";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { expectTold, loosely, type Told } from "./told.js";

const info = { name: "shop", version: "1" };
const noop = () => "";
const defined = (message: string, fix: string): Told => ({ kind: "invalid_definition", message, fix });
const WHOLE = "Pass a whole number above 0.";
const NEEDED = 'Pass `extensions: [tasks()]` to the server, from "@parley/mcp/tasks".';
const withTasks = () => new Server(info, { extensions: [tasks()] });
const policy = (task: unknown) => () => withTasks().tool("buy", { task: loosely(task) }, noop);

const MISTAKES: [what: string, mistake: () => unknown, told: Told][] = [
  [
    "a task without the extension",
    () => new Server(info).tool("buy", { task: "optional" }, noop),
    defined('`task` of tool "buy" needs an extension', NEEDED),
  ],
  [
    "the extension without its brackets",
    () => new Server(info, { extensions: loosely([tasks]) }).tool("buy", { task: "optional" }, noop),
    defined('`task` of tool "buy" needs an extension', NEEDED),
  ],
  [
    "a task for a client without the extension",
    async () => (await connect(withTasks().tool("buy", { task: "optional" }, noop))).startTask("buy"),
    {
      kind: "misuse",
      message: "this client does not have the extension io.modelcontextprotocol/tasks",
      fix: "Pass it in `extensions` of `connect`.",
    },
  ],
  [
    "the extension twice",
    () => new Server(info, { extensions: [tasks(), tasks()] }),
    defined(
      "the extension io.modelcontextprotocol/tasks was given twice",
      "Pass it once in `extensions` of `new Server`.",
    ),
  ],
  [
    "an option with another unit",
    () => tasks(loosely({ ttl: 5 })),
    defined(
      '"ttl" is not an option of the tasks extension',
      "Leave it out, or use one of: ttlMs, maxTtlMs, pollIntervalMs, leaseMs, answerMs, limits, askByTask, answerByTask.",
    ),
  ],
  [
    "the storage given to the extension",
    () => tasks(loosely({ storage: {} })),
    defined('"storage" is not an option of the tasks extension', "Pass it to `new Server`."),
  ],
  ["a time as text", () => tasks({ ttlMs: loosely("1h") }), defined("`ttlMs` of the tasks extension is 1h", WHOLE)],
  ["no time at all", () => tasks({ leaseMs: 0 }), defined("`leaseMs` of the tasks extension is 0", WHOLE)],
  [
    "endless tasks",
    () => tasks({ maxTtlMs: Number.POSITIVE_INFINITY }),
    defined("`maxTtlMs` of the tasks extension is Infinity", WHOLE),
  ],
  [
    "a limit as text",
    () => tasks({ limits: { running: loosely("9") } }),
    defined("`running` of the tasks extension is 9", WHOLE),
  ],
  [
    "a limit that does not exist",
    () => tasks({ limits: loosely({ runing: 5 }) }),
    defined(
      '"runing" is not an option of `limits` of the tasks extension; did you mean "running"?',
      "Write `running` in place of `runing`.",
    ),
  ],
  [
    "a switch that is none",
    () => tasks({ askByTask: loosely("yes") }),
    defined('`askByTask` of the tasks extension is "yes"', "Pass true or false."),
  ],
  [
    "a support that does not exist",
    policy("always"),
    defined('`task.support` of tool "buy" is "always"', 'Write "optional", "required" or "never".'),
  ],
  [
    "a switch for the support",
    policy(true),
    defined('`task.support` of tool "buy" is true', 'Write "optional", "required" or "never".'),
  ],
  [
    "a begin that does not exist",
    policy({ support: "optional", begin: "later" } satisfies Record<
      keyof Pick<TaskPolicy, "support" | "begin">,
      string
    >),
    defined('`task.begin` of tool "buy" is "later"', 'Write "call" or "handler".'),
  ],
  [
    "retries that cannot be counted",
    policy({ support: "optional", retry: -1 }),
    defined('`task.retry` of tool "buy" is -1', "Pass a whole number, 0 or more."),
  ],
  [
    "a policy with a typo",
    policy({ support: "optional", retries: 3 }),
    defined(
      '"retries" is not an option of `task` of tool "buy"',
      "Leave it out, or use one of: support, begin, ttlMs, pollIntervalMs, retry.",
    ),
  ],
];

describe("a mistake with tasks", () => {
  it.each(MISTAKES)("is told: %s", (_what, mistake, told) => expectTold(mistake, told));
});

describe("a handler that", () => {
  /** Calls one tool five times on a server where two tasks may run; gives the results and what the server printed. */
  async function called(task: TaskPolicy | undefined, handler: (ctx: HandlerContext) => unknown) {
    const lines: string[] = [];
    const options = { platform: { warn: (line: string) => void lines.push(line) } };
    const extensions = [tasks({ pollIntervalMs: 10, limits: { running: 2 } })];
    const server = new Server(info, { ...options, extensions }).tool(
      "buy",
      task === undefined ? {} : { task },
      async (_args, ctx) => String(await handler(ctx)),
    );
    const client = await connect(server, {
      extensions: [tasks()],
      onElicit: () => ({ action: "accept", content: { n: 1 } }),
    });
    const results: unknown[] = [];
    for (let i = 0; i < 5; i++)
      results.push(await client.call("buy").catch((error: unknown) => McpError.from(error).message));
    await client.close();
    await server.close();
    return { results, lines };
  }
  const later: TaskPolicy = { support: "optional", begin: "handler" };

  it("does not await `ctx.startTask` gets its task, and none is left running", async () => {
    const { results } = await called(later, (ctx) => {
      void ctx.startTask();
      return "bought";
    });
    expect(results).toEqual(Array(5).fill("bought"));
  });

  it("does not await `ctx.startTask` and asks is told so, and none is left running", async () => {
    const { results } = await called(later, async (ctx) => {
      void ctx.startTask();
      return (await ctx.elicit("how many?", z.object({ n: z.number() }))).n;
    });
    const told = "the handler asked before its task had begun; write `await ctx.startTask()`";
    for (const result of results) expect([told, "1"]).toContain(result);
    expect(results).toHaveLength(5);
  });

  it("calls `ctx.startTask` in a tool without `task` runs within its call, and is told once", async () => {
    const { results, lines } = await called(undefined, (ctx) => ctx.startTask());
    expect(results).toEqual(Array(5).fill("false"));
    expect(lines).toEqual([
      'the tool "buy" called `ctx.startTask`, but its calls cannot become tasks: add `task: { support: "optional", begin: "handler" }`',
    ]);
  });

  it("calls `ctx.startTask` where the call is a task already goes on", async () => {
    const { results, lines } = await called({ support: "optional" }, (ctx) => ctx.startTask());
    expect(results).toEqual(Array(5).fill("true"));
    expect(lines).toEqual([]);
  });

  it("does not await a step of its task is told so", async () => {
    const { results, lines } = await called({ support: "optional" }, (ctx) => {
      void ctx.step("pay", () => new Promise((resolve) => setTimeout(resolve, 30)));
      return "bought";
    });
    expect(results).toEqual(Array(5).fill("bought"));
    expect(lines.join()).toContain('`ctx.step` was not awaited: the handler of "buy" returned before it was done');
  });
});

describe("two processes without a storage of both", () => {
  it("do not know each other's tasks, and say so", async () => {
    const process = () => new Server(info, { extensions: [tasks()] }).tool("buy", { task: "required" }, noop);
    const [one, two] = [process(), process()];
    const first = await connect(one, { extensions: [tasks()] });
    const handle = await first.startTask("buy");
    const second = await connect(two, { extensions: [tasks()] });
    await expectTold(() => second.task({ taskId: handle.id ?? "" }).result(), {
      kind: "invalid_params",
      message: "the task does not exist or has expired",
      fix: /\.$/,
    });
    for (const open of [first, second, one, two]) await open.close();
  });
});
