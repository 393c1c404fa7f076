import type { HandlerContext } from "../../src/server/contract/context.js";
import { ToolError } from "../../src/server/contract/tool.js";
import { Server } from "../../src/server/server.js";
import type { Storage } from "../../src/storage/storage.js";
import type { Execution, History } from "./history.js";
import type { SimProcess } from "./sim-process.js";
import type { World } from "./world.js";

/** What the handlers of one server process need. */
export interface ServerParts {
  readonly world: World;
  readonly history: History;
  readonly process: SimProcess;
  /** Counts who watches a resource; must be balanced in the end. */
  watched(uri: string, by: 1 | -1): void;
  storage: Storage | undefined;
}

interface Work {
  nonce: string;
  steps?: number;
  gap?: number;
}

const INPUT = {
  type: "object",
  properties: { nonce: { type: "string" }, steps: { type: "integer" }, gap: { type: "number" } },
  required: ["nonce"],
} as const;

const ANSWER = { type: "object", properties: { word: { type: "string" } }, required: ["word"] } as const;

/** The server that every simulated process runs; all its effects are in the history. */
export function makeServer(parts: ServerParts): Server {
  const { process, storage } = parts;
  const server = new Server(
    { name: "simulated", version: "1.0.0" },
    {
      platform: process.platform,
      secret: "the same in every process of this server",
      ...(storage === undefined ? {} : { storage }),
      onSubscribe: (uri) => parts.watched(uri, 1),
      onUnsubscribe: (uri) => parts.watched(uri, -1),
    },
  );
  server.tool("echo", { input: INPUT, annotations: { readOnlyHint: true } }, (work, ctx) => run(parts, work, ctx));
  server.tool("write", { input: INPUT }, (work, ctx) => run(parts, work, ctx, working));
  server.tool("stubborn", { input: INPUT }, (work, ctx) => run(parts, work, ctx, stubborn));
  server.tool("ask", { input: INPUT }, (work, ctx) => run(parts, work, ctx, asking));
  server.tool("charge", { input: INPUT }, (work, ctx) => run(parts, work, ctx, charging));
  server.tool("paused", { input: INPUT }, (work, ctx) => run(parts, work, ctx, paused));
  server.tool("fails", { input: INPUT }, (work, ctx) => run(parts, work, ctx, failing));
  server.resourceTemplate("mem://{client}/{name}", { name: "memory" }, ({ client, name }) => `${client} ${name}`);
  return server as unknown as Server;
}

type Act = (parts: ServerParts, work: Work, ctx: HandlerContext, run: Execution) => Promise<void>;

async function run(parts: ServerParts, work: Work, ctx: HandlerContext, act?: Act): Promise<string> {
  const { history, process } = parts;
  const execution = history.execute({
    nonce: work.nonce,
    principal: ctx.auth?.key ?? "nobody",
    carrier: String(ctx.auth?.claims?.carrier),
    requestId: ctx.requestId,
    stateless: ctx.protocolVersion === "2026-07-28",
    process,
    signal: ctx.signal,
    reported: [],
    value: undefined,
    finished: false,
    abortedFirst: false,
    finishedAt: 0,
    answered: false,
    abandoned: false,
  });
  try {
    await act?.(parts, work, ctx, execution);
    const value = `${work.nonce} by run ${execution.number}`;
    history.finish(execution, value);
    return value;
  } catch (error) {
    history.finish(execution, undefined);
    throw error;
  }
}

/** Reports progress between pauses, and stops when it is told to. */
const working: Act = async ({ process }, { nonce, steps = 0, gap = 10 }, ctx, execution) => {
  for (let step = 1; step <= steps; step++) {
    await process.sleep(gap);
    if (ctx.signal.aborted) throw new ToolError("stopped");
    execution.reported.push(step);
    ctx.progress(step, { total: steps, message: nonce });
    if (step === 2) ctx.log("info", { owner: nonce });
  }
};

/** Works on, whatever it is told. */
const stubborn: Act = async ({ process }, { nonce, steps = 1, gap = 10 }, ctx, execution) => {
  for (let step = 1; step <= steps; step++) {
    await process.sleep(gap);
    execution.reported.push(step);
    ctx.progress(step, { message: nonce });
  }
};

const asking: Act = async (parts, { nonce, steps = 1, gap = 10 }, ctx) => {
  if (!ctx.client.can("elicitation.form")) throw new ToolError("nobody to ask");
  await parts.process.sleep(gap);
  await ctx.step("counted", () => parts.history.step(nonce));
  const questions = Array.from({ length: steps }, (_, at) => ctx.tryElicit(`${nonce} ${at}`, ANSWER));
  const answers = await Promise.all(questions);
  for (const [at, answer] of answers.entries()) {
    if (answer.action === "accept" && answer.content.word !== `${nonce} ${at}`) {
      parts.world.violate("I5", `${nonce} was answered with ${answer.content.word}`);
    }
  }
};

/** A step that takes its time, beside a question. */
const charging: Act = async (parts, { nonce, gap = 10 }, ctx) => {
  if (!ctx.client.can("elicitation.form")) throw new ToolError("nobody to ask");
  const slow = async () => {
    const count = parts.history.step(nonce);
    // A server waits for a step that goes on although nobody wants it.
    const unwanted = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve, { once: true }));
    await Promise.race([parts.process.sleep(gap), unwanted]);
    return count;
  };
  await Promise.all([ctx.step("charged", slow), ctx.tryElicit(`${nonce} 0`, ANSWER)]);
};

/** Lets go of its connection, where that is possible, and goes on. */
const paused: Act = async ({ process }, { nonce, steps = 2, gap = 10 }, ctx, execution) => {
  for (let step = 1; step <= steps; step++) {
    await process.sleep(gap);
    if (ctx.signal.aborted) throw new ToolError("stopped");
    execution.reported.push(step);
    ctx.progress(step, { message: nonce });
    if (step === 1) ctx.http?.pause(700);
  }
};

const failing: Act = async ({ process }, { nonce, gap = 5 }) => {
  await process.sleep(gap);
  throw new ToolError(nonce);
};
