import { isThenable, type MaybePromise } from "../../encoding/maybe-promise.js";
import { readable } from "../../encoding/thrown-message.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { CallDeadline } from "../call/call-deadline.js";
import { requireCapabilities } from "../call/can-ask.js";
import type { ServerFacts } from "../call/facts.js";
import { isInputRequired } from "../call/input-required.js";
import type { Admission, ServerCall } from "../call/server-call.js";
import { inLayer } from "../call/spans.js";
import { isUrlRequired } from "../call/url-required.js";
import { withAsking } from "../questions/with-asking.js";
import { type ReadArguments, readArguments, refuseArguments } from "./arguments.js";
import { CallLimit } from "./call-limit.js";
import { OverflowStore } from "./overflow-store.js";
import type { CallSlots, ReadyTool } from "./ready-tool.js";
import { toCallResult, toErrorResult } from "./result.js";
import { limitResult } from "./result-limit.js";

/** The part of a tool that running it takes, once its arguments are parsed. */
export type RunnableTool = Pick<ReadyTool, "name" | "output" | "timeoutMs" | "limit" | "resultLimit" | "handler">;

/** Calls the tools of one server: checks the caller and the arguments, then runs the handler within its limits. */
export class ToolCalls {
  /** Results that were too large for their response. */
  readonly overflow: OverflowStore;
  /** Calls that wait for a free slot. */
  waiting = 0;
  readonly #slots: CallLimit;
  readonly #queued: number;

  constructor({ platform, limits }: ServerFacts) {
    this.overflow = new OverflowStore(platform);
    const { calls: running, queuedCalls: queued, callsPerPrincipal: share } = limits;
    this.#slots = new CallLimit({ what: "this server", option: "limits.calls", running, queued, share });
    this.#queued = queued;
  }

  /** The slots of a tool with a `concurrency`. */
  slotsOf(tool: string, running: number): CallSlots {
    return new CallLimit({ what: `the tool "${tool}"`, option: "concurrency", running, queued: this.#queued });
  }

  /** Serves a call of a tool: checks the client and the arguments, then runs it. */
  serve(tool: ReadyTool, call: ServerCall): MaybePromise<CallToolResult> {
    const args = call.objectParam("arguments");
    const lacking = tool.requires.length > 0 ? withoutCapabilities(tool, call) : undefined;
    if (lacking !== undefined) return lacking;
    const read =
      call.followers !== undefined
        ? inLayer(call, "arguments", () => readArguments(tool, args, call))
        : readArguments(tool, args, call);
    if (isThenable(read)) return this.#serveLater(tool, read, call);
    return read.ok ? this.run(tool, read.value, call) : refuseArguments(tool, read, call);
  }

  /** Continues the call when a schema library parses asynchronously. */
  async #serveLater(tool: ReadyTool, read: PromiseLike<ReadArguments>, call: ServerCall): Promise<CallToolResult> {
    const settled = await read;
    return settled.ok ? this.run(tool, settled.value, call) : refuseArguments(tool, settled, call);
  }

  /**
   * Runs a tool with parsed arguments as soon as a slot is free. A handler that returns a plain value is served without any
   * promise; everything else goes through `#settle`.
   */
  run(tool: RunnableTool, args: unknown, call: ServerCall): MaybePromise<CallToolResult> {
    const { admission } = call.root;
    const beforeTool = admission?.beforeTool;
    if (admission === undefined || beforeTool === undefined) return this.#enterAndExecute(tool, args, call);
    admission.beforeTool = undefined;
    return beforeTool().then(() => this.#enterAndExecute(tool, args, call));
  }

  #enterAndExecute(tool: RunnableTool, args: unknown, call: ServerCall): MaybePromise<CallToolResult> {
    const turn = this.#enter(tool, call);
    if (turn === undefined) return this.#execute(tool, args, call);
    this.waiting++;
    const waited = turn.finally(() => {
      this.waiting--;
    });
    return inLayer(call, "queue", () => waited).then(() => this.#execute(tool, args, call));
  }

  /** Waits for the tool's own limit first, so that waiting calls do not take the server's slots from other tools. */
  #enter(tool: RunnableTool, call: ServerCall): undefined | Promise<void> {
    const turn = tool.limit?.enter(call, undefined, call.root.admission?.slot?.waits);
    return turn === undefined ? this.#enterServer(tool, call) : turn.then(() => this.#enterServer(tool, call));
  }

  #enterServer(tool: RunnableTool, call: ServerCall): undefined | Promise<void> {
    try {
      return this.#slots
        .enter(call, keyOf(call), call.root.admission?.slot?.waits)
        ?.catch((error) => giveUp(tool, error));
    } catch (error) {
      return giveUp(tool, error);
    }
  }

  #execute(tool: RunnableTool, args: unknown, call: ServerCall): MaybePromise<CallToolResult> {
    const leave = this.#leaving(tool, call);
    let made: MaybePromise<CallToolResult>;
    try {
      if (tool.timeoutMs !== undefined) admissionOf(call).deadline = deadlineOf(tool, tool.timeoutMs, call);
      const value =
        call.followers !== undefined
          ? inLayer(call, "tool", () => tool.handler(args, call.ctx), tool.name)
          : tool.handler(args, call.ctx);
      if (isThenable(value)) return this.#settle(tool, args, value, toCallResult, leave, call);
      made =
        call.followers !== undefined
          ? inLayer(call, "result", () => toCallResult(tool, value, call))
          : toCallResult(tool, value, call);
    } catch (error) {
      leave();
      return this.#failed(tool, args, error, call);
    }
    // A schema library may check the result asynchronously.
    if (isThenable(made)) return this.#settle(tool, args, made, sameResult, leave, call);
    leave();
    return tool.resultLimit === undefined ? made : limitResult(tool, tool.resultLimit, made, call, this.overflow);
  }

  async #settle<T>(
    tool: RunnableTool,
    args: unknown,
    value: PromiseLike<T>,
    toResult: (tool: RunnableTool, value: T, call: ServerCall) => MaybePromise<CallToolResult>,
    leave: () => void,
    call: ServerCall,
  ): Promise<CallToolResult> {
    const admission = admissionOf(call);
    admission.release = leave;
    let result: CallToolResult;
    try {
      const settled = await (admission.deadline?.race(value) ?? value);
      leave();
      const made =
        call.followers !== undefined
          ? inLayer(call, "result", () => toResult(tool, settled, call))
          : toResult(tool, settled, call);
      result = isThenable(made) ? await made : made;
    } catch (error) {
      leave();
      return this.#failed(tool, args, error, call);
    }
    return tool.resultLimit === undefined ? result : limitResult(tool, tool.resultLimit, result, call, this.overflow);
  }

  /** Returns the function that frees the slots of a call, once however often it is called. */
  #leaving(tool: RunnableTool, call: ServerCall): () => void {
    let over = false;
    const free = () => {
      this.#slots.leave(keyOf(call));
      tool.limit?.leave();
    };
    const end = call.root.admission?.slot?.hold(() => this.#enter(tool, call), free) ?? free;
    return () => {
      if (over) return;
      over = true;
      call.root.admission?.deadline?.end();
      end();
    };
  }

  #failed(tool: RunnableTool, args: unknown, error: unknown, call: ServerCall): MaybePromise<CallToolResult> {
    if (call.replays && isUrlRequired(error)) {
      const again = () => this.#enterAndExecute(tool, args, call);
      return withAsking(({ askForVisits }) => askForVisits(call, error, again)).catch((refused) =>
        toErrorResult(refused, call),
      );
    }
    if (isInputRequired(readable(error))) {
      // The questions are sent in place of any result.
      call.failure = error;
      return { content: [] };
    }
    const result = toErrorResult(error, call);
    return tool.resultLimit === undefined ? result : limitResult(tool, tool.resultLimit, result, call, this.overflow);
  }
}

/** The admission of the call that the client sent, because its steps may still run when a handler is interrupted. */
function admissionOf({ root }: ServerCall): Admission {
  root.admission ??= {};
  return root.admission;
}

/** The result for a client that lacks capabilities of the tool; throws where the revision has an error for it. */
export function withoutCapabilities({ requires }: ReadyTool, call: ServerCall): CallToolResult | undefined {
  if (requires.length === 0) return undefined;
  try {
    requireCapabilities(call, requires);
  } catch (error) {
    return toErrorResult(error, call);
  }
  return undefined;
}

/** Frees the tool's own slot when the server has none. */
function giveUp(tool: RunnableTool, error: unknown): never {
  tool.limit?.leave();
  throw error;
}

function sameResult(_tool: RunnableTool, result: CallToolResult): CallToolResult {
  return result;
}

function keyOf({ exchange }: ServerCall): string | undefined {
  return (exchange.principal ?? exchange.peer?.principal)?.key;
}

/** When the time is up, aborts the handler's signal and fails the call without waiting for the handler. */
function deadlineOf(tool: RunnableTool, ms: number, call: ServerCall): CallDeadline {
  const expired = () => {
    const late = new McpError("timeout", `The tool "${tool.name}" did not finish within ${ms} ms.`, {
      data: { limit: "timeoutMs", ms },
      fix: "Ask for less, or raise `timeoutMs` of the tool.",
    });
    call.abort(late);
    return late;
  };
  return new CallDeadline(call.facts.platform, ms, expired, call.root.exchange.signal);
}
