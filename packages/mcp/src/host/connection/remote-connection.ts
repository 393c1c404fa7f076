import type { QuestionForwarder } from "../../client/answers/answerer.js";
import type { ClientCore } from "../../client/assemble.js";
import type { CallExtras, ForwardedCall, InterimResult, Requester } from "../../client/call/requester.js";
import { Client } from "../../client/client.js";
import type { LocalServer, Target } from "../../client/connect.js";
import type { CallOptions, ClientOptions } from "../../client/contract/options.js";
import type { FollowedTask, TaskFeature } from "../../client/contract/task-handle.js";
import { requestTool, requestToolAnswer } from "../../client/features/tools.js";
import { openClientCore } from "../../client/open-client.js";
import type { Question } from "../../era/era.js";
import { RpcError } from "../../jsonrpc/error.js";
import { type Id, isObject, type Params } from "../../jsonrpc/message.js";
import type { DriftPolicy } from "../../lock/drift-policy.js";
import { enforcePolicy } from "../../lock/lock-guard.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { TASKS } from "../../protocol/features/tasks.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { ProgressNotificationParams } from "../../protocol/lifecycle.js";
import { type LoggingLevel, passesLevel } from "../../protocol/logging.js";
import { META } from "../../protocol/meta.js";

/** The channel from a server back to the caller of a forwarded call. */
export interface CallerChannel {
  /** Identifies the caller; the same value for all calls of one client. */
  readonly caller: unknown;
  /** Forwards a question of the server to the caller. */
  ask(question: Question, signal: AbortSignal): Promise<object>;
  /** Sends a log message of the server to the caller. */
  log(message: Params): void;
  /** Receives the task that the server created for the call; absent if the caller does not accept tasks. */
  readonly task?: TaskChannel | undefined;
}

/** Forwards the events of a server's task to a caller. */
export interface TaskChannel {
  /** Called when the server has created the task. The receiver calls `over` when it stops following the task. */
  started(task: FollowedTask, over: () => void): void;
  /** Forwards a question of the task to the caller. */
  ask(question: Question, signal: AbortSignal | undefined): Promise<object>;
  /** Forwards progress of the task to the caller. */
  progress(progress: ProgressNotificationParams): void;
}

/** The running calls of one connection that questions and messages of the server may belong to. */
interface CallsInFlight {
  /** The calls by the ids of their running requests. */
  readonly passed: Map<Id, CallerChannel>;
  /** Tasks of the server that began as calls, by their ids. */
  readonly tasks: Map<string, CallerChannel>;
  /** Tasks by their progress tokens. */
  readonly tokens: Map<Id, TaskChannel>;
}

/** The target and the options of a connection. */
export interface RemoteTarget {
  readonly name: string;
  readonly target: Target | LocalServer;
  readonly options: ClientOptions;
  /** Questions that the callers of this connection can answer; undefined if only the application answers. */
  readonly capabilities: ClientCapabilities | undefined;
  /**
   * Answers questions that belong to no running call: the application, or the one client that the connection is for.
   */
  readonly application: CallerChannel;
  /** The lock of the server; undefined if every offer is allowed. */
  readonly lock: DriftPolicy | undefined;
}

/** One connection to a server of the host, with the calls that are forwarded over it. */
export class RemoteConnection {
  readonly client: Client;
  readonly name: string;
  /**
   * True if the server sends its questions as requests while a call runs. False if it returns them as results of the
   * call.
   */
  readonly asksByRequest: boolean;
  /** Questions that the callers can answer, as declared to the server; undefined if only the application answers. */
  readonly declared: ClientCapabilities | undefined;
  /** Number of running calls, including those of the application. */
  running = 0;
  /** True if the connection has ended. */
  hasEnded = false;
  /** The time of the server's last answer to a call, on the monotonic clock. Set by the owner. */
  answeredAt = Number.NEGATIVE_INFINITY;
  /** Resolves when the connection has ended for any reason, with the error if there is one. */
  readonly ended: Promise<Error | undefined>;
  readonly #core: ClientCore;
  readonly #calls: CallsInFlight;
  #level: LoggingLevel | undefined;

  constructor(name: string, core: ClientCore, calls: CallsInFlight, declared: ClientCapabilities | undefined) {
    this.name = name;
    this.declared = declared;
    this.#core = core;
    this.#calls = calls;
    this.client = new Client(core);
    this.asksByRequest = core.connection.established.serverMayAsk;
    this.ended = new Promise((resolve) => {
      const checkState = (reason?: Error) => {
        const { state } = this.client;
        this.hasEnded = state === "disconnected" || state === "closed";
        if (this.hasEnded) resolve(reason);
      };
      this.client.on("state", ({ reason }) => checkState(reason));
      checkState();
    });
    core.router.on("notifications/progress", (progress: ProgressNotificationParams) =>
      calls.tokens.get(progress.progressToken)?.progress(progress),
    );
    core.router.on("notifications/message", (message, about) => this.#log(message as unknown as Params, about));
  }

  /** Opens a connection without automatic reconnection, because the owner decides when to reconnect. */
  static async open({ name, target, options, lock, ...asked }: RemoteTarget): Promise<RemoteConnection> {
    const calls: CallsInFlight = { passed: new Map(), tasks: new Map(), tokens: new Map() };
    const { capabilities: can } = asked;
    const forwards = can && { forwarder: forwarderOf(name, calls, can, asked.application) };
    const core = await openClientCore(target, options, { reopens: false, ...forwards });
    const connection = new RemoteConnection(name, core, calls, can);
    if (lock !== undefined) await enforcePolicy(connection.client, lock);
    return connection;
  }

  /** Sends a request for a caller. Resolves with the server's result, or with a round of its questions. */
  forward(
    method: string,
    params: Params,
    call: CallerChannel,
    options: CallOptions,
    forwarded: ForwardedCall,
  ): Promise<Record<string, unknown> | InterimResult> {
    if (forwarded.logLevel !== undefined && this.asksByRequest) this.#lowerLevel(forwarded.logLevel);
    return this.#tracked<Record<string, unknown> | InterimResult>(call, (onSent) => {
      const own: CallExtras = { forwarded, onSent };
      // Tool calls are sent separately, because some arguments may have to be repeated in headers, and only the list of
      // tools defines which arguments.
      if (method !== "tools/call") return this.#core.caller.call(method, params, options, own);
      const { name, arguments: args } = params as { name: string; arguments?: object };
      let starting = options;
      if (call.task !== undefined) {
        let token: Id | undefined;
        own.onSent = (id) => {
          token = id;
          onSent(id);
        };
        starting = this.#starting(call, call.task, options, () => token);
      }
      // Safe: the client has checked that the answer is an object or a round of questions.
      return requestToolAnswer(this.#core.tools, name, args, starting, own) as Promise<Record<string, unknown>>;
    });
  }

  /** Keeps the session's log level at the lowest that any caller wants; messages are filtered per caller. */
  #lowerLevel(level: LoggingLevel): void {
    const wanted = this.#level === undefined || !passesLevel(level, this.#level);
    if (!wanted || this.client.serverCapabilities.logging === undefined) return;
    this.#level = level;
    // If the server rejects the level, the call continues without its log messages.
    this.client.setLogLevel(level).catch(() => {});
  }

  /** Options that let the server create a task for the call, if this connection can follow tasks. */
  #starting(call: CallerChannel, task: TaskChannel, options: CallOptions, token: () => Id | undefined): CallOptions {
    // Safe: only the tasks extension has this id.
    const feature = this.#core.extensions.feature(TASKS.id) as TaskFeature | undefined;
    if (feature === undefined) return options;
    const { tasks, tokens } = this.#calls;
    const started = (followed: FollowedTask) => {
      const id = token();
      tasks.set(followed.id, call);
      if (id !== undefined) tokens.set(id, task);
      this.running++;
      task.started(followed, () => {
        tasks.delete(followed.id);
        if (id !== undefined) tokens.delete(id);
        this.running--;
      });
    };
    return feature.startOptions(options, started, (question, signal) => task.ask(question, signal));
  }

  /** Calls a tool for the application and returns its checked result. */
  callTool(
    name: string,
    args: object | undefined,
    call: CallerChannel,
    options: CallOptions,
    extras: CallExtras,
  ): Promise<CallToolResult> {
    return this.#tracked(call, (onSent) => requestTool(this.#core.tools, name, args, options, { ...extras, onSent }));
  }

  /** Sends any other request for the application. */
  requester(call: CallerChannel): Requester {
    const { caller } = this.#core;
    return {
      strict: caller.strict,
      warn: (message) => caller.warn(message),
      call: (method, params, options) =>
        this.#tracked(call, (onSent) => caller.call(method, params, options, { onSent })),
    };
  }

  /** Counts the call as running, and maps the ids of its requests to `call`, until `send` settles. */
  #tracked<T>(call: CallerChannel, send: (onSent: (id: Id) => void) => Promise<T>): Promise<T> {
    const { passed } = this.#calls;
    let current: Id | undefined;
    const end = () => {
      this.running--;
      if (current !== undefined) passed.delete(current);
    };
    this.running++;
    return send((id) => {
      if (current !== undefined) passed.delete(current);
      current = id;
      passed.set(id, call);
    }).then(
      (result) => {
        end();
        return result;
      },
      (error: unknown) => {
        end();
        throw error;
      },
    );
  }

  close(): Promise<void> {
    return this.client.close();
  }

  #log(message: Params, about: Id | undefined): void {
    const { passed, tasks } = this.#calls;
    const task = relatedTask(message);
    const call = about === undefined ? onlyCaller(passed.values()) : passed.get(about);
    ((task === undefined ? undefined : tasks.get(task)) ?? call)?.log(message);
  }
}

/** The last of the calls if all of them belong to one caller; otherwise undefined. */
function onlyCaller(calls: Iterable<CallerChannel>): CallerChannel | undefined {
  let last: CallerChannel | undefined;
  for (const call of calls) {
    if (last !== undefined && last.caller !== call.caller) return undefined;
    last = call;
  }
  return last;
}

function forwarderOf(
  name: string,
  { passed, tasks }: CallsInFlight,
  capabilities: ClientCapabilities,
  application: CallerChannel,
): QuestionForwarder {
  const { extensions: _declared, ...askable } = capabilities;
  return {
    capabilities: () => askable,
    async answer(question, about, signal) {
      const task = relatedTask(question.params);
      const ofTask = task === undefined ? undefined : tasks.get(task);
      try {
        if (ofTask?.task !== undefined) return await ofTask.task.ask(question, signal);
        const fallback = passed.size === 0 && tasks.size === 0 ? application : undefined;
        const call =
          (about === undefined ? onlyCaller([...tasks.values(), ...passed.values()]) : passed.get(about)) ?? fallback;
        if (call === undefined) throw unattributed(name, question);
        return await (tasksOf(call, passed, tasks)?.ask(question, signal) ?? call.ask(question, signal));
      } catch (error) {
        throw fromCaller(error);
      }
    },
  };
}

/**
 * The task of a call whose own request has already ended. Undefined while the request is running, or if there is no
 * task.
 */
function tasksOf(
  call: CallerChannel,
  passed: ReadonlyMap<Id, CallerChannel>,
  tasks: ReadonlyMap<string, CallerChannel>,
): TaskChannel | undefined {
  if ([...passed.values()].includes(call) || ![...tasks.values()].includes(call)) return undefined;
  return call.task;
}

/** The id of the task that a question or a log message belongs to. */
function relatedTask(params: Params | undefined): string | undefined {
  const meta = params?.["_meta"];
  const related = isObject(meta) ? meta[META.relatedTask] : undefined;
  return isObject(related) && typeof related["taskId"] === "string" ? related["taskId"] : undefined;
}

/** Converts an error with which the caller answered, so that the server gets it unchanged. */
function fromCaller(error: unknown): unknown {
  const sent = error instanceof RpcError || (McpError.is(error) && error.remote);
  if (!sent) return error;
  return new McpError("peer_error", error.message, { code: error.code, data: error.data });
}

function unattributed(name: string, { method }: Question): McpError {
  return new McpError(
    "capability_missing",
    `calls of several clients are running, and ${method} does not say which one it belongs to`,
    { fix: `Set \`isolation: "client"\` for the server "${name}", so that each client has its own connection.` },
  );
}
