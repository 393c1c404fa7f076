import { type ForwardedCall, InterimResult } from "../../client/call/requester.js";
import type { CallOptions } from "../../client/contract/options.js";
import type { OutgoingCall, Question } from "../../era/era.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { TASKS } from "../../protocol/features/tasks.js";
import { META } from "../../protocol/meta.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";
import type { PassedCall, RemoteConnection } from "../connection/remote-connection.js";
import { isAskable, NOTHING_ASKABLE } from "./askable.js";
import { CallTask } from "./call-task.js";
import type { ParkedCalls } from "./parked-calls.js";
import { isTaskRequired } from "./passed-error.js";
import { parkedId, RunningCall } from "./running-call.js";

/** Sends one request of a caller to the server that it is for. */
export type SendOn = (
  params: Params,
  call: PassedCall,
  options: CallOptions,
  forwarded: ForwardedCall,
) => Promise<Record<string, unknown> | InterimResult>;

/** A request that a gateway passes on. */
export interface PassedRequest {
  readonly call: ServerCall;
  /** With the names that the server knows. */
  readonly params: Params;
  /** What the caller can be asked for. */
  readonly askable: ClientCapabilities;
  readonly connection: RemoteConnection;
  readonly send: SendOn;
}

/**
 * Serves a call by a server behind the gateway, in whatever eras the two sides speak: progress, log messages, cancellation,
 * questions and tasks reach the side that they are for.
 */
export function passOn(request: PassedRequest, parked: ParkedCalls<RunningCall>): Promise<object> {
  const { call } = request;
  const dialect = taskDialect(call.request.revision);
  if (dialect.wanted(call.request) !== undefined) return withTask(request, parked);
  return passed(request, parked, undefined).catch((error: unknown) => {
    // Clients of older revisions learn from lists which tools run as tasks only, and this server does not say it there.
    if (!isTaskRequired(error) || dialect.declared) throw error;
    const extensions = { ...request.askable.extensions, [TASKS.id]: {} };
    return withTask({ ...request, askable: { ...request.askable, extensions } }, parked);
  });
}

async function withTask(request: PassedRequest, parked: ParkedCalls<RunningCall>): Promise<object> {
  const task = new CallTask();
  const outcome = await passed(request, parked, task);
  return task.isStarted && !task.isFollowed ? task.follow(request.call) : outcome;
}

function passed(request: PassedRequest, parked: ParkedCalls<RunningCall>, task: CallTask | undefined): Promise<object> {
  if (!request.connection.asksByRequest) return byRounds(request, task);
  return isAskable(request.askable) ? whileRunning(request, parked, task) : directly(request, task);
}

/** Rounds of questions in one call; the same bound as a server's own. */
const MOST_ROUNDS = 32;

/** Nobody can be asked anything, so that nothing is kept of the call. */
function directly({ call, params, askable, send }: PassedRequest, task: CallTask | undefined): Promise<object> {
  const why = "the client that made this call cannot be asked";
  const options = optionsFor(call, signalOf(call), (progress) => reported(call, task, progress));
  return send(params, plainCall(call, task, why), options, forwardedFor(call, askable));
}

/** The server asks by requests: a caller that answers in further rounds finds its call still running. */
async function whileRunning(
  { call, params, askable, send }: PassedRequest,
  parked: ParkedCalls<RunningCall>,
  task: CallTask | undefined,
): Promise<object> {
  if (call.request.inputs !== undefined) {
    const id = await parkedId(call);
    if (id !== undefined) return parked.take(id).outcome(call, parked, true);
  }
  const running = new RunningCall(callerOf(call), task, async (self) => {
    try {
      const options = optionsFor(call, self.ending.signal, (progress) => {
        if (call.root.admission?.beforeTool === undefined) self.progress(progress);
        else reported(call, task, progress);
      });
      return await send(params, self, options, forwardedFor(call, askable));
    } finally {
      parked.over(self);
    }
  });
  return running.outcome(call, parked, false);
}

/** The server asks in its results, which carry all it needs to go on: nothing is kept here between the rounds. */
function byRounds({ call, params, askable, send }: PassedRequest, task: CallTask | undefined): Promise<object> {
  const own = plainCall(call, task, "this server asks in its results only");
  const options = optionsFor(call, signalOf(call), (progress) => reported(call, task, progress));
  const forwarded = forwardedFor(call, askable);
  const sendWith = (inputs: OutgoingCall["inputs"]) =>
    send(params, own, options, inputs === undefined ? forwarded : { ...forwarded, inputs });
  if (call.request.inputs !== undefined) return inRounds(call, sendWith);
  // A call without questions must not pay for the record of them.
  return sendWith(undefined).then((first) =>
    first instanceof InterimResult ? inRounds(call, sendWith, first) : first,
  );
}

/** Goes on from round to round; the `first` was sent already, if one is given. */
async function inRounds(
  call: ServerCall,
  sendWith: (inputs: OutgoingCall["inputs"]) => ReturnType<SendOn>,
  first?: InterimResult,
): Promise<object> {
  let inputs: OutgoingCall["inputs"];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const sent = inputs;
    const send = async () => (round === 0 && first !== undefined ? first : sendWith(sent));
    const outcome = await recorded(call, round, send);
    if (!(outcome instanceof InterimResult)) return outcome;
    inputs = await answersOf(call, round, outcome);
  }
  throw new McpError("limit_exceeded", `a call asked more than ${MOST_ROUNDS} rounds of questions`, {
    data: { limit: "rounds", value: MOST_ROUNDS },
  });
}

/** A call that is asked nothing while it runs, unless it becomes a task. */
function plainCall(call: ServerCall, task: CallTask | undefined, why: string): PassedCall {
  return {
    caller: callerOf(call),
    task,
    ask: () => Promise.reject(new McpError("capability_missing", why)),
    log(message) {
      const log = () =>
        call.ctx.log(message["level"] as never, message["data"], message["logger"] as string | undefined);
      if (task?.isStarted === true || isStoredFirst(call, task)) task?.whenBegun(log);
      else log();
    },
  };
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
  return { method, params: { ...params, elicitationId: call.facts.randomId() } };
}

/**
 * One value for all calls of one client: its connection or session, or the principal where there is neither. Calls of nobody known
 * have one each, because the next one may be somebody else's.
 */
export function callerOf({ exchange, root }: ServerCall): unknown {
  return exchange.peer ?? exchange.principal?.key ?? root;
}

/** The signal of the caller's request; the one of the call is only made where somebody else may end it. */
function signalOf(call: ServerCall): AbortSignal {
  return call.outer === undefined ? call.exchange.signal : call.signal;
}

type OnProgress = NonNullable<CallOptions["onProgress"]>;

/** Progress of a call that has to be stored as a task first is told when it is. */
function reported(call: ServerCall, task: CallTask | undefined, progress: Parameters<OnProgress>[0]): void {
  if (isStoredFirst(call, task)) return task?.progress(progress);
  task?.noted(progress.progress);
  call.ctx.progress(progress.progress, progress);
}

/** Whether the caller gets a task in any case, which is not stored yet. */
function isStoredFirst({ root }: ServerCall, task: CallTask | undefined): boolean {
  return task !== undefined && root.admission?.beforeTool !== undefined;
}

function optionsFor(call: ServerCall, signal: AbortSignal, onProgress: OnProgress): CallOptions {
  const { progressToken, params } = call.request;
  const meta = passedMeta(params["_meta"]);
  const options: CallOptions = { signal };
  if (meta !== undefined) options.meta = meta;
  if (progressToken === undefined) return options;
  options.onProgress = onProgress;
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
