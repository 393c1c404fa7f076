import { type ForwardedCall, InterimResult } from "../../client/call/requester.js";
import type { CallOptions } from "../../client/contract/options.js";
import type { OutgoingCall, Question } from "../../era/era.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { Extension } from "../../protocol/extension.js";
import { TASKS } from "../../protocol/features/tasks.js";
import { META } from "../../protocol/meta.js";
import { canAsk } from "../../server/call/can-ask.js";
import { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";
import type { Exchange, Peer } from "../../transport/transport.js";
import type { CallerChannel, RemoteConnection } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { CallTask } from "./call-task.js";
import { isTaskRequired } from "./forward-error.js";
import { type ParkedCalls, parkedId, RunningCall } from "./running-call.js";

/** A request to forward, without the parts that depend on the connection. */
export interface PreparedRequest {
  readonly call: ServerCall;
  readonly server: RemoteServer;
  readonly caller: unknown;
  /** Questions that the caller can answer. */
  readonly askable: ClientCapabilities;
  readonly canBeAsked: boolean;
  /** True if the request does not continue an earlier round, and neither an extension nor a task is involved. */
  readonly isPlain: boolean;
  readonly own: PlainCall;
  /** Options without the signal, which the sender sets. */
  readonly options: CallOptions;
  readonly forwarded: ForwardedCall;
}

/** Prepares a call for the server that it is forwarded to. */
export function prepareRequest(call: ServerCall, server: RemoteServer): PreparedRequest {
  const { extensions } = server.config.options;
  const askable = askableOf(call, extensions);
  const own = new PlainCall(call, callerOf(call), undefined);
  return {
    call,
    server,
    caller: own.caller,
    askable,
    canBeAsked: askable.elicitation !== undefined || askable.sampling !== undefined || askable.roots !== undefined,
    isPlain:
      extensions === undefined && call.request.inputs === undefined && call.root.admission?.beforeTool === undefined,
    own,
    options: optionsFor(call, own),
    forwarded: forwardedFor(call, askable),
  };
}

/** A request to forward over one connection. */
export interface ForwardedRequest extends PreparedRequest {
  /** The parameters, with the names that the server uses. */
  readonly params: Params;
  readonly signal: AbortSignal;
  readonly connection: RemoteConnection;
  /** Stores calls that continue to run between the rounds of their callers. */
  readonly parked: ParkedCalls;
}

function send(
  { server, call, params, connection }: ForwardedRequest,
  passed: CallerChannel,
  options: CallOptions,
  forwarded: ForwardedCall,
): ReturnType<RemoteServer["request"]> {
  return server.request({ method: call.request.method, params, call: passed, options, forwarded }, connection);
}

/**
 * Forwards a call to a server of the gateway, even if caller and server speak different eras of the protocol. Forwards
 * progress, log messages, cancellation, questions and tasks as well.
 */
export function forwardRequest(request: ForwardedRequest): Promise<object> {
  const { call } = request;
  if (taskDialect(call.request.revision).requestedTask(call.request) !== undefined) return forwardAsTask(request);
  return forwardOnce(request, undefined).catch((error: unknown) => retryAsTask(request, error));
}

/** Repeats a call as a task if it failed because its tool only runs as a task. Rejects with any other error. */
export async function retryAsTask(request: ForwardedRequest, error: unknown): Promise<object> {
  // Clients of older revisions learn from `tools/list` which tools require a task. This gateway does not list that, so
  // it runs the task for them.
  if (!isTaskRequired(error) || taskDialect(request.call.request.revision).clientsDeclare) throw error;
  const askable = { ...request.askable, extensions: { ...request.askable.extensions, [TASKS.id]: {} } };
  return forwardAsTask({ ...request, askable, forwarded: forwardedFor(request.call, askable) });
}

async function forwardAsTask(request: ForwardedRequest): Promise<object> {
  const task = new CallTask();
  const outcome = await forwardOnce(request, task);
  return task.isStarted && !task.isFollowed ? task.follow(request.call) : outcome;
}

function forwardOnce(request: ForwardedRequest, task: CallTask | undefined): Promise<object> {
  const { call, connection, canBeAsked, forwarded, signal } = request;
  if (connection.asksByRequest && canBeAsked) return runOrResume(request, task);
  const own = new PlainCall(call, request.caller, task, connection.asksByRequest);
  const options = { ...optionsFor(call, own), signal };
  // This caller cannot answer questions. The call need not be parked, because a question of the server is rejected at
  // once.
  if (connection.asksByRequest) return send(request, own, options, forwarded);
  if (call.request.inputs !== undefined) return continueRounds(request, own, options);
  return send(request, own, options, forwarded).then((first) =>
    first instanceof InterimResult ? continueRounds(request, own, options, first) : first,
  );
}

/** Maximum number of rounds of questions in one call, as for a server's own calls. A further round is an error. */
const MAX_ROUNDS = 32;

/**
 * Forwards a call to a server that asks by requests. For a caller that answers in further rounds, the call continues to
 * run between the rounds.
 */
async function runOrResume(request: ForwardedRequest, task: CallTask | undefined): Promise<object> {
  const { call, parked, forwarded } = request;
  if (call.request.inputs !== undefined) {
    const id = await parkedId(call);
    if (id !== undefined) return parked.get(id).outcome(call, parked, true);
  }
  const running = new RunningCall(request.caller, task, async (self) => {
    try {
      const own = new PlainCall(call, request.caller, task);
      const options = optionsFor(call, {
        progress: (progress) => (call.root.admission?.beforeTool === undefined ? self : own).progress(progress),
      });
      return await send(request, self, { ...options, signal: self.ending.signal }, forwarded);
    } finally {
      parked.markEnded(self);
    }
  });
  return running.outcome(call, parked, false);
}

/**
 * Continues from round to round with a server that asks in its results. The results contain all state, so nothing is
 * stored between the rounds. `first` is the result of the first round if that round was already sent.
 */
export async function continueRounds(
  request: ForwardedRequest,
  own: CallerChannel,
  options: CallOptions,
  first?: InterimResult,
): Promise<object> {
  const { call, forwarded } = request;
  let inputs: OutgoingCall["inputs"];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const sent = inputs === undefined ? forwarded : { ...forwarded, inputs };
    const sendRound = async () => (round === 0 && first !== undefined ? first : send(request, own, options, sent));
    const outcome = await recorded(call, round, sendRound);
    if (!(outcome instanceof InterimResult)) return outcome;
    inputs = await answersOf(call, round, outcome);
  }
  throw new McpError("limit_exceeded", `a call asked more than ${MAX_ROUNDS} rounds of questions`, {
    data: { limit: "rounds", value: MAX_ROUNDS },
  });
}

type Progress = Parameters<NonNullable<CallOptions["onProgress"]>>[0];

/** A call that gets no questions while it runs, unless it becomes a task. */
class PlainCall implements CallerChannel {
  readonly caller: unknown;
  readonly task: CallTask | undefined;
  /** True if the server may ask by requests, false if it asks in its results. */
  asksByRequest: boolean;
  readonly #call: ServerCall;

  constructor(call: ServerCall, caller: unknown, task: CallTask | undefined, asksByRequest = false) {
    this.#call = call;
    this.caller = caller;
    this.task = task;
    this.asksByRequest = asksByRequest;
  }

  /** True if the caller gets a task in any case, and its task is not stored yet. */
  get #isStoredFirst(): boolean {
    return this.task !== undefined && this.#call.root.admission?.beforeTool !== undefined;
  }

  ask(): Promise<object> {
    const why = this.asksByRequest
      ? "the client that made this call cannot answer questions"
      : "this server must ask in its results, not by requests";
    return Promise.reject(new McpError("capability_missing", why));
  }

  log(message: Params): void {
    const log = () =>
      this.#call.ctx.log(message["level"] as never, message["data"], message["logger"] as string | undefined);
    if (this.task?.isStarted === true || this.#isStoredFirst) this.task?.runWhenBegun(log);
    else log();
  }

  /** Reports progress. If the call must first be stored as a task, the report waits until it is stored. */
  progress(progress: Progress): void {
    if (this.#isStoredFirst) return this.task?.progress(progress);
    this.task?.recordProgress(progress.progress);
    this.#call.ctx.progress(progress.progress, progress);
  }
}

/**
 * Sends a round and records the server's questions, so that the gateway does not send this round again when the caller
 * returns with answers.
 */
async function recorded(
  call: ServerCall,
  round: number,
  send: () => Promise<Record<string, unknown> | InterimResult>,
): Promise<Record<string, unknown> | InterimResult> {
  let complete: Record<string, unknown> | undefined;
  const work = async () => {
    const outcome = await send();
    if (outcome instanceof InterimResult) return { questions: outcome.questions, state: outcome.state };
    complete = outcome;
    return null;
  };
  const record = await withAsking(() => call.asker.step(`gateway.round.${round}`, work));
  if (complete !== undefined) return complete;
  // Safe: the record was sealed by this server, or created above.
  const { questions, state } = record as { questions: Record<string, Question>; state?: string };
  return new InterimResult(questions, state);
}

async function answersOf(
  call: ServerCall,
  round: number,
  { questions, state }: InterimResult,
): Promise<NonNullable<OutgoingCall["inputs"]>> {
  const answers = await Promise.all(
    Object.entries(questions).map(async ([key, question]) => {
      const name = `gateway.${round}.${key}`;
      const asked = withId(call, question);
      return [key, await withAsking(({ forwardQuestion }) => forwardQuestion(call, asked, name))] as const;
    }),
  );
  return {
    ...(answers.length === 0 ? {} : { responses: Object.fromEntries(answers) }),
    ...(state === undefined ? {} : { state }),
  };
}

/**
 * Adds an id to a URL elicitation. Revisions with sessions require the id, and servers without sessions do not send
 * one.
 */
function withId(call: ServerCall, { method, params }: Question): Question {
  if (params === undefined) return { method };
  if (params["mode"] !== "url" || params["elicitationId"] !== undefined) return { method, params };
  return { method, params: { ...params, elicitationId: call.config.randomId() } };
}

/**
 * Identifies the client of a call: its connection or session, or else its principal. An anonymous call gets a value of
 * its own, because the next anonymous call may come from another client.
 */
export function callerOf({ exchange, root }: ServerCall): unknown {
  return exchange.peer ?? exchange.principal?.key ?? root;
}

function optionsFor(call: ServerCall, own: { progress(progress: Progress): void }): CallOptions {
  const { progressToken, params } = call.request;
  const meta = forwardedMeta(params["_meta"]);
  const options: CallOptions = {};
  if (meta !== undefined) options.meta = meta;
  if (progressToken !== undefined) options.onProgress = (progress) => own.progress(progress);
  return options;
}

/** The caller's `_meta` without the keys of the protocol, which are addressed to this server. */
function forwardedMeta(meta: unknown): Record<string, unknown> | undefined {
  if (!isObject(meta)) return undefined;
  let rest: Record<string, unknown> | undefined;
  for (const key of Object.keys(meta)) {
    if (OWN_META.has(key)) continue;
    rest ??= {};
    rest[key] = meta[key];
  }
  return rest;
}

const OWN_META: ReadonlySet<string> = new Set([...Object.values(META), "progressToken"]);

const NO_EXTENSIONS: ClientCapabilities = { extensions: {} };

function forwardedFor({ request: { logLevel } }: ServerCall, askable: ClientCapabilities): ForwardedCall {
  // Sent even if empty. Otherwise the capabilities that the connection declares for all callers would apply.
  const capabilities =
    askable === NO_QUESTIONS
      ? NO_EXTENSIONS
      : askable.extensions === undefined
        ? { ...askable, extensions: {} }
        : askable;
  return logLevel === undefined ? { capabilities } : { capabilities, logLevel };
}

/** The capabilities of a caller that cannot answer any question. Most callers cannot. */
const NO_QUESTIONS: ClientCapabilities = Object.freeze({});

/**
 * The questions that the caller can answer on this connection, and the caller's extensions that are also in `extend`.
 * `extend` lists the extensions of the connections to the server.
 */
export function askableOf(call: ServerCall, extend: readonly Extension[] | undefined): ClientCapabilities {
  const { elicitation, sampling, roots } = call.request.clientCapabilities;
  const extensions = extend === undefined ? undefined : declaredOf(call, extend);
  // Most callers declare none of these.
  if (elicitation === undefined && sampling === undefined && roots === undefined && extensions === undefined) {
    return NO_QUESTIONS;
  }
  const askable: ClientCapabilities = {};
  const form = canAsk(call, "elicitation.form");
  const url = canAsk(call, "elicitation.url");
  if (form || url) askable.elicitation = { ...(form ? { form: {} } : {}), ...(url ? { url: {} } : {}) };
  if (canAsk(call, "sampling")) askable.sampling = canAsk(call, "sampling.tools") ? { tools: {} } : {};
  if (canAsk(call, "roots")) askable.roots = {};
  if (extensions !== undefined) askable.extensions = extensions;
  return askable;
}

function declaredOf(call: ServerCall, extend: readonly Extension[]): Record<string, unknown> | undefined {
  const declared = call.request.clientCapabilities.extensions;
  const shared = extend.flatMap(({ id }): [string, unknown][] => {
    // Declares tasks if this call may become a task. The caller gets the task in the form of its own revision.
    if (id === TASKS.id)
      return taskDialect(call.request.revision).requestedTask(call.request) !== undefined ? [[id, {}]] : [];
    return isObject(declared) && isObject(declared[id]) ? [[id, declared[id]]] : [];
  });
  const complete = withRequired(Object.fromEntries(shared), extend);
  return Object.keys(complete).length === 0 ? undefined : complete;
}

/** Removes extensions whose required extensions are missing, because a connection cannot have them. */
function withRequired(declared: Record<string, unknown>, extend: readonly Extension[]): Record<string, unknown> {
  // A required tasks extension is never missing, because every connection follows tasks, whether its callers accept
  // them or not.
  const has = (id: string) => id === TASKS.id || Object.hasOwn(declared, id);
  const lacking = extend.filter(({ id, requires = [] }) => Object.hasOwn(declared, id) && !requires.every(has));
  if (lacking.length === 0) return declared;
  const rest = Object.entries(declared).filter(([id]) => lacking.every((one) => one.id !== id));
  return withRequired(Object.fromEntries(rest), extend);
}

/**
 * Lets the client of a call answer questions outside of calls, such as a request for roots after the handshake. The
 * questions arrive over a connection that only this client uses, and are forwarded over the client's session.
 */
export function answerOutsideCalls(server: RemoteServer, call: ServerCall): void {
  const { peer } = call.exchange;
  if (peer?.session !== undefined) server.setCallerChannel(peer, outsideChannel(call, peer));
}

/** Asks the client of `call` by requests that belong to none of its calls. */
function outsideChannel({ owner, request, row }: ServerCall, peer: Peer): CallerChannel {
  let asked = 0;
  return {
    caller: peer,
    ask(question, signal) {
      const exchange: Exchange = {
        id: request.id,
        signal,
        peer,
        principal: peer.principal,
        send: (text) => peer.send(text),
        ask: (outgoing) => peer.ask(outgoing),
      };
      asked++;
      const own = new ServerCall(owner, request, row, exchange);
      const key = `gateway.outside.${asked}`;
      // Safe: askers reject every answer that is not an object.
      return withAsking(({ forwardQuestion }) => forwardQuestion(own, question, key)) as Promise<object>;
    },
    // Messages outside of a call have no caller whose log level would apply, so they are dropped.
    log() {},
  };
}
