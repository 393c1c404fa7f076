import { isThenable, type MaybePromise } from "../../encoding/maybe-promise.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { CallDeadline } from "../call/call-deadline.js";
import type { ServerFacts } from "../call/facts.js";
import type { ServerCall } from "../call/server-call.js";
import type { MethodHandler } from "../lists/feature.js";
import { requireCapabilities } from "../questions/can-ask.js";
import { isUrlRequired } from "../questions/url-required.js";
import { withAsking } from "../questions/with-asking.js";
import { type ReadArguments, readArguments, refuseArguments } from "./arguments.js";
import { OverflowStore } from "./overflow-store.js";
import type { CallPlaces, ReadyTool } from "./ready-tool.js";
import { toCallResult, toErrorResult } from "./result.js";
import { limitResult } from "./result-limit.js";

/** Finds the tool of a name, if this caller may know of it. */
interface ToolFinder {
  find(name: string, call: ServerCall): ReadyTool | undefined;
}

/** What is needed of a tool to run it with arguments that were read. */
export type RunnableTool = Pick<ReadyTool, "name" | "output" | "timeoutMs" | "limit" | "resultLimit" | "handler">;

/** Calls the tools of one server: who may, with what, when there is room, and for how long. */
export class ToolCalls {
  /** Results that were too large for their answer. */
  readonly overflow: OverflowStore;
  readonly #places: CallPlaces;
  readonly #queued: number;

  constructor({ platform, limits }: ServerFacts) {
    this.overflow = new OverflowStore(platform);
    const { calls: running, queuedCalls: queued } = limits;
    this.#places = new CallLimit({ what: "this server", option: "limits.calls", running, queued });
    this.#queued = queued;
  }

  /** The places of a tool that limits itself. */
  placesOf(tool: string, running: number): CallPlaces {
    return new CallLimit({ what: `the tool "${tool}"`, option: "concurrency", running, queued: this.#queued });
  }

  /** Serves `tools/call` for these tools. */
  handlerOf(tools: ToolFinder): MethodHandler {
    return (call) => this.#call(tools, call);
  }

  #call(tools: ToolFinder, call: ServerCall): MaybePromise<CallToolResult> {
    const { name, arguments: args = {} } = call.request.params;
    if (typeof name !== "string") throw new McpError("invalid_params", "`params.name` of tools/call must be a string");
    const tool = tools.find(name, call);
    if (tool === undefined) {
      throw new McpError("invalid_params", `unknown tool: ${name}`, { fix: "List the tools to see their names." });
    }
    if (!isObject(args)) throw new McpError("invalid_params", "`params.arguments` of tools/call must be an object");
    if (tool.scopes.length > 0) checkScopes(tool, call);
    if (tool.requires.length > 0) {
      try {
        requireCapabilities(call, tool.requires);
      } catch (error) {
        return toErrorResult(error, call);
      }
    }
    if (tool.headers.length > 0 && call.exchange.http !== undefined) {
      call.request.era.checkArguments(tool.headers, args, call.exchange.http);
    }
    const read = readArguments(tool, args, call);
    if (isThenable(read)) return this.#callLater(tool, read, call);
    return read.ok ? this.run(tool, read.value, call) : refuseArguments(tool, read, call);
  }

  /** The same for a schema library that reads arguments asynchronously. */
  async #callLater(tool: ReadyTool, read: PromiseLike<ReadArguments>, call: ServerCall): Promise<CallToolResult> {
    const settled = await read;
    return settled.ok ? this.run(tool, settled.value, call) : refuseArguments(tool, settled, call);
  }

  /**
   * Runs a tool with arguments that were read, when there is room for the call. A handler that returns a value is served
   * without any promise, everything else by `#settle`.
   */
  run(tool: RunnableTool, args: unknown, call: ServerCall): MaybePromise<CallToolResult> {
    const turn = this.#enter(tool, call);
    if (turn !== undefined) return turn.then(() => this.#execute(tool, args, call));
    return this.#execute(tool, args, call);
  }

  /** The tool's own queue comes first, so that calls which wait for it take no place of other tools. */
  #enter(tool: RunnableTool, call: ServerCall): undefined | Promise<void> {
    const turn = tool.limit?.enter(call);
    return turn === undefined ? this.#enterServer(tool, call) : turn.then(() => this.#enterServer(tool, call));
  }

  #enterServer(tool: RunnableTool, call: ServerCall): undefined | Promise<void> {
    try {
      return this.#places.enter(call)?.catch((error) => giveUp(tool, error));
    } catch (error) {
      return giveUp(tool, error);
    }
  }

  #execute(tool: RunnableTool, args: unknown, call: ServerCall): MaybePromise<CallToolResult> {
    const leave = this.#leaving(tool, call);
    let made: MaybePromise<CallToolResult>;
    try {
      if (tool.timeoutMs !== undefined) call.deadline = deadlineOf(tool, tool.timeoutMs, call);
      const value = tool.handler(args, call.ctx);
      if (isThenable(value)) return this.#settle(tool, value, toCallResult, leave, call);
      made = toCallResult(tool, value, call);
    } catch (error) {
      leave();
      return this.#failed(tool, error, call);
    }
    // A schema library may check the result asynchronously.
    if (isThenable(made)) return this.#settle(tool, made, sameResult, leave, call);
    leave();
    return tool.resultLimit === undefined ? made : limitResult(tool, tool.resultLimit, made, call, this.overflow);
  }

  async #settle<T>(
    tool: RunnableTool,
    value: PromiseLike<T>,
    toResult: (tool: RunnableTool, value: T, call: ServerCall) => MaybePromise<CallToolResult>,
    leave: () => void,
    call: ServerCall,
  ): Promise<CallToolResult> {
    call.root.release = leave;
    let result: CallToolResult;
    try {
      const settled = await (call.deadline === undefined ? value : call.deadline.race(value));
      leave();
      const made = toResult(tool, settled, call);
      result = isThenable(made) ? await made : made;
    } catch (error) {
      leave();
      return this.#failed(tool, error, call);
    }
    return tool.resultLimit === undefined ? result : limitResult(tool, tool.resultLimit, result, call, this.overflow);
  }

  /** Gives back the place of a handler, once. */
  #leaving(tool: RunnableTool, call: ServerCall): () => void {
    let over = false;
    return () => {
      if (over) return;
      over = true;
      call.deadline?.end();
      this.#places.leave();
      tool.limit?.leave();
    };
  }

  #failed(tool: RunnableTool, error: unknown, call: ServerCall): MaybePromise<CallToolResult> {
    if (call.replays && isUrlRequired(error)) {
      return withAsking(({ askForVisits }) => askForVisits(call, error)).catch((refused) =>
        toErrorResult(refused, call),
      );
    }
    const result = toErrorResult(error, call);
    return tool.resultLimit === undefined ? result : limitResult(tool, tool.resultLimit, result, call, this.overflow);
  }
}

/** Gives back the tool's own place when the server has none. */
function giveUp(tool: RunnableTool, error: unknown): never {
  tool.limit?.leave();
  throw error;
}

function sameResult(_tool: RunnableTool, result: CallToolResult): CallToolResult {
  return result;
}

/** Refuses an authorized caller without the scopes; the transport turns them into a challenge. */
function checkScopes(tool: ReadyTool, call: ServerCall): void {
  const { principal, peer, http } = call.exchange;
  const auth = principal ?? peer?.principal;
  // A pipe to a parent process knows no authorization; over HTTP its absence must not open what it guards.
  if (auth === undefined && http === undefined) return;
  const missing = tool.scopes.filter((scope) => auth?.scopes?.includes(scope) !== true);
  if (missing.length === 0) return;
  call.scopes = [...tool.scopes];
  throw new McpError("insufficient_scope", `the tool "${tool.name}" needs the scope ${missing.join(" ")}`, {
    data: { scopes: tool.scopes },
    fix: "Authorize again with the scopes in `data.scopes`.",
  });
}

/** When the time is over the handler is told to stop, and no longer waited for. */
function deadlineOf(tool: RunnableTool, ms: number, call: ServerCall): CallDeadline {
  return new CallDeadline(call.facts.platform, ms, () => {
    const late = new McpError("timeout", `The tool "${tool.name}" did not finish within ${ms} ms.`, {
      data: { limit: "timeoutMs", ms },
      fix: "Ask for less, or raise `timeoutMs` of the tool.",
    });
    call.abort(late);
    return late;
  });
}

interface Waiter {
  start(): void;
}

/** What a limit allows. */
interface CallLimitOptions {
  /** What is limited, for the error: `the tool "x"`. */
  readonly what: string;
  /** The option that sets the limit, for the error. */
  readonly option: string;
  readonly running: number;
  readonly queued: number;
}

/** Lets a number of calls run at once and a number of others wait, in order; refuses the rest. */
class CallLimit implements CallPlaces {
  readonly #options: CallLimitOptions;
  readonly #waiting = new Set<Waiter>();
  #running = 0;

  constructor(options: CallLimitOptions) {
    this.#options = options;
  }

  enter(call: { readonly signal: AbortSignal }): undefined | Promise<void> {
    if (this.#running < this.#options.running) {
      this.#running++;
      return undefined;
    }
    const { what, option, running, queued } = this.#options;
    if (this.#waiting.size >= queued) {
      throw new McpError("limit_exceeded", `${what} runs ${running} calls at once and ${queued} are waiting already`, {
        data: { limit: option, running, queued },
        fix: `Call again later, or raise \`${option}\` of the server.`,
      });
    }
    return this.#wait(call.signal);
  }

  leave(): void {
    // The place passes on, so the count stays.
    for (const waiter of this.#waiting) {
      this.#waiting.delete(waiter);
      waiter.start();
      return;
    }
    this.#running--;
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(waiter);
        reject(new McpError("cancelled", "the call was cancelled while it waited for its turn"));
      };
      const waiter: Waiter = {
        start() {
          signal.removeEventListener("abort", stop);
          resolve();
        },
      };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.add(waiter);
    });
  }
}
