import { type DetailedTask, McpError, type ProgressNotificationParams } from "@parley/mcp/protocol";
import type { CallInfo, CallOutcome, CallRequest, CallStatus } from "../contract/calls.js";
import type { ShownProblem } from "../contract/connections.js";
import { isRecord } from "../engine/read-input.js";
import { shownProblem } from "../engine/shown-problem.js";
import { callContext } from "./call-context.js";
import type { CalledConnection } from "./called-connection.js";
import { jsonBytes } from "./json-bytes.js";
import { nameOf, performRequest } from "./perform-request.js";

/** How much is remembered of calls. */
export interface CallLimits {
  /** Calls that are kept; the oldest that has ended is forgotten first. Default 200. */
  calls: number;
  /** Calls that run at the same time. Default 100. */
  running: number;
  /** Bytes of requests and results together. Default 64 MiB. */
  bytes: number;
}

const DEFAULT_LIMITS: CallLimits = { calls: 200, running: 100, bytes: 64 * 1024 * 1024 };
/** Characters of a text of a server that go into the state, which is sent as a whole after each change. */
const MOST_SHOWN = 300;
/** Characters of the name of a call: the page finds the calls of an offer by it, and addresses of resources are long. */
const MOST_NAME = 2000;

/** What the calls are made with. */
interface RunningCallsOptions {
  /** Milliseconds since the inspector began. */
  now(): number;
  /** Called after every change of `list()`. */
  changed(): void;
  limits?: Partial<CallLimits> | undefined;
}

interface Call {
  info: CallInfo;
  readonly request: CallRequest;
  readonly ending: AbortController;
  ended: EndedCall | undefined;
  /** Bytes of the request, and of the result once there is one. */
  bytes: number;
}

/** The calls that the user started, those that run and the last that ended. */
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

  /** Starts a call and gives its id. Throws while the connection does not stand, and when too many calls are running. */
  start(connection: CalledConnection, request: CallRequest): string {
    const { client } = connection;
    this.#refuseTooMany();
    const id = `call-${++this.#last}`;
    const call: Call = {
      info: {
        id,
        connection: connection.id,
        kind: request.kind,
        name: shown(nameOf(request), MOST_NAME),
        status: "running",
        startedMs: this.#options.now(),
      },
      request,
      ending: new AbortController(),
      ended: undefined,
      bytes: jsonBytes(request),
    };
    this.#calls.set(id, call);
    this.#bytes += call.bytes;
    this.#forgetOld();
    const { id: connectionId, extensions, info } = connection;
    // With the client that was there: the connection may be opened again meanwhile.
    void callContext.run(id, () => this.#run({ id: connectionId, client, extensions, info }, call));
    this.#options.changed();
    return id;
  }

  /** Cancels a call, here and at the server; one that has ended stays as it is. Throws for a call that is not known. */
  cancel(id: string): void {
    const { ending, ended } = this.#find(id);
    if (ended === undefined) ending.abort(new McpError("cancelled", "the user cancelled the call"));
  }

  /** How a call ended. Throws for one that is still running or is forgotten. */
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

  /** All calls that are kept, the newest first. */
  list(): readonly CallInfo[] {
    return [...this.#calls.values()].map(({ info }) => info).reverse();
  }

  /** The only running call of a connection, if there is exactly one. */
  only(connection: string): string | undefined {
    const running = this.#running().filter(({ info }) => info.connection === connection);
    return running.length === 1 ? running[0]?.info.id : undefined;
  }

  /** The call of a connection in whose course this is asked; where the context does not tell, the only one that is running. */
  current(connection: string): string | undefined {
    const call = this.#calls.get(callContext.getStore() ?? "");
    // A connection may have been opened in the course of a call that has long ended.
    const known = call?.info.connection === connection && call.ended === undefined;
    return known ? call.info.id : this.only(connection);
  }

  async #run(connection: CalledConnection, call: Call): Promise<void> {
    const hooks = {
      signal: call.ending.signal,
      onProgress: (progress: ProgressNotificationParams) => this.#note(call, { progress: shownProgress(progress) }),
      onTask: (task: DetailedTask) => this.#note(call, { task: shownTask(task) }),
    };
    try {
      this.#end(call, endedWell(await performRequest(connection, call.request, hooks)));
    } catch (error) {
      this.#end(call, endedWith(error));
    }
  }

  #end(call: Call, ended: EndedCall): void {
    call.ended = withinBytes(ended, this.#limits.bytes);
    call.bytes += call.ended.held;
    this.#bytes += call.ended.held;
    this.#note(call, { status: ended.status, durationMs: this.#options.now() - call.info.startedMs });
    this.#forgetOld(call);
  }

  #note(call: Call, news: Partial<CallInfo>): void {
    call.info = { ...call.info, ...news };
    this.#options.changed();
  }

  #running(): Call[] {
    return [...this.#calls.values()].filter(({ ended }) => ended === undefined);
  }

  #refuseTooMany(): void {
    const { running } = this.#limits;
    if (this.#running().length < running) return;
    throw new McpError("limit_exceeded", `${running} calls are running`, {
      fix: "Wait until some of them have ended, or cancel them.",
    });
  }

  /** Forgets calls that have ended, the oldest first and `newest` never, until the limits are kept. */
  #forgetOld(newest?: Call): void {
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
    throw new McpError("invalid_params", `the call ${shown(id)} is not known, or was forgotten`, {
      fix: `Call again: the last ${calls} calls and ${bytes} bytes of their results are kept.`,
    });
  }
}

function shownProgress({ progress, total, message }: ProgressNotificationParams): CallInfo["progress"] {
  // Of a notification the client has checked the number alone.
  return {
    progress,
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message: shown(message) } : {}),
  };
}

function shownTask({ taskId, status, statusMessage }: DetailedTask): CallInfo["task"] {
  return {
    id: shown(taskId),
    status,
    ...(typeof statusMessage === "string" ? { message: shown(statusMessage) } : {}),
  };
}

function shown(text: string, most = MOST_SHOWN): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/** How a call ended, without what it was. */
interface EndedCall {
  readonly status: Exclude<CallStatus, "running">;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly problem?: ShownProblem | undefined;
  /** Bytes of the result as JSON. */
  readonly bytes: number;
  /** Bytes of all that is kept of it. */
  readonly held: number;
}

/** The end of a call that has a result; that of a tool may say that it failed. */
function endedWell(given: object): EndedCall {
  // Any object that came as JSON is a record.
  const result = given as Readonly<Record<string, unknown>>;
  const bytes = jsonBytes(result);
  return { status: result["isError"] === true ? "failed" : "done", result, bytes, held: bytes };
}

/** The end of a call that failed. A result that the client refused is shown beside the reason. */
function endedWith(error: unknown): EndedCall {
  const { kind, message, fix, data } = McpError.from(error);
  if (!isRecord(data) || !isRecord(data["result"])) {
    const problem = shownProblem(error);
    return { status: kind === "cancelled" ? "cancelled" : "failed", problem, bytes: 0, held: jsonBytes(problem) };
  }
  const { result, ...others } = data;
  const problem = shownProblem(new McpError(kind, message, { fix, data: others }));
  const bytes = jsonBytes(result);
  return { status: "failed", result, problem, bytes, held: bytes + jsonBytes(problem) };
}

/** The same end without what is too large to be kept. */
function withinBytes(ended: EndedCall, limit: number): EndedCall {
  const { status, problem, bytes, held } = ended;
  if (held <= limit) return ended;
  const { message, fix, kind } = problem ?? {
    kind: "limit_exceeded",
    message: `the result has ${bytes} bytes, and the inspector keeps ${limit} bytes of results`,
    fix: "Ask for less at once; the timeline has the beginning of the result.",
  };
  return { status, problem: { message, fix, kind }, bytes, held: 0 };
}
