import type { WireMessage } from "@parley/mcp/transport";
import type { RecordedExchange, RecordedOutcome } from "./recorded-exchanges.js";
import { LIST_MEMBERS } from "./recorded-lists.js";
import { isRecord } from "./recording.js";
import { REDACTED } from "./redactor.js";
import { type Difference, differencesOf } from "./result-differences.js";

/** A recorded request to be sent again, with what was answered at last and what the client had answered to questions. */
export interface RecordedCall {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly outcome: RecordedOutcome;
  readonly answers: readonly { readonly method: string; readonly result: Record<string, unknown> }[];
}

/** What became of one request. */
export interface ReplayVerdict {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly verdict: "same" | "different" | "skipped";
  /** Why it was not sent. */
  readonly reason?: string;
  readonly differences: readonly Difference[];
}

/** Requests about the connection itself, and those whose answer depends on when they are sent. */
const NOT_SENT =
  /^(?:initialize|server\/discover|ping|logging\/setLevel|resources\/(?:un)?subscribe|subscriptions\/.*|tasks\/.*)$/;

/** The requests that a recording asks of a server, each with its last answer: rounds and pages are one. */
export function callsOf(exchanges: readonly RecordedExchange[]): RecordedCall[] {
  return exchanges.flatMap((exchange, at): RecordedCall[] => {
    const { method, params, outcome } = exchange;
    const continues = "inputResponses" in params || "requestState" in params || "cursor" in params;
    if (NOT_SENT.test(method) || continues || outcome === undefined) return [];
    const later = exchanges.slice(at + 1).filter((other) => other.method === method);
    const answers: RecordedCall["answers"][number][] = [];
    const last = method in LIST_MEMBERS ? joined(exchange, later) : lastRound(exchange, later, answers);
    return last === undefined ? [] : [{ method, params, outcome: last, answers }];
  });
}

/** Why a request is not sent again; undefined if it may be. `readOnly` says whether a tool changes nothing. */
export function refusalOf({ method, params }: RecordedCall, readOnly: (tool: string) => boolean): string | undefined {
  if (JSON.stringify(params).includes(REDACTED)) return "its parameters were redacted";
  if (method !== "tools/call" || readOnly(String(params["name"]))) return undefined;
  return "the tool may change something; --all sends it";
}

/** Compares the answer of a server with the recorded one. */
export function judge(call: RecordedCall, now: RecordedOutcome | undefined, ignored: readonly string[]): ReplayVerdict {
  const { method, params, outcome } = call;
  const differences = differencesOf(comparable(outcome), comparable(now), ignored);
  return { method, params, verdict: differences.length === 0 ? "same" : "different", differences };
}

/** Keeps the last answer to the requests of a method, as it came over the wire. */
export class AnswerWatch {
  readonly #sent = new Map<unknown, string>();
  readonly #last = new Map<string, RecordedOutcome>();

  readonly watch = ({ direction, message }: WireMessage): void => {
    const { id, method, result, error } = message;
    if (direction === "sent" && typeof method === "string") this.#sent.set(id, method);
    const asked = direction === "received" && method === undefined ? this.#sent.get(id) : undefined;
    if (asked === undefined) return;
    this.#sent.delete(id);
    if (isRecord(result)) this.#last.set(asked, { result });
    // The form of an error was checked before it was shown.
    else if (isRecord(error))
      this.#last.set(asked, { error: error as Extract<RecordedOutcome, { error: unknown }>["error"] });
  };

  /** Takes the last answer; undefined if there was none since. */
  take(method: string): RecordedOutcome | undefined {
    const last = this.#last.get(method);
    this.#last.delete(method);
    return last;
  }
}

/** What of an answer says something about the server: neither its era nor how long it may be kept. */
function comparable(outcome: RecordedOutcome | undefined): unknown {
  if (outcome === undefined) return undefined;
  // Codes of errors differ between revisions.
  if ("error" in outcome) return { error: outcome.error.message };
  const { _meta, resultType, ttlMs, cacheScope, nextCursor, ...result } = outcome.result;
  return result;
}

/** The pages of a list as one. */
function joined(first: RecordedExchange, later: readonly RecordedExchange[]): RecordedOutcome | undefined {
  const member = LIST_MEMBERS[first.method] ?? "";
  const items: unknown[] = [];
  let page: RecordedExchange | undefined = first;
  for (let count = 0; page !== undefined && count <= later.length; count++) {
    const outcome: RecordedOutcome | undefined = page.outcome;
    if (outcome === undefined || "error" in outcome) return outcome;
    const listed = outcome.result[member];
    if (Array.isArray(listed)) items.push(...listed);
    const nextCursor: unknown = outcome.result["nextCursor"];
    if (nextCursor === undefined) return { result: { [member]: items } };
    page = later.find(({ params }) => params["cursor"] === nextCursor);
  }
  // The rest of the list is not known.
  return undefined;
}

/** Follows the rounds of questions to the answer, and gathers what the client answered. */
function lastRound(
  first: RecordedExchange,
  later: readonly RecordedExchange[],
  answers: RecordedCall["answers"][number][],
): RecordedOutcome | undefined {
  let round: RecordedExchange | undefined = first;
  for (let count = 0; round !== undefined && count <= later.length; count++) {
    for (const step of round.steps) {
      const result = step.kind === "question" ? step.answer?.["result"] : undefined;
      if (isRecord(result)) answers.push({ method: step.method, result });
    }
    const outcome: RecordedOutcome | undefined = round.outcome;
    if (outcome === undefined || !("result" in outcome)) return outcome;
    const result: Record<string, unknown> = outcome.result;
    const { resultType, requestState, inputRequests } = result;
    if (resultType !== "input_required") return outcome;
    const asked: Record<string, unknown> = isRecord(inputRequests) ? inputRequests : {};
    round = later.find(({ params }) => continues(params, requestState, asked));
    const given = round?.params["inputResponses"];
    for (const [id, result] of Object.entries(isRecord(given) ? given : {})) {
      const question = asked[id];
      const method = isRecord(question) ? question["method"] : undefined;
      if (typeof method === "string" && isRecord(result)) answers.push({ method, result });
    }
  }
  return undefined;
}

function continues(params: Record<string, unknown>, state: unknown, asked: Record<string, unknown>): boolean {
  const { inputResponses, requestState } = params;
  if (requestState !== state) return false;
  return isRecord(inputResponses) && Object.keys(inputResponses).some((id) => Object.hasOwn(asked, id));
}
