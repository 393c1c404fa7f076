import { isThenable } from "../../encoding/thenable.js";
import { checkParamHeaders } from "../../era/stateless/param-headers.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { CallDeadline } from "../call/call-deadline.js";
import type { Run } from "../call/server-call.js";
import { requireCapabilities } from "../questions/by-request.js";
import { askForVisits, isUrlRequired } from "../questions/url-required.js";
import { type ReadArguments, readArguments, refuseArguments } from "./arguments.js";
import type { ReadyTool } from "./ready-tool.js";
import { toCallResult, toErrorResult } from "./result.js";
import { limitResult } from "./result-limit.js";

type Made = CallToolResult | Promise<CallToolResult>;

/** Calls a tool: who may, with what, when there is room, and for how long. */
export function callTool(tool: ReadyTool, args: Record<string, unknown>, run: Run): Made {
  if (tool.scopes.length > 0) checkScopes(tool, run);
  if (tool.requires.length > 0) {
    try {
      requireCapabilities(run, tool.requires);
    } catch (error) {
      return toErrorResult(error, run);
    }
  }
  if (tool.headers.length > 0 && run.exchange.http !== undefined && run.call.era.mirrorsParams) {
    checkParamHeaders(tool.headers, args, run.exchange.http);
  }
  const read = readArguments(tool, args, run);
  return read instanceof Promise ? read.then((settled) => admit(tool, settled, run)) : admit(tool, read, run);
}

/** Refuses an authorized caller without the scopes; the transport turns them into a challenge. */
function checkScopes(tool: ReadyTool, run: Run): void {
  const { principal, peer, http } = run.exchange;
  const auth = principal ?? peer?.principal;
  // A pipe to a parent process knows no authorization; over HTTP its absence must not open what it guards.
  if (auth === undefined && http === undefined) return;
  const missing = tool.scopes.filter((scope) => auth?.scopes?.includes(scope) !== true);
  if (missing.length === 0) return;
  run.scopes = [...tool.scopes];
  throw new McpError("insufficient_scope", `the tool "${tool.name}" needs the scope ${missing.join(" ")}`, {
    data: { scopes: tool.scopes },
    fix: "Authorize again with the scopes in `data.scopes`.",
  });
}

function admit(tool: ReadyTool, read: ReadArguments, run: Run): Made {
  return read.ok ? runTool(tool, read.value, run) : refuseArguments(tool, read, run);
}

/** What is needed of a tool to run it with arguments that were read. */
export type RunnableTool = Pick<ReadyTool, "name" | "output" | "timeoutMs" | "limit" | "resultLimit" | "handler">;

/** Runs a tool when there is room for the call. */
export function runTool(tool: RunnableTool, args: unknown, run: Run): Made {
  const ownTurn = tool.limit?.enter(run);
  if (ownTurn !== undefined) return ownTurn.then(() => admitToServer(tool, args, run));
  return admitToServer(tool, args, run);
}

/** The tool's own queue comes first, so that calls which wait for it take no place of other tools. */
function admitToServer(tool: RunnableTool, args: unknown, run: Run): Made {
  let turn: undefined | Promise<void>;
  try {
    turn = run.core.calls.enter(run);
  } catch (error) {
    tool.limit?.leave();
    throw error;
  }
  if (turn === undefined) return execute(tool, args, run);
  return turn.then(
    () => execute(tool, args, run),
    (error) => {
      tool.limit?.leave();
      throw error;
    },
  );
}

/** The end of a handler that has a place among those that run. */
function ending(tool: RunnableTool, run: Run): () => void {
  let over = false;
  return () => {
    if (over) return;
    over = true;
    run.deadline?.end();
    run.core.calls.leave();
    tool.limit?.leave();
  };
}

function execute(tool: RunnableTool, args: unknown, run: Run): Made {
  const leave = ending(tool, run);
  let made: Made;
  try {
    if (tool.timeoutMs !== undefined) run.deadline = deadlineOf(tool, tool.timeoutMs, run);
    const value = tool.handler(args, run.ctx);
    made = isThenable(value) ? settle(tool, value, run) : toCallResult(tool, value, run);
  } catch (error) {
    leave();
    return failed(tool, error, run);
  }
  if (!(made instanceof Promise)) {
    leave();
    return limited(tool, made, run);
  }
  run.whenInterrupted(leave);
  return made.then(
    (result) => {
      leave();
      return limited(tool, result, run);
    },
    (error) => {
      leave();
      return failed(tool, error, run);
    },
  );
}

function failed(tool: RunnableTool, error: unknown, run: Run): Made {
  if (run.call.era.asks !== "replay" || !isUrlRequired(error)) return limited(tool, toErrorResult(error, run), run);
  return askForVisits(run, error).catch((refused) => toErrorResult(refused, run));
}

function settle(tool: RunnableTool, value: PromiseLike<unknown>, run: Run): Promise<CallToolResult> {
  const promise = run.deadline === undefined ? Promise.resolve(value) : run.deadline.race(value);
  return promise.then((settled) => toCallResult(tool, settled, run));
}

/** When the time is over the handler is told to stop, and no longer waited for. */
function deadlineOf(tool: RunnableTool, ms: number, run: Run): CallDeadline {
  return new CallDeadline(run.core.platform, ms, () => {
    const late = new McpError("timeout", `The tool "${tool.name}" did not finish within ${ms} ms.`, {
      data: { limit: "timeoutMs", ms },
      fix: "Ask for less, or raise `timeoutMs` of the tool.",
    });
    run.abort(late);
    return late;
  });
}

function limited(tool: RunnableTool, result: CallToolResult, run: Run): CallToolResult {
  return tool.resultLimit === undefined ? result : limitResult(tool, tool.resultLimit, result, run);
}
