import type { CallExtras } from "../../client/call/requester.js";
import { InterimResult } from "../../client/call/requester.js";
import type { CallOptions } from "../../client/options.js";
import type { OutgoingCall, Question } from "../../era/era.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { META } from "../../protocol/meta.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";
import type { PassedCall, RemoteConnection } from "../connection/remote-connection.js";
import type { ParkedCalls } from "./parked-calls.js";
import { parkedId, RunningCall } from "./running-call.js";

/** Sends one request of a caller to the server that it is for. */
export type SendOn = (
  params: Params,
  call: PassedCall,
  options: CallOptions,
  extras: CallExtras,
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
 * Serves a call by a server behind the gateway, in whatever eras the two sides speak: progress, log messages, cancellation and
 * questions reach the side that they are for.
 */
export function passOn(request: PassedRequest, parked: ParkedCalls<RunningCall>): Promise<object> {
  return request.connection.asksByRequest ? whileRunning(request, parked) : byRounds(request);
}

/** Rounds of questions in one call; the same bound as a server's own. */
const MOST_ROUNDS = 32;

/** The server asks by requests: a caller that answers in further rounds finds its call still running. */
async function whileRunning(
  { call, params, askable, send }: PassedRequest,
  parked: ParkedCalls<RunningCall>,
): Promise<object> {
  if (call.request.inputs !== undefined) {
    const id = await parkedId(call);
    if (typeof id === "string") return parked.take(id).settle(call, parked, true);
  }
  const running = new RunningCall(callerOf(call), async (self) => {
    try {
      const onProgress = wantsProgress(call) ? (progress: Progress) => self.progress(progress) : undefined;
      const options = optionsFor(call, self.ending.signal, onProgress);
      return await send(params, self, options, extrasFor(call, askable));
    } finally {
      parked.drop(self);
    }
  });
  return running.settle(call, parked, call.request.inputs !== undefined);
}

type Progress = Parameters<RunningCall["progress"]>[0];

/** The server asks in its results, which carry all it needs to go on: nothing is kept here between the rounds. */
async function byRounds({ call, params, askable, send }: PassedRequest): Promise<object> {
  const log = (message: Params) =>
    call.ctx.log(message["level"] as never, message["data"], message["logger"] as string | undefined);
  const refuse = () => Promise.reject(new McpError("capability_missing", "this server asks in its results only"));
  const passed: PassedCall = { caller: callerOf(call), ask: refuse, log };
  const onProgress = wantsProgress(call)
    ? (progress: Progress) => call.ctx.progress(progress.progress, progress)
    : undefined;
  const options = optionsFor(call, call.signal, onProgress);
  const extras = extrasFor(call, askable);
  const sendWith = (inputs: OutgoingCall["inputs"]) =>
    send(params, passed, options, inputs === undefined ? extras : { ...extras, inputs });
  let inputs: OutgoingCall["inputs"];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const sent = inputs;
    const outcome = await recorded(call, round, () => sendWith(sent));
    if (!(outcome instanceof InterimResult)) return outcome;
    inputs = await answersOf(call, round, outcome);
  }
  throw new McpError("limit_exceeded", `a call asked more than ${MOST_ROUNDS} rounds of questions`, {
    data: { limit: "rounds", value: MOST_ROUNDS },
  });
}

/** What the server answered in this round; a later round of the caller does not send it again. */
async function recorded(
  call: ServerCall,
  round: number,
  send: () => Promise<Record<string, unknown> | InterimResult>,
): Promise<Record<string, unknown> | InterimResult> {
  // A call without questions must not pay for the record of them.
  const first = round === 0 && call.request.inputs === undefined ? await send() : undefined;
  if (first !== undefined && !(first instanceof InterimResult)) return first;
  let complete: Record<string, unknown> | undefined;
  const work = async () => {
    const outcome = first ?? (await send());
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
      return [key, await withAsking(({ forwardQuestion }) => forwardQuestion(call, question, name))] as const;
    }),
  );
  return {
    ...(answers.length === 0 ? {} : { responses: Object.fromEntries(answers) }),
    ...(state === undefined ? {} : { state }),
  };
}

/** One value for all calls of one client: its connection or session, or the principal where there is neither. */
export function callerOf({ exchange }: ServerCall): unknown {
  return exchange.peer ?? exchange.principal?.key ?? "anonymous";
}

function wantsProgress({ request }: ServerCall): boolean {
  return request.progressToken !== undefined;
}

function optionsFor(call: ServerCall, signal: AbortSignal, onProgress: CallOptions["onProgress"]): CallOptions {
  const meta = passedMeta(call.request.params["_meta"]);
  return { signal, ...(onProgress === undefined ? {} : { onProgress }), ...(meta === undefined ? {} : { meta }) };
}

/** What the caller said of itself in the protocol's own members is for this server; the rest is for the one behind it. */
function passedMeta(meta: unknown): Record<string, unknown> | undefined {
  if (!isObject(meta)) return undefined;
  const own: readonly string[] = [...Object.values(META), "progressToken"];
  const rest = Object.entries(meta).filter(([key]) => !own.includes(key));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

function extrasFor({ request: { logLevel } }: ServerCall, capabilities: ClientCapabilities): CallExtras {
  return logLevel === undefined ? { capabilities } : { capabilities, logLevel };
}
