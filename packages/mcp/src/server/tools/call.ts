import { isThenable } from "../../encoding/thenable.js";
import { checkParamHeaders } from "../../era/stateless/param-headers.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { CallDeadline } from "../call/call-deadline.js";
import { CallLimit } from "../call/call-limit.js";
import type { ServerFacts } from "../call/facts.js";
import type { ServerCall } from "../call/server-call.js";
import { requireCapabilities } from "../questions/can-ask.js";
import { askForVisits, isUrlRequired } from "../questions/url-required.js";
import { type ReadArguments, readArguments, refuseArguments } from "./arguments.js";
import { OverflowStore } from "./overflow-store.js";
import type { ReadyTool } from "./ready-tool.js";
import { toCallResult, toErrorResult } from "./result.js";
import { limitResult } from "./result-limit.js";

/** A result that is there, or will be. */
type SoonResult = CallToolResult | Promise<CallToolResult>;

/** What is needed of a tool to run it with arguments that were read. */
export type RunnableTool = Pick<ReadyTool, "name" | "output" | "timeoutMs" | "limit" | "resultLimit" | "handler">;

/** Calls the tools of one server: who may, with what, when there is room, and for how long. */
export class ToolCalls {
  /** Results that were too large for their answer. */
  readonly overflow: OverflowStore;
  readonly #limit: CallLimit;

  constructor({ platform, limits }: ServerFacts) {
    this.overflow = new OverflowStore(platform);
    const { calls: running, queuedCalls: queued } = limits;
    this.#limit = new CallLimit({ what: "this server", option: "limits.calls", running, queued });
  }

  /** Calls a tool with the arguments that came. */
  call(tool: ReadyTool, args: Record<string, unknown>, run: ServerCall): SoonResult {
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
    if (isThenable(read)) return Promise.resolve(read).then((settled) => this.#withArguments(tool, settled, run));
    return this.#withArguments(tool, read, run);
  }

  #withArguments(tool: ReadyTool, read: ReadArguments, run: ServerCall): SoonResult {
    return read.ok ? this.run(tool, read.value, run) : refuseArguments(tool, read, run);
  }

  /** Runs a tool with arguments that were read, when there is room for the call. */
  run(tool: RunnableTool, args: unknown, run: ServerCall): SoonResult {
    const turn = this.#enter(tool, run);
    return turn === undefined ? this.#execute(tool, args, run) : turn.then(() => this.#execute(tool, args, run));
  }

  /** The tool's own queue comes first, so that calls which wait for it take no place of other tools. */
  #enter(tool: RunnableTool, run: ServerCall): undefined | Promise<void> {
    const turn = tool.limit?.enter(run);
    return turn === undefined ? this.#enterServer(tool, run) : turn.then(() => this.#enterServer(tool, run));
  }

  #enterServer(tool: RunnableTool, run: ServerCall): undefined | Promise<void> {
    const refused = (error: unknown): never => {
      tool.limit?.leave();
      throw error;
    };
    try {
      return this.#limit.enter(run)?.catch(refused);
    } catch (error) {
      return refused(error);
    }
  }

  /** A handler that returns a value is served without any promise; one that returns a promise by `#settle`. */
  #execute(tool: RunnableTool, args: unknown, run: ServerCall): SoonResult {
    const leave = this.#leaving(tool, run);
    let made: SoonResult;
    try {
      if (tool.timeoutMs !== undefined) run.deadline = deadlineOf(tool, tool.timeoutMs, run);
      const value = tool.handler(args, run.ctx);
      if (isThenable(value)) return this.#settle(tool, value, toCallResult, leave, run);
      made = toCallResult(tool, value, run);
    } catch (error) {
      leave();
      return this.#failed(tool, error, run);
    }
    // A schema library may check the result asynchronously.
    if (isThenable(made)) return this.#settle(tool, made, sameResult, leave, run);
    leave();
    return this.#limited(tool, made, run);
  }

  async #settle<T>(
    tool: RunnableTool,
    value: PromiseLike<T>,
    toResult: (tool: RunnableTool, value: T, run: ServerCall) => SoonResult,
    leave: () => void,
    run: ServerCall,
  ): Promise<CallToolResult> {
    run.whenInterrupted(leave);
    let result: CallToolResult;
    try {
      const settled = await (run.deadline === undefined ? value : run.deadline.race(value));
      const made = toResult(tool, settled, run);
      result = isThenable(made) ? await made : made;
    } catch (error) {
      leave();
      return this.#failed(tool, error, run);
    }
    leave();
    return this.#limited(tool, result, run);
  }

  /** Gives back the place of a handler, once. */
  #leaving(tool: RunnableTool, run: ServerCall): () => void {
    let over = false;
    return () => {
      if (over) return;
      over = true;
      run.deadline?.end();
      this.#limit.leave();
      tool.limit?.leave();
    };
  }

  #failed(tool: RunnableTool, error: unknown, run: ServerCall): SoonResult {
    if (run.call.era.asks !== "replay" || !isUrlRequired(error)) {
      return this.#limited(tool, toErrorResult(error, run), run);
    }
    return askForVisits(run, error).catch((refused) => toErrorResult(refused, run));
  }

  #limited(tool: RunnableTool, result: CallToolResult, run: ServerCall): CallToolResult {
    return tool.resultLimit === undefined ? result : limitResult(tool, tool.resultLimit, result, run, this.overflow);
  }
}

function sameResult(_tool: RunnableTool, result: CallToolResult): CallToolResult {
  return result;
}

/** Refuses an authorized caller without the scopes; the transport turns them into a challenge. */
function checkScopes(tool: ReadyTool, run: ServerCall): void {
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

/** When the time is over the handler is told to stop, and no longer waited for. */
function deadlineOf(tool: RunnableTool, ms: number, run: ServerCall): CallDeadline {
  return new CallDeadline(run.facts.platform, ms, () => {
    const late = new McpError("timeout", `The tool "${tool.name}" did not finish within ${ms} ms.`, {
      data: { limit: "timeoutMs", ms },
      fix: "Ask for less, or raise `timeoutMs` of the tool.",
    });
    run.abort(late);
    return late;
  });
}
