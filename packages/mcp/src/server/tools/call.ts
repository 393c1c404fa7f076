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
import { inLayer } from "../call/in-layer.js";
import { isInputRequired } from "../call/input-required.js";
import type { Admission, ServerCall } from "../call/server-call.js";
import type { ServerConfig } from "../call/server-config.js";
import { isUrlRequired } from "../call/url-required.js";
import { withAsking } from "../questions/with-asking.js";
import { OverflowStore } from "./overflow-store.js";
import type { CallSlots, EnteringCall, ReadyTool } from "./ready-tool.js";
import { FAILURE, toCallResult, toErrorResult } from "./result.js";
import { limitResult } from "./result-limit.js";
import { describeUnknown, unknownArguments, withoutUnknown } from "./unknown-arguments.js";

/** The properties of a tool that are needed to run it with parsed arguments. */
export type RunnableTool = Pick<ReadyTool, "name" | "output" | "timeoutMs" | "limit" | "resultLimit" | "handler">;

/** Calls the tools of one server: checks the caller and the arguments, then runs the handler within its limits. */
export class ToolCalls {
  /** Stored results that were too large for their response. */
  readonly overflow: OverflowStore;
  /** Number of calls that wait for a free slot. */
  waiting = 0;
  readonly #slots: CallLimit;
  readonly #queued: number;

  constructor({ platform, limits }: ServerConfig) {
    this.overflow = new OverflowStore(platform);
    const { calls: running, queuedCalls: queued, callsPerPrincipal: share } = limits;
    this.#slots = new CallLimit({ what: "this server", option: "limits.calls", running, queued, share });
    this.#queued = queued;
  }

  /** Creates the slots of a tool with a `concurrency`. */
  slotsOf(tool: string, running: number): CallSlots {
    return new CallLimit({ what: `the tool "${tool}"`, option: "concurrency", running, queued: this.#queued });
  }

  /** Returns the function that serves the calls to a tool. */
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

  /** Continues the call if a schema library parses asynchronously. */
  async #serveLater(tool: ReadyTool, read: PromiseLike<ReadArguments>, call: ServerCall): Promise<CallToolResult> {
    const settled = await read;
    return settled.ok ? this.run(tool, settled.value, call) : refuseArguments(tool, settled, call);
  }

  /**
   * Runs a tool with parsed arguments as soon as a slot is free. If the handler returns a plain value, no promise is
   * created; everything else goes through `#settle`.
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

  /** Waits for the tool's own limit first, so that queued calls do not occupy the server's slots. */
  #enter(tool: RunnableTool, call: ServerCall): undefined | Promise<void> {
    const turn = tool.limit?.enter(call, undefined, call.root.admission?.slot?.waits);
    return turn === undefined ? this.#enterServer(tool, call) : turn.then(() => this.#enterServer(tool, call));
  }

  #enterServer(tool: RunnableTool, call: ServerCall): undefined | Promise<void> {
    try {
      return this.#slots
        .enter(call, keyOf(call), call.root.admission?.slot?.waits)
        ?.catch((error) => releaseAndThrow(tool, error));
    } catch (error) {
      return releaseAndThrow(tool, error);
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

  /** Returns a function that releases the slots of a call. Calling the function again does nothing. */
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
      // The questions are sent instead of a result.
      call.failure = error;
      return { content: [] };
    }
    const result = toErrorResult(error, call);
    return tool.resultLimit === undefined ? result : limitResult(tool, tool.resultLimit, result, call, this.overflow);
  }
}

/**
 * Returns the admission of the root call, because the asker of the root call also runs the steps of inner calls and
 * needs the deadline until these steps end.
 */
function admissionOf({ root }: ServerCall): Admission {
  root.admission ??= {};
  return root.admission;
}

/**
 * Returns the result for a client that lacks capabilities that the tool requires; undefined if the client has all of
 * them. Throws if the revision has an error code for missing capabilities.
 */
export function withoutCapabilities({ requires }: ReadyTool, call: ServerCall): CallToolResult | undefined {
  if (requires.length === 0) return undefined;
  try {
    requireCapabilities(call, requires);
  } catch (error) {
    return toErrorResult(error, call);
  }
  return undefined;
}

/** Releases the tool's own slot, because the server has no slot for the call. */
function releaseAndThrow(tool: RunnableTool, error: unknown): never {
  tool.limit?.leave();
  throw error;
}

function sameResult(_tool: RunnableTool, result: CallToolResult): CallToolResult {
  return result;
}

function keyOf({ exchange }: ServerCall): string | undefined {
  return (exchange.principal ?? exchange.peer?.principal)?.key;
}

/** Creates a deadline that aborts the handler's signal and fails the call without waiting for the handler. */
function deadlineOf(tool: RunnableTool, ms: number, call: ServerCall): CallDeadline {
  const expired = () => {
    const late = new McpError("timeout", `The tool "${tool.name}" did not finish within ${ms} ms.`, {
      data: { limit: "timeoutMs", ms },
      fix: "Ask for less, or raise `timeoutMs` of the tool.",
    });
    call.abort(late);
    return late;
  };
  return new CallDeadline(call.config.platform, ms, expired, call.root.exchange.signal);
}

/** The values of a limit, and its name in errors. */
interface CallLimitOptions {
  /** The subject of the error message, for example `the tool "x"`. */
  readonly what: string;
  /** The option that sets the limit, for the error message. */
  readonly option: string;
  readonly running: number;
  readonly queued: number;
  /**
   * Maximum number of calls of one principal that run at the same time, at most `PRINCIPAL_SHARE` of `running`.
   * Default: `running`.
   */
  readonly share?: number | undefined;
}

/**
 * The fraction of all slots and queue places that one principal can use. The rest is reserved for other principals. The
 * result is rounded up, so fewer than ten slots reserve nothing.
 */
const PRINCIPAL_SHARE = 0.9;
/** Retry time for refused calls. The time until a slot is free is not predictable. */
const RETRY_MS = 1000;

/** Runs a limited number of calls, queues a limited number of others in order, and refuses the rest. */
export class CallLimit implements CallSlots {
  readonly #options: CallLimitOptions;
  readonly #share: number;
  readonly #semaphore: Semaphore;

  constructor(options: CallLimitOptions) {
    this.#options = options;
    const { share, running } = options;
    this.#share = share === undefined ? running : Math.min(share, Math.ceil(running * PRINCIPAL_SHARE));
    this.#semaphore = new Semaphore(running, this.#share);
  }

  /** `key` identifies the calling principal, if there is one. */
  enter(call: EnteringCall, key?: string, waits = false): undefined | Promise<void> {
    if (this.#semaphore.tryEnter(key)) return undefined;
    if (!waits) this.#checkQueue(call, key);
    return this.#semaphore.wait(call.signal, key, waits).catch(() => {
      throw new McpError("cancelled", "the call was cancelled while it waited for a free slot");
    });
  }

  #checkQueue(call: EnteringCall, key: string | undefined): void {
    const { what, option, running, queued, share } = this.#options;
    if (this.#semaphore.waiting >= queued) {
      call.reply = { status: 503, retryAfterMs: RETRY_MS };
      throw tooMany(option, { running, queued }, `${what} runs ${running} at once and ${queued} are waiting`);
    }
    const most = Math.ceil(queued * PRINCIPAL_SHARE);
    if (share === undefined || key === undefined || this.#semaphore.waitingOf(key) < most) return;
    const text = `${what} runs ${this.#share} of one principal at once and ${most} are waiting`;
    call.reply = { status: 429, retryAfterMs: RETRY_MS };
    throw tooMany(`${option}PerPrincipal`, { running: this.#share, queued: most }, text);
  }

  leave(key?: string): void {
    this.#semaphore.leave(key);
  }
}

function tooMany(limit: string, counts: { running: number; queued: number }, what: string): McpError {
  return new McpError("limit_exceeded", `too many calls: ${what}. Wait ${RETRY_MS / 1000} s, then call again.`, {
    data: { limit, ...counts, retryAfterMs: RETRY_MS },
    fix: `Call again after \`data.retryAfterMs\`, or raise \`${limit}\` of the server.`,
  });
}

const CLOSED = "additionalProperties";

/** The parsed arguments for the handler, or the problems of the arguments that the client sent. */
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
  // Safe: coercion turns objects into objects, because the schema has type object.
  return isThenable(parsed)
    ? parsed.then((settled) => checkUnknown(tool, args as object, settled))
    : checkUnknown(tool, args as object, parsed);
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

function checkUnknown({ known, reportsUnknown }: ReadyTool, args: object, parsed: ParseResult): ReadArguments {
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
 * Answers invalid arguments: with a result for the model or, depending on the server's options, with a protocol error.
 *
 * Spec: Tools, "Error Handling", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
function refuseArguments(tool: ReadyTool, refused: ReadArguments & { ok: false }, call: ServerCall): CallToolResult {
  const message = `Invalid arguments for tool "${tool.name}": ${refused.message}`;
  if (call.config.options.invalidArguments === "protocol") {
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
