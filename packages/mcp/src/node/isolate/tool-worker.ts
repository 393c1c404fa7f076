// The program of a worker: loads the modules of isolated tools and runs their functions, one call at a time.
import { McpError } from "../../protocol/error.js";
import { isInputRequired } from "../../server/call/input-required.js";
import type { HandlerContext } from "../../server/contract/context.js";
import { builtin } from "../builtin.js";
import { guardRejections } from "../rejection-guard.js";
import { IsolatedContext } from "./isolated-context.js";
import { outcomeOf, portableError, portableFailure } from "./portable-outcome.js";
import { type FromWorker, marked, type ToWorker } from "./worker-messages.js";

type ToolFunction = (args: unknown, ctx: HandlerContext) => unknown;

const { parentPort, Worker } = builtin("node:worker_threads");
const post = (message: FromWorker) => {
  if (parentPort === null) process.send?.(marked(message));
  else parentPort.postMessage(marked(message));
};

let current: { readonly call: number; readonly ctx: IsolatedContext } | undefined;

function receive(message: ToWorker): void {
  if (message.type === "call") {
    void run(message);
    return;
  }
  if (message.call !== current?.call) return;
  const { ctx } = current;
  if (message.type === "abort") ctx.abort(message.reason);
  else if (message.type === "answer") ctx.answer(message.ask, message.outcome);
  else if (message.type === "work") void ctx.work(message.ask);
  else ctx.read();
}

async function run({ call, module, name, args, callInfo }: Extract<ToWorker, { type: "call" }>): Promise<void> {
  const ctx = new IsolatedContext(call, callInfo, post);
  current = { call, ctx };
  let tool: ToolFunction;
  try {
    tool = await load(module, name);
  } catch (error) {
    post({ type: "unloadable", call, error: portableError(error) });
    return;
  }
  // The call was cancelled during loading and has been rejected, so the function must not start.
  if (ctx.signal.aborted) {
    post({ type: "ended", call, outcome: portableFailure(ctx.signal.reason) });
    return;
  }
  post({ type: "started", call });
  const outcome = await outcomeOf(() => tool(args, ctx));
  ctx.end();
  post({ type: "ended", call, outcome });
}

async function load(module: string, name: string): Promise<ToolFunction> {
  const loaded = (await import(module)) as Record<string, unknown>;
  const found = loaded[name];
  // Safe: the tool definition declares the parameters that this function receives.
  if (typeof found === "function") return found as ToolFunction;
  const functions = Object.keys(loaded).filter((key) => typeof loaded[key] === "function");
  throw new McpError("invalid_definition", `the module does not export a function "${name}"`, {
    fix:
      functions.length === 0 ? "Export a function as default." : `Set \`export\` to one of: ${functions.join(", ")}.`,
  });
}

/**
 * Program that kills this process after the parent process has ended. Runs in a separate thread, so that it works even
 * while a tool blocks the main thread.
 */
const WATCH = `
  const { parent } = process.getBuiltinModule("node:worker_threads").workerData;
  const isGone = () => {
    if (process.platform !== "win32") return process.ppid !== parent;
    try { process.kill(parent, 0); return false; } catch (error) { return error.code === "ESRCH"; }
  };
  setInterval(() => {
    if (isGone()) process.kill(process.platform === "win32" ? process.pid : -process.pid, "SIGKILL");
  }, 500);
`;

guardRejections(isInputRequired);
if (parentPort === null) {
  new Worker(WATCH, { eval: true, execArgv: [], workerData: { parent: Number(process.argv[2]) } }).unref();
  process.on("disconnect", () => process.exit());
  process.on("message", (message) => receive(message as ToWorker));
} else {
  // Print to stderr, because the stdout of the process may carry the protocol. The parent does not read the worker's
  // stdout, because reading would keep the process alive.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  parentPort.on("message", receive);
}
post({ type: "ready" });
