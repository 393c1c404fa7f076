import type { QuestionForwarder } from "../../client/answers/answerer.js";
import type { ClientParts } from "../../client/assemble.js";
import type { CallExtras, ForwardedCall, InterimResult, Requester } from "../../client/call/requester.js";
import { Client } from "../../client/client.js";
import type { LocalServer, Target } from "../../client/connect.js";
import type { CallOptions, ClientOptions } from "../../client/contract/options.js";
import type { FollowedTask, TaskFeature } from "../../client/contract/task-handle.js";
import { requestTool, requestToolAnswer } from "../../client/features/tools.js";
import { openParts } from "../../client/open-client.js";
import type { Question } from "../../era/era.js";
import { RpcError } from "../../jsonrpc/error.js";
import { type Id, isObject, type Params } from "../../jsonrpc/message.js";
import type { DriftPolicy } from "../../lock/drift-policy.js";
import { holdOpened } from "../../lock/lock-guard.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { TASKS } from "../../protocol/features/tasks.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { ProgressNotificationParams } from "../../protocol/lifecycle.js";
import { type LoggingLevel, passesLevel } from "../../protocol/logging.js";
import { META } from "../../protocol/meta.js";

/** A call that is passed on for somebody else, as far as its server may turn to them while it runs. */
export interface PassedCall {
  /** Who made it; the same value for all calls of one client. */
  readonly caller: unknown;
  /** Puts a question of the server to the caller. */
  ask(question: Question, signal: AbortSignal): Promise<object>;
  /** Sends a log message of the server to the caller. */
  log(message: Params): void;
  /** Takes the task that the server made of the call; absent if the caller takes none. */
  readonly task?: PassedTask | undefined;
}

/** Follows a task of the server for a caller. */
export interface PassedTask {
  /** `over` is to be called when it is no longer followed. */
  started(task: FollowedTask, over: () => void): void;
  ask(question: Question, signal: AbortSignal | undefined): Promise<object>;
  /** The server reports progress of the task. */
  progress(progress: ProgressNotificationParams): void;
}

/** The calls of one connection that the server may turn to. */
interface CallsInFlight {
  readonly passed: Map<Id, PassedCall>;
  /** Tasks of the server that were calls, by their ids. */
  readonly tasks: Map<string, PassedCall>;
  /** Tasks by the tokens of their progress. */
  readonly tokens: Map<Id, PassedTask>;
}

/** How a connection is opened. */
export interface RemoteTarget {
  readonly name: string;
  readonly target: Target | LocalServer;
  readonly options: ClientOptions;
  /** What the callers of this connection can be asked for; undefined where the application itself answers. */
  readonly capabilities: ClientCapabilities | undefined;
  /** Answers questions that are about no call in flight: the application, or the one client that the connection is for. */
  readonly application: PassedCall;
  /** What is allowed of the server; undefined for all. */
  readonly lock: DriftPolicy | undefined;
}

/** One connection to a server of the host, with the calls that are passed on over it. */
export class RemoteConnection {
  readonly client: Client;
  readonly name: string;
  /** True if questions come as requests of the server while a call runs, and not in its results. */
  readonly asksByRequest: boolean;
  /** The questions that its callers can answer, as declared; undefined where the application itself answers. */
  readonly declared: ClientCapabilities | undefined;
  /** Calls in flight, the application's own included. */
  running = 0;
  /** Whether nothing can be sent over it any more. */
  hasEnded = false;
  /** When the server answered a call over it last, on the monotonic clock; its owner notes it. */
  answeredAt = Number.NEGATIVE_INFINITY;
  /** Resolves with the reason when the connection has ended, whoever ended it. */
  readonly ended: Promise<Error | undefined>;
  readonly #parts: ClientParts;
  readonly #calls: CallsInFlight;
  #level: LoggingLevel | undefined;

  constructor(name: string, parts: ClientParts, calls: CallsInFlight, declared: ClientCapabilities | undefined) {
    this.name = name;
    this.declared = declared;
    this.#parts = parts;
    this.#calls = calls;
    this.client = new Client(parts);
    this.asksByRequest = parts.connection.established.serverMayAsk;
    this.ended = new Promise((resolve) => {
      const look = (reason?: Error) => {
        const { state } = this.client;
        this.hasEnded = state === "disconnected" || state === "closed";
        if (this.hasEnded) resolve(reason);
      };
      this.client.on("state", ({ reason }) => look(reason));
      look();
    });
    parts.router.on("notifications/progress", (progress: ProgressNotificationParams) =>
      calls.tokens.get(progress.progressToken)?.progress(progress),
    );
    parts.router.on("notifications/message", (message, about) => this.#log(message as unknown as Params, about));
  }

  /** Opens a connection that is not opened again when it is lost: its owner decides that. */
  static async open({ name, target, options, lock, ...asked }: RemoteTarget): Promise<RemoteConnection> {
    const calls: CallsInFlight = { passed: new Map(), tasks: new Map(), tokens: new Map() };
    const { capabilities: can } = asked;
    const forwards = can && { forwarder: forwarderOf(name, calls, can, asked.application) };
    const parts = await openParts(target, options, { reopens: false, ...forwards });
    const connection = new RemoteConnection(name, parts, calls, can);
    if (lock !== undefined) await holdOpened(connection.client, lock);
    return connection;
  }

  /** Sends a request for a caller; the result is that of the server, or a round of its questions. */
  pass(
    method: string,
    params: Params,
    call: PassedCall,
    options: CallOptions,
    forwarded: ForwardedCall,
  ): Promise<Record<string, unknown> | InterimResult> {
    if (forwarded.logLevel !== undefined && this.asksByRequest) this.#lowerLevel(forwarded.logLevel);
    return this.#tracked<Record<string, unknown> | InterimResult>(call, (onSent) => {
      const own: CallExtras = { forwarded, onSent };
      // Tools have headers to repeat, which only their lists tell.
      if (method !== "tools/call") return this.#parts.caller.call(method, params, options, own);
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
      // The answer is an object, or a round of questions: that is checked on the way.
      return requestToolAnswer(this.#parts.tools, name, args, starting, own) as Promise<Record<string, unknown>>;
    });
  }

  /** Keeps the session's log level at the lowest that any caller wants; messages are filtered per caller. */
  #lowerLevel(level: LoggingLevel): void {
    const wanted = this.#level === undefined || !passesLevel(level, this.#level);
    if (!wanted || this.client.serverCapabilities.logging === undefined) return;
    this.#level = level;
    // The call goes on without its log messages if the server refuses.
    this.client.setLogLevel(level).catch(() => {});
  }

  /** Options that let the server make a task of the call, if this connection can follow tasks. */
  #starting(call: PassedCall, task: PassedTask, options: CallOptions, token: () => Id | undefined): CallOptions {
    // Only the tasks extension has this id.
    const feature = this.#parts.extensions.feature(TASKS.id) as TaskFeature | undefined;
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

  /** Calls a tool for the application, and gives its checked result. */
  callTool(
    name: string,
    args: object | undefined,
    call: PassedCall,
    options: CallOptions,
    extras: CallExtras,
  ): Promise<CallToolResult> {
    return this.#tracked(call, (onSent) => requestTool(this.#parts.tools, name, args, options, { ...extras, onSent }));
  }

  /** Sends any other request for the application. */
  requester(call: PassedCall): Requester {
    const { caller } = this.#parts;
    return {
      strict: caller.strict,
      warn: (message) => caller.warn(message),
      call: (method, params, options) =>
        this.#tracked(call, (onSent) => caller.call(method, params, options, { onSent })),
    };
  }

  /** Knows whose call a question is about as long as `send` runs. */
  #tracked<T>(call: PassedCall, send: (onSent: (id: Id) => void) => Promise<T>): Promise<T> {
    const { passed } = this.#calls;
    let current: Id | undefined;
    const over = () => {
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
        over();
        return result;
      },
      (error: unknown) => {
        over();
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

/** The last of the calls if all of them are of one caller. */
function onlyCaller(calls: Iterable<PassedCall>): PassedCall | undefined {
  let last: PassedCall | undefined;
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
  application: PassedCall,
): QuestionForwarder {
  const { extensions: _declared, ...askable } = capabilities;
  return {
    capabilities: () => askable,
    async answer(question, about, signal) {
      const task = relatedTask(question.params);
      const ofTask = task === undefined ? undefined : tasks.get(task);
      try {
        if (ofTask?.task !== undefined) return await ofTask.task.ask(question, signal);
        const nobody = passed.size === 0 && tasks.size === 0 ? application : undefined;
        const call =
          (about === undefined ? onlyCaller([...tasks.values(), ...passed.values()]) : passed.get(about)) ?? nobody;
        if (call === undefined) throw unattributed(name, question);
        return await (tasksOf(call, passed, tasks)?.ask(question, signal) ?? call.ask(question, signal));
      } catch (error) {
        throw fromCaller(error);
      }
    },
  };
}

/** The task of a call that is no longer in flight itself. */
function tasksOf(
  call: PassedCall,
  passed: ReadonlyMap<Id, PassedCall>,
  tasks: ReadonlyMap<string, PassedCall>,
): PassedTask | undefined {
  if ([...passed.values()].includes(call) || ![...tasks.values()].includes(call)) return undefined;
  return call.task;
}

/** The task that a question says it belongs to. */
function relatedTask(params: Params | undefined): string | undefined {
  const meta = params?.["_meta"];
  const related = isObject(meta) ? meta[META.relatedTask] : undefined;
  return isObject(related) && typeof related["taskId"] === "string" ? related["taskId"] : undefined;
}

/** What the caller answered is for the server, whatever this side would make of such an error of its own. */
function fromCaller(error: unknown): unknown {
  const sent = error instanceof RpcError || (McpError.is(error) && error.remote);
  if (!sent) return error;
  return new McpError("peer_error", error.message, { code: error.code, data: error.data });
}

function unattributed(name: string, { method }: Question): McpError {
  return new McpError(
    "capability_missing",
    `calls of several clients are in flight, and ${method} does not say which of them it is about`,
    { fix: `Set \`isolation: "client"\` for the server "${name}", so that each client has its own connection.` },
  );
}
