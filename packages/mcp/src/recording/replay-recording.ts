import type { Client } from "../client/client.js";
import type { ClientOptions } from "../client/contract/options.js";
import { METHOD_NOT_FOUND } from "../jsonrpc/error.js";
import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import type { ElicitResult } from "../protocol/features/elicitation.js";
import { listedKind } from "../protocol/features/offer-kinds.js";
import type { ListRootsResult } from "../protocol/features/roots.js";
import type { CreateMessageResult } from "../protocol/features/sampling.js";
import { nextCursorOf, withoutNextCursor } from "../protocol/message.js";
import type { WireMessage } from "../transport/watched-transport.js";
import { callsOf, type RecordedCall } from "./recorded-calls.js";
import { exchangesOf, type RecordedExchange, type RecordedOutcome } from "./recorded-exchanges.js";
import { type Recording, recordedCapabilities } from "./recording.js";
import { REDACTED } from "./redactor.js";
import { type Difference, differencesOf } from "./result-differences.js";

/**
 * Client options for a replay: handlers that answer as recorded, and `onMessage`, which records the server's answers.
 * Pass all of them to `connect`.
 */
export type ReplayClientOptions = Pick<ClientOptions, "onElicit" | "elicitUrls" | "onSample" | "roots" | "onMessage">;

/** A recorded request that is about to be sent or skipped. */
export interface ReplayedRequest {
  /** The method of the request. */
  readonly method: string;
  /** The recorded parameters, without `_meta`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The position of the request, from 1. */
  readonly number: number;
  /** The number of requests in the recording. */
  readonly total: number;
}

/** Options of `replayRecording`. All are optional. */
export interface ReplayOptions {
  /** True to also call tools that are not marked as read-only. Default: false, because the server may be in use. */
  all?: boolean | undefined;
  /** Paths of results that may differ, such as `structuredContent.time`. `*` matches any name. Default: none. */
  ignore?: readonly string[] | undefined;
  /** Aborts the replay, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called before each request is sent or skipped. An error that it throws ends the replay. */
  onRequest?: ((request: ReplayedRequest) => void) | undefined;
  /** Called with each verdict, in the order of the recording, and awaited. An error that it throws ends the replay. */
  onVerdict?: ((verdict: ReplayVerdict) => void | Promise<void>) | undefined;
}

/**
 * Sends the requests of a recording to a server, one after the other, and compares the answers with the recorded ones.
 *
 * `open` connects with the given options. It is called once, and the replay closes the client at the end. The client
 * answers elicitation, sampling and roots requests as recorded.
 *
 * Rejects with `invalid_definition` before connecting if the recording has no request to send, and with the error of the
 * connection if a request gets no answer.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/cli-record.md | Recording and replaying}
 */
export async function replayRecording(
  recording: Pick<Recording, "messages">,
  open: (options: ReplayClientOptions) => Promise<Client>,
  options: ReplayOptions = {},
): Promise<ReplayVerdict[]> {
  const exchanges = exchangesOf(recording);
  const calls = callsOf(exchanges);
  if (calls.length === 0) {
    const fix = "Record a session that sends requests.";
    throw new McpError("invalid_definition", "the recording has no request to send", { fix });
  }
  const answers = replayedAnswers(exchanges, recordedCapabilities(recording.messages));
  const watch = new LastAnswers();
  const client = await open({ ...answers.options, onMessage: watch.watch });
  const send = (call: RecordedCall) => {
    answers.begin(call);
    return sendCall(call, client, watch, options.signal);
  };
  try {
    return await verdictsOf(calls, send, client, options);
  } finally {
    await client.close();
  }
}

async function verdictsOf(
  calls: readonly RecordedCall[],
  send: (call: RecordedCall) => Promise<RecordedOutcome | undefined>,
  client: Client,
  { all = false, ignore = [], signal, onRequest, onVerdict }: ReplayOptions,
): Promise<ReplayVerdict[]> {
  const readOnly = all ? () => true : await readOnlyTools(client, signal);
  const verdicts: ReplayVerdict[] = [];
  for (const [at, call] of calls.entries()) {
    signal?.throwIfAborted();
    onRequest?.({ method: call.method, params: call.params, number: at + 1, total: calls.length });
    const reason = skipReasonOf(call, readOnly);
    const verdict: ReplayVerdict =
      reason === undefined
        ? compareAnswer(call, await send(call), ignore)
        : { method: call.method, params: call.params, verdict: "skipped", reason, differences: [] };
    verdicts.push(verdict);
    await onVerdict?.(verdict);
  }
  return verdicts;
}

async function readOnlyTools(client: Client, signal: AbortSignal | undefined): Promise<(tool: string) => boolean> {
  if (client.serverCapabilities.tools === undefined) return () => false;
  const names = new Set<string>();
  for await (const { name, annotations } of client.tools({ signal }))
    if (annotations?.readOnlyHint === true) names.add(name);
  return (tool) => names.has(tool);
}

/** Maximum number of pages per list. A longer list is cut, and therefore reported as different. */
const MAX_PAGES = 1_000;

/** Sends a recorded call and returns the server's answer. Joins the pages of a list. */
async function sendCall(
  { method, params }: RecordedCall,
  client: Client,
  watch: LastAnswers,
  signal: AbortSignal | undefined,
): Promise<RecordedOutcome | undefined> {
  watch.pop(method);
  const member = listedKind(method);
  const items: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const asked = cursor === undefined ? params : { ...params, cursor };
    const tried = await client.tryRequest(method, asked, { signal, cache: false });
    const outcome = watch.pop(method);
    if (outcome === undefined && !tried.ok) return missingCapability(tried.error);
    if (member === undefined || outcome === undefined || "error" in outcome) return outcome;
    const listed = outcome.result[member];
    if (Array.isArray(listed)) items.push(...listed);
    cursor = nextCursorOf(outcome.result);
    if (cursor === undefined) break;
  }
  return { result: { [member ?? ""]: items } };
}

/**
 * If the client refused to send a request because the server does not support it, returns the error that such a server
 * would send. Throws any other error, because then the answer is missing.
 */
function missingCapability(error: McpError): RecordedOutcome {
  if (error.kind !== "capability_missing") throw error;
  return { error: { code: METHOD_NOT_FOUND, message: error.message } };
}

/** Stores the last answer to each method, as received from the server. */
class LastAnswers {
  readonly #sent = new Map<unknown, string>();
  readonly #last = new Map<string, RecordedOutcome>();

  readonly watch = ({ direction, message }: WireMessage): void => {
    const { id, method, result, error } = message;
    if (direction === "sent" && typeof method === "string") this.#sent.set(id, method);
    const asked = direction === "received" && method === undefined ? this.#sent.get(id) : undefined;
    if (asked === undefined) return;
    this.#sent.delete(id);
    if (isObject(result)) this.#last.set(asked, { result });
    // Safe: the form of an error is checked before `onMessage` is called.
    else if (isObject(error))
      this.#last.set(asked, { error: error as Extract<RecordedOutcome, { error: unknown }>["error"] });
  };

  /** Removes and returns the last answer to a method. Undefined if none has arrived since the last `pop`. */
  pop(method: string): RecordedOutcome | undefined {
    const last = this.#last.get(method);
    this.#last.delete(method);
    return last;
  }
}

/**
 * The reason why a recorded request is not sent: its parameters were redacted, or its tool is not marked as read-only.
 */
export type SkipReason = "redacted" | "may_change";

/** The outcome of one replayed request. */
export interface ReplayVerdict {
  /** The method of the request. */
  readonly method: string;
  /** The recorded parameters, without `_meta`. */
  readonly params: Record<string, unknown>;
  /** `same` or `different` by comparison of the answers, or `skipped` if the request was not sent. */
  readonly verdict: "same" | "different" | "skipped";
  /** The reason why the request was skipped. Absent otherwise. */
  readonly reason?: SkipReason;
  /** The differences between the answers. Empty unless `verdict` is `different`. */
  readonly differences: readonly Difference[];
}

/** Returns the reason not to send a request, or undefined if it may be sent. */
function skipReasonOf({ method, params }: RecordedCall, readOnly: (tool: string) => boolean): SkipReason | undefined {
  if (JSON.stringify(params).includes(REDACTED)) return "redacted";
  if (method !== "tools/call" || readOnly(String(params["name"]))) return undefined;
  return "may_change";
}

/** Compares the server's answer with the recorded answer. */
function compareAnswer(
  call: RecordedCall,
  now: RecordedOutcome | undefined,
  ignored: readonly string[],
): ReplayVerdict {
  const { method, params, outcome } = call;
  const differences = differencesOf(comparable(outcome), comparable(now), ignored);
  return { method, params, verdict: differences.length === 0 ? "same" : "different", differences };
}

/** Returns the part of an answer to compare, without members that depend on the revision or on caching. */
function comparable(outcome: RecordedOutcome | undefined): unknown {
  if (outcome === undefined) return undefined;
  // Only the message is compared, because error codes differ between revisions.
  if ("error" in outcome) return { error: outcome.error.message };
  const { _meta, resultType, ttlMs, cacheScope, ...result } = withoutNextCursor(outcome.result);
  return result;
}

/**
 * Creates options that declare the capabilities of the recorded client and answer as that client did. `begin` selects
 * the call whose recorded answers are used.
 */
function replayedAnswers(
  exchanges: readonly RecordedExchange[],
  { elicitation, sampling, roots }: Readonly<Record<string, unknown>>,
): { begin(call: RecordedCall): void; options: ReplayClientOptions } {
  let left: RecordedCall["answers"][number][] = [];
  const next = (method: string) => {
    const at = left.findIndex((answer) => answer.method === method);
    const [found] = at < 0 ? [] : left.splice(at, 1);
    if (found === undefined) throw new McpError("declined", `the recording has no further answer to ${method}`);
    // Safe: recorded answers of clients follow the protocol.
    return found.result as unknown;
  };
  const elicitUrls = isObject(elicitation) && "url" in elicitation;
  return {
    begin: ({ answers }) => {
      left = [...answers];
    },
    options: {
      ...(elicitation === undefined ? {} : { onElicit: () => next("elicitation/create") as ElicitResult, elicitUrls }),
      ...(sampling === undefined ? {} : { onSample: () => next("sampling/createMessage") as CreateMessageResult }),
      ...(roots === undefined ? {} : { roots: recordedRoots(exchanges) }),
    },
  };
}

/**
 * Returns the roots that the recorded client reported. Searches the messages after each answer too, because servers
 * also ask for the roots between calls.
 */
function recordedRoots(exchanges: readonly RecordedExchange[]): ListRootsResult["roots"] {
  const steps = exchanges.flatMap((exchange) => [...exchange.steps, ...exchange.after]);
  const question = steps.find(
    (step) => step.kind === "question" && step.method === "roots/list" && isObject(step.answer),
  );
  const result = question?.kind === "question" ? question.answer?.["result"] : undefined;
  const roots: unknown = isObject(result) ? result["roots"] : undefined;
  // Safe: recorded answers of clients follow the protocol.
  return Array.isArray(roots) ? (roots as ListRootsResult["roots"]) : [];
}
