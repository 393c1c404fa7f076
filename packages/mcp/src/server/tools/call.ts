import { isThenable, type MaybePromise } from "../../encoding/maybe-promise.js";
import { readable } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import { Semaphore } from "../../platform/semaphore.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { SchemaError } from "../../schema/json-schema/schema-error.js";
import { describeIssues, type ParseIssue, type ParseResult } from "../../schema/parse.js";
import { CallDeadline } from "../call/call-deadline.js";
import { requireCapabilities } from "../call/can-ask.js";
import type { ServerConfig } from "../call/facts.js";
import { inLayer } from "../call/in-layer.js";
import { isInputRequired } from "../call/input-required.js";
import type { Admission, ServerCall } from "../call/server-call.js";
import { isUrlRequired } from "../call/url-required.js";
import { withAsking } from "../questions/with-asking.js";
import { OverflowStore } from "./overflow-store.js";
import type { CallSlots, EnteringCall, ReadyTool } from "./ready-tool.js";
import { FAILURE, toCallResult, toErrorResult } from "./result.js";
import { limitResult } from "./result-limit.js";
import { describeUnknown, unknownArguments, withoutUnknown } from "./unknown-arguments.js";

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

  constructor({ platform, limits }: ServerConfig) {
    this.overflow = new OverflowStore(platform);
    const { calls: running, queuedCalls: queued, callsPerPrincipal: share } = limits;
    this.#slots = new CallLimit({ what: "this server", option: "limits.calls", running, queued, share });
    this.#queued = queued;
  }

  /** The slots of a tool with a `concurrency`. */
  slotsOf(tool: string, running: number): CallSlots {
    return new CallLimit({ what: `the tool "${tool}"`, option: "concurrency", running, queued: this.#queued });
  }

  /** Serves calls of a tool. */
  server(tool: ReadyTool): (call: ServerCall) => MaybePromise<CallToolResult> {
    return (call) => this.#serve(tool, call);
  }

  /** Checks the client and the arguments, then runs the tool. */
  #serve(tool: ReadyTool, call: ServerCall): MaybePromise<CallToolResult> {
    const given = call.request.params["arguments"] ?? {};
    const args = isObject(given) ? given : call.objectParam("arguments");
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
    const leave = () => {
      if (over) return;
      over = true;
      const { admission } = call.root;
      if (admission?.release === leave) admission.release = undefined;
      admission?.deadline?.end();
      end();
    };
    return leave;
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

/** The values of a limit, and how its error names it. */
interface CallLimitOptions {
  /** What is limited, for the error: `the tool "x"`. */
  readonly what: string;
  /** The option that sets the limit, for the error. */
  readonly option: string;
  readonly running: number;
  readonly queued: number;
  /** How many calls of one principal run; default all. */
  readonly share?: number | undefined;
}

/** The part of all places that one principal can have. The rest stays for others, unless there are very few. */
const PART = 0.9;
/** When a slot will be free cannot be foreseen. */
const RETRY_MS = 1000;

/** Lets a number of calls run at once and a number of others wait, in order; refuses the rest. */
export class CallLimit implements CallSlots {
  readonly #options: CallLimitOptions;
  readonly #share: number;
  readonly #places: Semaphore;

  constructor(options: CallLimitOptions) {
    this.#options = options;
    const { share, running } = options;
    this.#share = share === undefined ? running : Math.min(share, Math.ceil(running * PART));
    this.#places = new Semaphore(running, this.#share);
  }

  /** `key` is the principal that calls, if any. */
  enter(call: EnteringCall, key?: string, waits = false): undefined | Promise<void> {
    if (this.#places.tryEnter(key)) return undefined;
    if (!waits) this.#checkQueue(call, key);
    return this.#places.wait(call.signal, key, waits).catch(() => {
      throw new McpError("cancelled", "the call was cancelled while it waited for a free slot");
    });
  }

  #checkQueue(call: EnteringCall, key: string | undefined): void {
    const { what, option, running, queued, share } = this.#options;
    if (this.#places.waiting >= queued) {
      call.reply = { status: 503, retryAfterMs: RETRY_MS };
      throw tooMany(option, { running, queued }, `${what} runs ${running} at once and ${queued} are waiting`);
    }
    const most = Math.ceil(queued * PART);
    if (share === undefined || key === undefined || this.#places.waitingOf(key) < most) return;
    const text = `${what} runs ${this.#share} of one principal at once and ${most} are waiting`;
    call.reply = { status: 429, retryAfterMs: RETRY_MS };
    throw tooMany(`${option}PerPrincipal`, { running: this.#share, queued: most }, text);
  }

  leave(key?: string): void {
    this.#places.leave(key);
  }
}

function tooMany(limit: string, counts: { running: number; queued: number }, what: string): McpError {
  return new McpError("limit_exceeded", `too many calls: ${what}. Wait ${RETRY_MS / 1000} s, then call again.`, {
    data: { limit, ...counts, retryAfterMs: RETRY_MS },
    fix: `Call again after \`data.retryAfterMs\`, or raise \`${limit}\` of the server.`,
  });
}

const CLOSED = "additionalProperties";

/** What the handler receives, or what is wrong with the arguments. */
export type ReadArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly issues: readonly ParseIssue[] };

/** Coerces, parses and checks the arguments of a call. */
function readArguments(tool: ReadyTool, sent: object, call: ServerCall): ReadArguments | Promise<ReadArguments> {
  const { known } = tool;
  let args: unknown = known === undefined || tool.reportsUnknown ? sent : withoutUnknown(known, sent);
  if (tool.coerce !== undefined) {
    const coerced = tool.coerce(args);
    args = coerced.value;
    if (coerced.coercions.length > 0) call.coercions = coerced.coercions;
  }
  const parsed = parse(tool, args);
  // Coercion keeps an object an object, because the schema has type object.
  return isThenable(parsed)
    ? parsed.then((settled) => judge(tool, args as object, settled))
    : judge(tool, args as object, parsed);
}

function parse(tool: ReadyTool, args: unknown): ParseResult | Promise<ParseResult> {
  try {
    return tool.input.parse(args);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw new McpError(
      "limit_exceeded",
      `the arguments of tool "${tool.name}" are too costly to check: ${error.message}`,
      {
        cause: error,
        data: { limit: error.code },
        fix: "Send smaller arguments, or simplify the schema.",
      },
    );
  }
}

function judge({ known, reportsUnknown }: ReadyTool, args: object, parsed: ParseResult): ReadArguments {
  const unknown = known === undefined || !reportsUnknown ? [] : unknownArguments(known, args);
  if (known === undefined || unknown.length === 0) {
    return parsed.ok ? parsed : { ok: false, message: describeIssues(parsed.issues), issues: parsed.issues };
  }
  const named = unknown.map(({ path, name }) => ({ path: `${path}/${name}`, message: "is not known" }));
  const issues = parsed.ok ? named : parsed.issues;
  // `describeUnknown` replaces the schema's own issues about unknown members, because it suggests the right name.
  const others = parsed.ok ? [] : issues.filter((issue) => !("keyword" in issue) || issue.keyword !== CLOSED);
  const texts = [describeUnknown(unknown, known), ...(others.length === 0 ? [] : [describeIssues(others)])];
  return { ok: false, message: texts.join("; "), issues };
}

/**
 * Answers arguments that do not fit: with a result for the model or, if the server's option says so, a protocol error.
 *
 * Spec: Tools, "Error Handling", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
function refuseArguments(tool: ReadyTool, refused: ReadArguments & { ok: false }, call: ServerCall): CallToolResult {
  const message = `Invalid arguments for tool "${tool.name}": ${refused.message}`;
  if (call.facts.options.invalidArguments === "protocol") {
    throw new McpError("invalid_params", message, { data: { issues: refused.issues } });
  }
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    _meta: {
      [FAILURE]: {
        kind: "invalid_params",
        issues: refused.issues.map(({ path, message: why }) => ({ path, message: why })),
      },
    },
  };
}
