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
import type { PassedCall, RemoteConnection } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { CallTask } from "./call-task.js";
import { isTaskRequired } from "./passed-error.js";
import { type ParkedCalls, parkedId, RunningCall } from "./running-call.js";

/** A request that a gateway passes on, with everything that does not depend on the connection. */
export interface PassedRequest {
  readonly call: ServerCall;
  readonly server: RemoteServer;
  readonly caller: unknown;
  /** What the caller can be asked for. */
  readonly askable: ClientCapabilities;
  readonly canBeAsked: boolean;
  /** Whether no earlier round is continued, and the server cannot make a task of the call. */
  readonly isPlain: boolean;
  readonly own: PlainCall;
  /** Without the signal, which the sender sets. */
  readonly options: CallOptions;
  readonly forwarded: ForwardedCall;
}

/** Prepares a call for the server that it is passed on to. */
export function passedRequest(call: ServerCall, server: RemoteServer): PassedRequest {
  const { extensions } = server.parts.options;
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

/** A request on its way over one connection. */
export interface ForwardedRequest extends PassedRequest {
  /** With the names that the server knows. */
  readonly params: Params;
  readonly signal: AbortSignal;
  readonly connection: RemoteConnection;
  /** Keeps calls that go on running between the rounds of their callers. */
  readonly parked: ParkedCalls;
}

function send(
  { server, call, params, connection }: ForwardedRequest,
  passed: PassedCall,
  options: CallOptions,
  forwarded: ForwardedCall,
): ReturnType<RemoteServer["request"]> {
  return server.request({ method: call.request.method, params, call: passed, options, forwarded }, connection);
}

/**
 * Serves a call by a server behind the gateway, in whatever eras the two sides speak: progress, log messages, cancellation,
 * questions and tasks reach the side that they are for.
 */
export function passOn(request: ForwardedRequest): Promise<object> {
  const { call } = request;
  if (taskDialect(call.request.revision).requestedTask(call.request) !== undefined) return withTask(request);
  return passed(request, undefined).catch((error: unknown) => passAgain(request, error));
}

/** Repeats a call that failed because it runs as a task only. Rejects with any other error. */
export async function passAgain(request: ForwardedRequest, error: unknown): Promise<object> {
  // Clients of older revisions learn from lists which tools run as tasks only, and this server does not say it there.
  if (!isTaskRequired(error) || taskDialect(request.call.request.revision).clientsDeclare) throw error;
  const askable = { ...request.askable, extensions: { ...request.askable.extensions, [TASKS.id]: {} } };
  return withTask({ ...request, askable, forwarded: forwardedFor(request.call, askable) });
}

async function withTask(request: ForwardedRequest): Promise<object> {
  const task = new CallTask();
  const outcome = await passed(request, task);
  return task.isStarted && !task.isFollowed ? task.follow(request.call) : outcome;
}

function passed(request: ForwardedRequest, task: CallTask | undefined): Promise<object> {
  const { call, connection, canBeAsked, forwarded, signal } = request;
  if (connection.asksByRequest && canBeAsked) return whileRunning(request, task);
  const own = new PlainCall(call, request.caller, task, connection.asksByRequest);
  const options = { ...optionsFor(call, own), signal };
  // A server that asks by requests has nobody to ask, so that nothing is kept of the call.
  if (connection.asksByRequest) return send(request, own, options, forwarded);
  if (call.request.inputs !== undefined) return inRounds(request, own, options);
  return send(request, own, options, forwarded).then((first) =>
    first instanceof InterimResult ? inRounds(request, own, options, first) : first,
  );
}

/** Rounds of questions in one call; the same bound as a server's own. */
const MAX_ROUNDS = 32;

/** The server asks by requests: a caller that answers in further rounds finds its call still running. */
async function whileRunning(request: ForwardedRequest, task: CallTask | undefined): Promise<object> {
  const { call, parked, forwarded } = request;
  if (call.request.inputs !== undefined) {
    const id = await parkedId(call);
    if (id !== undefined) return parked.take(id).outcome(call, parked, true);
  }
  const running = new RunningCall(request.caller, task, async (self) => {
    try {
      const own = new PlainCall(call, request.caller, task);
      const options = optionsFor(call, {
        progress: (progress) => (call.root.admission?.beforeTool === undefined ? self : own).progress(progress),
      });
      return await send(request, self, { ...options, signal: self.ending.signal }, forwarded);
    } finally {
      parked.over(self);
    }
  });
  return running.outcome(call, parked, false);
}

/**
 * Goes on from round to round with a server that asks in its results. These carry all it needs to go on, so that nothing is kept
 * between the rounds. The `first` was sent already, if one is given.
 */
export async function inRounds(
  request: ForwardedRequest,
  own: PassedCall,
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

/** A call that is asked nothing while it runs, unless it becomes a task. */
class PlainCall implements PassedCall {
  readonly caller: unknown;
  readonly task: CallTask | undefined;
  /** Whether its server may ask by requests; otherwise it asks in its results. */
  asksByRequest: boolean;
  readonly #call: ServerCall;

  constructor(call: ServerCall, caller: unknown, task: CallTask | undefined, asksByRequest = false) {
    this.#call = call;
    this.caller = caller;
    this.task = task;
    this.asksByRequest = asksByRequest;
  }

  /** Whether the caller gets a task in any case, which is not stored yet. */
  get #isStoredFirst(): boolean {
    return this.task !== undefined && this.#call.root.admission?.beforeTool !== undefined;
  }

  ask(): Promise<object> {
    const why = this.asksByRequest
      ? "the client that made this call cannot be asked"
      : "this server asks in its results only";
    return Promise.reject(new McpError("capability_missing", why));
  }

  log(message: Params): void {
    const log = () =>
      this.#call.ctx.log(message["level"] as never, message["data"], message["logger"] as string | undefined);
    if (this.task?.isStarted === true || this.#isStoredFirst) this.task?.whenBegun(log);
    else log();
  }

  /** Reports progress, of a call that has to be stored as a task first when it is. */
  progress(progress: Progress): void {
    if (this.#isStoredFirst) return this.task?.progress(progress);
    this.task?.noted(progress.progress);
    this.#call.ctx.progress(progress.progress, progress);
  }
}

/** What the server answered in this round; a later round of the caller does not send it again. */
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
  // Sealed by this server, or just made above.
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

/** A page to visit has an id in revisions with sessions, which a server without them does not give. */
function withId(call: ServerCall, { method, params }: Question): Question {
  if (params === undefined) return { method };
  if (params["mode"] !== "url" || params["elicitationId"] !== undefined) return { method, params };
  return { method, params: { ...params, elicitationId: call.config.randomId() } };
}

/**
 * One value for all calls of one client: its connection or session, or the principal where there is neither. Calls of nobody known
 * have one each, because the next one may be somebody else's.
 */
export function callerOf({ exchange, root }: ServerCall): unknown {
  return exchange.peer ?? exchange.principal?.key ?? root;
}

function optionsFor(call: ServerCall, own: { progress(progress: Progress): void }): CallOptions {
  const { progressToken, params } = call.request;
  const meta = passedMeta(params["_meta"]);
  const options: CallOptions = {};
  if (meta !== undefined) options.meta = meta;
  if (progressToken !== undefined) options.onProgress = (progress) => own.progress(progress);
  return options;
}

/** What the caller said of itself in the protocol's own members is for this server; the rest is for the one behind it. */
function passedMeta(meta: unknown): Record<string, unknown> | undefined {
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

const NOTHING: ClientCapabilities = { extensions: {} };

function forwardedFor({ request: { logLevel } }: ServerCall, askable: ClientCapabilities): ForwardedCall {
  // Said even where there is none, because the connection declares those of all callers.
  const capabilities =
    askable === NOTHING_ASKABLE ? NOTHING : askable.extensions === undefined ? { ...askable, extensions: {} } : askable;
  return logLevel === undefined ? { capabilities } : { capabilities, logLevel };
}

/** Of a caller that can be asked for nothing, as most. */
const NOTHING_ASKABLE: ClientCapabilities = Object.freeze({});

/**
 * What the caller can be asked for on this connection, and which extensions it has of those that connections to the server
 * `extend` the protocol with.
 */
export function askableOf(call: ServerCall, extend: readonly Extension[] | undefined): ClientCapabilities {
  const { elicitation, sampling, roots } = call.request.clientCapabilities;
  const extensions = extend === undefined ? undefined : declaredOf(call, extend);
  // Most callers declare nothing of it.
  if (elicitation === undefined && sampling === undefined && roots === undefined && extensions === undefined) {
    return NOTHING_ASKABLE;
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
    // Whoever takes a task for this call gets it in the form of its own revision.
    if (id === TASKS.id)
      return taskDialect(call.request.revision).requestedTask(call.request) !== undefined ? [[id, {}]] : [];
    return isObject(declared) && isObject(declared[id]) ? [[id, declared[id]]] : [];
  });
  const complete = withRequired(Object.fromEntries(shared), extend);
  return Object.keys(complete).length === 0 ? undefined : complete;
}

/** The extensions without those that require another which is missing: a connection cannot have them. */
function withRequired(declared: Record<string, unknown>, extend: readonly Extension[]): Record<string, unknown> {
  // Every connection follows tasks, whatever its callers take.
  const has = (id: string) => id === TASKS.id || Object.hasOwn(declared, id);
  const lacking = extend.filter(({ id, requires = [] }) => Object.hasOwn(declared, id) && !requires.every(has));
  if (lacking.length === 0) return declared;
  const rest = Object.entries(declared).filter(([id]) => lacking.every((one) => one.id !== id));
  return withRequired(Object.fromEntries(rest), extend);
}

/**
 * Lets the client of a call answer what the server asks outside of calls, for example for roots after the handshake, over a
 * connection that only this client uses: the client is asked on its own session.
 */
export function answerOutside(server: RemoteServer, call: ServerCall): void {
  const { peer } = call.exchange;
  if (peer?.session !== undefined) server.answersOutside(peer, outsideCall(call, peer));
}

/** Asks the client of `call` by requests that belong to none of its calls. */
function outsideCall({ owner, request, row }: ServerCall, peer: Peer): PassedCall {
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
      // Raw answers are objects: askers refuse anything else.
      return withAsking(({ forwardQuestion }) => forwardQuestion(own, question, key)) as Promise<object>;
    },
    // Messages outside of a call have no caller whose log level they could pass.
    log() {},
  };
}
