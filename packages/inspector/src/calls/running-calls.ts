import { type DetailedTask, McpError, type ProgressNotificationParams } from "@parley/mcp/protocol";
import type { CallInfo, CallOutcome, CallRequest, CallStatus } from "../contract/calls.js";
import type { ProblemInfo } from "../contract/connections.js";
import { toProblemInfo } from "../engine/problem-info.js";
import { isRecord } from "../engine/read-input.js";
import { callContext } from "./call-context.js";
import type { CallableConnection } from "./callable-connection.js";
import { jsonBytes } from "./json-bytes.js";
import { nameOf, performRequest } from "./perform-request.js";

/** Limits on stored calls. */
export interface CallLimits {
  /** Maximum number of stored calls. Beyond it, the oldest calls that have ended are evicted. Default: 200. */
  calls: number;
  /** Maximum number of concurrent calls. Further calls are rejected. Default: 100. */
  running: number;
  /**
   * Maximum size of all requests and results. Beyond it, the oldest calls that have ended are evicted. Default: 64 MiB.
   */
  bytes: number;
}

const DEFAULT_LIMITS: CallLimits = { calls: 200, running: 100, bytes: 64 * 1024 * 1024 };
/**
 * Maximum length of a server's text in the state, in characters. Longer texts are truncated, because the whole state is
 * sent after each change.
 */
const MAX_TEXT_LENGTH = 300;
/**
 * Maximum length of a call's name, in characters. Longer than `MAX_TEXT_LENGTH`, because the page finds calls by name,
 * and the name may be a long URI.
 */
const MAX_NAME_LENGTH = 2000;

/** Options of `RunningCalls`. */
interface RunningCallsOptions {
  /** Milliseconds since the inspector started. */
  now(): number;
  /** Called after every change of `list()`. */
  changed(): void;
  limits?: Partial<CallLimits> | undefined;
}

interface Call {
  info: CallInfo;
  readonly request: CallRequest;
  readonly controller: AbortController;
  ended: EndedCall | undefined;
  /** Size of the request. After the end of the call, plus the size of the stored result and problem. */
  bytes: number;
}

/** The calls of the user: those that are running, and the last ones that ended. */
export class RunningCalls {
  readonly #options: RunningCallsOptions;
  readonly #limits: CallLimits;
  readonly #calls = new Map<string, Call>();
  #bytes = 0;
  #last = 0;

  constructor(options: RunningCallsOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /** Starts a call and returns its id. Throws if the connection is not open or too many calls are running. */
  start(connection: CallableConnection, request: CallRequest): string {
    const { client } = connection;
    this.#checkLimit();
    const id = `call-${++this.#last}`;
    const call: Call = {
      info: {
        id,
        connection: connection.id,
        kind: request.kind,
        name: truncate(nameOf(request), MAX_NAME_LENGTH),
        status: "running",
        startedMs: this.#options.now(),
      },
      request,
      controller: new AbortController(),
      ended: undefined,
      bytes: jsonBytes(request),
    };
    this.#calls.set(id, call);
    this.#bytes += call.bytes;
    this.#evict();
    const { id: connectionId, extensions, info } = connection;
    // The call uses the current client even if the connection is opened again in the meantime.
    void callContext.run(id, () => this.#run({ id: connectionId, client, extensions, info }, call));
    this.#options.changed();
    return id;
  }

  /** Cancels a call, also at the server. Has no effect on a call that has ended. Throws for an unknown call. */
  cancel(id: string): void {
    const { controller, ended } = this.#find(id);
    if (ended === undefined) controller.abort(new McpError("cancelled", "the user cancelled the call"));
  }

  /** Returns the outcome of a call. Throws if the call is still running or was evicted. */
  outcome(id: string): CallOutcome {
    const { info, request, ended } = this.#find(id);
    if (ended === undefined) {
      throw new McpError("invalid_params", `the call ${id} is still running`, { fix: "Wait until it has ended." });
    }
    const { result, problem, bytes } = ended;
    return {
      call: info,
      request,
      ...(result === undefined ? {} : { result }),
      ...(problem === undefined ? {} : { problem }),
      bytes,
    };
  }

  /** Returns the stored calls, the newest first. */
  list(): readonly CallInfo[] {
    return [...this.#calls.values()].map(({ info }) => info).reverse();
  }

  /** Returns the running call of a connection, if there is exactly one. */
  only(connection: string): string | undefined {
    const running = this.#running().filter(({ info }) => info.connection === connection);
    return running.length === 1 ? running[0]?.info.id : undefined;
  }

  /**
   * Returns the call of the current async context, if that call is running and belongs to the connection. Otherwise
   * returns the running call of the connection, if there is exactly one.
   */
  current(connection: string): string | undefined {
    const call = this.#calls.get(callContext.getStore() ?? "");
    // The connection may have been opened during a call that has ended, and may still run in the async context of that
    // call.
    const known = call?.info.connection === connection && call.ended === undefined;
    return known ? call.info.id : this.only(connection);
  }

  async #run(connection: CallableConnection, call: Call): Promise<void> {
    const hooks = {
      signal: call.controller.signal,
      onProgress: (progress: ProgressNotificationParams) => this.#update(call, { progress: shownProgress(progress) }),
      onTask: (task: DetailedTask) => this.#update(call, { task: shownTask(task) }),
    };
    try {
      this.#end(call, endedWithResult(await performRequest(connection, call.request, hooks)));
    } catch (error) {
      this.#end(call, endedWithError(error));
    }
  }

  #end(call: Call, ended: EndedCall): void {
    call.ended = withinBytes(ended, this.#limits.bytes);
    call.bytes += call.ended.storedBytes;
    this.#bytes += call.ended.storedBytes;
    this.#update(call, { status: ended.status, durationMs: this.#options.now() - call.info.startedMs });
    this.#evict(call);
  }

  #update(call: Call, news: Partial<CallInfo>): void {
    call.info = { ...call.info, ...news };
    this.#options.changed();
  }

  #running(): Call[] {
    return [...this.#calls.values()].filter(({ ended }) => ended === undefined);
  }

  #checkLimit(): void {
    const { running } = this.#limits;
    if (this.#running().length < running) return;
    throw new McpError("limit_exceeded", `${running} calls are running`, {
      fix: "Wait until some of them have ended, or cancel them.",
    });
  }

  /** Evicts calls that have ended, the oldest first, until the limits are met. Never evicts `newest`. */
  #evict(newest?: Call): void {
    const { calls, bytes } = this.#limits;
    for (const [id, call] of this.#calls) {
      if (this.#calls.size <= calls && this.#bytes <= bytes) return;
      if (call.ended === undefined || call === newest) continue;
      this.#calls.delete(id);
      this.#bytes -= call.bytes;
    }
  }

  #find(id: string): Call {
    const call = this.#calls.get(id);
    if (call !== undefined) return call;
    const { calls, bytes } = this.#limits;
    throw new McpError("invalid_params", `the call ${truncate(id)} does not exist or is no longer stored`, {
      fix: `Make the call again. The inspector stores the last ${calls} calls and ${bytes} bytes of results.`,
    });
  }
}

function shownProgress({ progress, total, message }: ProgressNotificationParams): CallInfo["progress"] {
  // The client validates only the number `progress`, so the other members are checked here.
  return {
    progress,
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message: truncate(message) } : {}),
  };
}

function shownTask({ taskId, status, statusMessage }: DetailedTask): CallInfo["task"] {
  return {
    id: truncate(taskId),
    status,
    ...(typeof statusMessage === "string" ? { message: truncate(statusMessage) } : {}),
  };
}

function truncate(text: string, max = MAX_TEXT_LENGTH): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}

/** The end of a call: its status, and the result or the problem. */
interface EndedCall {
  readonly status: Exclude<CallStatus, "running">;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly problem?: ProblemInfo | undefined;
  /** Size of the result as JSON. */
  readonly bytes: number;
  /** Size of the stored result and problem. */
  readonly storedBytes: number;
}

/** Creates the end of a call that has a result. A tool result may report a failure. */
function endedWithResult(given: object): EndedCall {
  // Safe: a result is a JSON object.
  const result = given as Readonly<Record<string, unknown>>;
  const bytes = jsonBytes(result);
  return { status: result["isError"] === true ? "failed" : "done", result, bytes, storedBytes: bytes };
}

/** Creates the end of a call that failed. A result that the client rejected is shown with the error. */
function endedWithError(error: unknown): EndedCall {
  const { kind, message, fix, data } = McpError.from(error);
  if (!isRecord(data) || !isRecord(data["result"])) {
    const problem = toProblemInfo(error);
    return {
      status: kind === "cancelled" ? "cancelled" : "failed",
      problem,
      bytes: 0,
      storedBytes: jsonBytes(problem),
    };
  }
  const { result, ...others } = data;
  const problem = toProblemInfo(new McpError(kind, message, { fix, data: others }));
  const bytes = jsonBytes(result);
  return { status: "failed", result, problem, bytes, storedBytes: bytes + jsonBytes(problem) };
}

/** Drops the result and the data of the problem if their size exceeds the limit. */
function withinBytes(ended: EndedCall, limit: number): EndedCall {
  const { status, problem, bytes, storedBytes } = ended;
  if (storedBytes <= limit) return ended;
  const { message, fix, kind } = problem ?? {
    kind: "limit_exceeded",
    message: `the result has ${bytes} bytes, but the inspector stores only ${limit} bytes of results`,
    fix: "Request less at once. The timeline has the beginning of the result.",
  };
  return { status, problem: { message, fix, kind }, bytes, storedBytes: 0 };
}
