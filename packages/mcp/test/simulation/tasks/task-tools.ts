import { tasks } from "../../../src/extensions/tasks/tasks.js";
import type { HandlerContext } from "../../../src/server/contract/context.js";
import { ToolError } from "../../../src/server/contract/tool.js";
import { Server } from "../../../src/server/server.js";
import type { ServerParts } from "../sim-server.js";
import { RETRIES, type TaskExecution, type TaskLedger, type TaskWork } from "./task-ledger.js";

/** How the servers of one run treat tasks. */
export interface TaskPlan {
  ttlMs: number;
  pollIntervalMs: number;
  leaseMs: number;
  answerMs: number;
}

const INPUT = {
  type: "object",
  properties: {
    nonce: { type: "string" },
    parts: { type: "integer" },
    gap: { type: "number" },
  },
  required: ["nonce", "parts", "gap"],
} as const;

const ANSWER = { type: "object", properties: { word: { type: "string" } }, required: ["word"] } as const;

/** Tasks that end before their handlers do. */
export const SHORT_MS = 4_000;
/** Tasks that end by being cancelled, or with their time to live. */
export const ENDLESS_MS = 40_000;

/** What every run of a tool comes to, as a task or not; `words` are the answers that it was given. */
export function expectedValue({ nonce, parts }: TaskWork, tool: string, words: readonly string[]): string {
  const steps = tool === "plain" ? [] : Array.from({ length: parts }, (_, at) => `${nonce}.${at}`);
  return [nonce, ...steps, ...words].join(" ");
}

/** The question that a task asks as its `at`th. */
export function questionOf(nonce: string, at: number): string {
  return `${nonce} question ${at}`;
}

/** Makes the server of one process, whose tools run as tasks. */
export function taskServer(parts: ServerParts, ledger: TaskLedger, plan: TaskPlan): Server {
  const { process, storage } = parts;
  const { answerMs, ...options } = plan;
  const server = new Server(
    { name: "simulated", version: "1.0.0" },
    {
      platform: process.platform,
      secret: "the same in every process of this server",
      limits: { answerMs },
      extensions: [tasks({ ...options, answerMs })],
      ...(storage === undefined ? {} : { storage }),
    },
  );
  const runs = (name: string, act: Act) => (work: TaskWork, ctx: HandlerContext) =>
    run({ ledger, process, name }, work, ctx, act);
  server.tool("stepped", { input: INPUT, task: "optional" }, runs("stepped", stepping));
  server.tool("needed", { input: INPUT, task: "required" }, runs("needed", stepping));
  server.tool("plain", { input: INPUT, task: "optional" }, runs("plain", plain));
  const retrying = { support: "optional", retry: RETRIES["retrying"] } as const;
  server.tool("retrying", { input: INPUT, task: retrying }, runs("retrying", stepping));
  server.tool("late", { input: INPUT, task: { support: "optional", begin: "handler" } }, runs("late", stepping));
  server.tool("asking", { input: INPUT, task: "required" }, runs("asking", asking));
  server.tool("failing", { input: INPUT, task: "optional" }, runs("failing", failing));
  server.tool("short", { input: INPUT, task: { support: "required", ttlMs: SHORT_MS } }, runs("short", stepping));
  server.tool("endless", { input: INPUT, task: { support: "required", ttlMs: ENDLESS_MS } }, runs("endless", endless));
  return server as unknown as Server;
}

interface Around {
  readonly ledger: TaskLedger;
  readonly process: ServerParts["process"];
  readonly name: string;
}

type Act = (around: Around, work: TaskWork, ctx: HandlerContext, run: TaskExecution | undefined) => Promise<string[]>;

async function run(around: Around, work: TaskWork, ctx: HandlerContext, act: Act): Promise<string> {
  const { ledger, process, name } = around;
  const isTask = name === "late" ? await ctx.startTask() : ledger.tasks.has(ctx.callId);
  const execution = isTask ? ledger.begin(ctx.callId, ctx.auth?.key ?? "nobody", process, ctx.signal) : undefined;
  try {
    const words = await act(around, work, ctx, execution);
    return expectedValue(work, name, words);
  } finally {
    if (execution !== undefined) ledger.finish(execution);
  }
}

/** Does its work in steps, each of which takes its time. */
const stepping: Act = async ({ ledger, process }, { nonce, parts, gap }, ctx, execution) => {
  for (let at = 0; at < parts; at++) {
    ctx.progress(at, { message: `${nonce} at ${at}` });
    await process.sleep(gap);
    const value = await ctx.step(`s${at}`, async () => {
      if (execution !== undefined) ledger.step(execution, `s${at}`);
      await process.sleep(gap / 2);
      return `${nonce}.${at}`;
    });
    if (value !== `${nonce}.${at}`) throw new ToolError(`step ${at} gave ${JSON.stringify(value)}`);
  }
  return [];
};

/** Does its work in one go. */
const plain: Act = async ({ process }, { parts, gap }, ctx) => {
  for (let at = 0; at < parts && !ctx.signal.aborted; at++) await process.sleep(gap);
  return [];
};

/** Asks between its steps, several questions at once. */
const asking: Act = async (around, work, ctx, execution) => {
  const { ledger } = around;
  await stepping(around, work, ctx, execution);
  const words = Array.from({ length: work.parts }, async (_, at) => {
    const question = questionOf(work.nonce, at);
    const answer = await ctx.tryElicit(question, ANSWER);
    const word = answer.action === "accept" ? answer.content.word : "no";
    if (execution !== undefined) ledger.answered(execution, question, word);
    return word;
  });
  return Promise.all(words);
};

const failing: Act = async (around, work, ctx, execution) => {
  await stepping(around, work, ctx, execution);
  throw new ToolError(work.nonce);
};

/** Goes on until it is told to stop. */
const endless: Act = (_around, _work, { signal }) =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
