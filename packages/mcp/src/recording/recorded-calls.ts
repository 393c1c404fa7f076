import { isObject } from "../jsonrpc/message.js";
import { listedKind, OFFER_KINDS, type OfferKind } from "../protocol/features/offer-kinds.js";
import { nextCursorOf, withoutNextCursor } from "../protocol/message.js";
import type { RecordedExchange, RecordedOutcome } from "./recorded-exchanges.js";
import type { RequestMatcher } from "./request-matcher.js";

/** Removes the cursor of a result if the next page was not recorded. The session may have ended between two pages. */
export function withoutOpenCursor(exchange: RecordedExchange, matcher: RequestMatcher): RecordedExchange {
  const { method, params, outcome } = exchange;
  if (outcome === undefined || !("result" in outcome)) return exchange;
  const cursor = nextCursorOf(outcome.result);
  if (cursor === undefined || matcher.has(method, { ...params, cursor })) return exchange;
  return { ...exchange, outcome: { result: withoutNextCursor(outcome.result) } };
}

/**
 * Builds the result of a list request that was not recorded, because a client may call a tool without listing it. The
 * list contains the items that the client used. Returns undefined for other methods and for further pages.
 */
export function recordedList(
  method: string,
  params: Readonly<Record<string, unknown>>,
  exchanges: readonly RecordedExchange[],
): Record<string, unknown> | undefined {
  const kind = listedKind(method);
  if (kind === undefined || params["cursor"] !== undefined) return undefined;
  const { key, use } = OFFER_KINDS[kind];
  const used = new Map<string, object>();
  for (const exchange of exchanges) {
    const name = exchange.method === use ? exchange.params[key] : undefined;
    if (typeof name === "string" && exchange.outcome !== undefined) used.set(name, ITEMS[kind](name, exchange.params));
  }
  return { [kind]: [...used.values()], ttlMs: 0, cacheScope: "private" };
}

/** Builds the listed item of an offer that was used. */
const ITEMS: Readonly<Record<OfferKind, (name: string, params: Readonly<Record<string, unknown>>) => object>> = {
  tools: (name) => ({ name, inputSchema: { type: "object" } }),
  prompts: (name, { arguments: args }) => ({
    name,
    arguments: Object.keys(isObject(args) ? args : {}).map((argument) => ({ name: argument })),
  }),
  resources: (uri) => ({ uri, name: uri }),
  resourceTemplates: (uriTemplate) => ({ uriTemplate, name: uriTemplate }),
};

/** A recorded request to send again, with its final answer and the client's answers to the server's questions. */
export interface RecordedCall {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly outcome: RecordedOutcome;
  readonly answers: readonly { readonly method: string; readonly result: Record<string, unknown> }[];
}

/** Returns the later exchanges with the same method. */
type LaterExchanges = () => readonly RecordedExchange[];

/** Requests about the connection itself, and requests whose answer depends on when they are sent. */
const NOT_REPLAYED =
  /^(?:initialize|server\/discover|ping|logging\/setLevel|resources\/(?:un)?subscribe|subscriptions\/.*|tasks\/.*)$/;

/**
 * Returns the requests of a recording to send to a server, each with its final answer. The rounds of a call count as
 * one request, and so do the pages of a list.
 */
export function callsOf(exchanges: readonly RecordedExchange[]): RecordedCall[] {
  return exchanges.flatMap((exchange, at): RecordedCall[] => {
    const { method, params, outcome } = exchange;
    const continues = "inputResponses" in params || "requestState" in params || "cursor" in params;
    if (NOT_REPLAYED.test(method) || continues || outcome === undefined) return [];
    // Computed only if a call has another round or a list has another page. Computing it for every request would take
    // quadratic time in a long session.
    let sameMethod: readonly RecordedExchange[] | undefined;
    const later: LaterExchanges = () =>
      (sameMethod ??= exchanges.slice(at + 1).filter((other) => other.method === method));
    const answers: RecordedCall["answers"][number][] = [];
    const kind = listedKind(method);
    const last = kind === undefined ? lastRound(exchange, later, answers) : joinPages(kind, exchange, later);
    return last === undefined ? [] : [{ method, params, outcome: last, answers }];
  });
}

/** Joins the pages of a list. */
function joinPages(member: OfferKind, first: RecordedExchange, later: LaterExchanges): RecordedOutcome | undefined {
  const items: unknown[] = [];
  let page: RecordedExchange | undefined = first;
  for (let count = 0; page !== undefined; count++) {
    const outcome: RecordedOutcome | undefined = page.outcome;
    if (outcome === undefined || "error" in outcome) return outcome;
    const listed = outcome.result[member];
    if (Array.isArray(listed)) items.push(...listed);
    const cursor = nextCursorOf(outcome.result);
    if (cursor === undefined) return { result: { [member]: items } };
    // Limits the number of pages, because cursors may form a cycle.
    page = count < later().length ? later().find(({ params }) => params["cursor"] === cursor) : undefined;
  }
  // The rest of the list was not recorded.
  return undefined;
}

/** Follows the rounds of questions to the final answer, and collects the client's answers. */
function lastRound(
  first: RecordedExchange,
  later: LaterExchanges,
  answers: RecordedCall["answers"][number][],
): RecordedOutcome | undefined {
  let round: RecordedExchange | undefined = first;
  for (let count = 0; round !== undefined; count++) {
    for (const step of round.steps) {
      const result = step.kind === "question" ? step.answer?.["result"] : undefined;
      if (isObject(result)) answers.push({ method: step.method, result });
    }
    const outcome: RecordedOutcome | undefined = round.outcome;
    if (outcome === undefined || !("result" in outcome)) return outcome;
    const result: Record<string, unknown> = outcome.result;
    const { resultType, requestState, inputRequests } = result;
    if (resultType !== "input_required") return outcome;
    const asked: Record<string, unknown> = isObject(inputRequests) ? inputRequests : {};
    round = count < later().length ? later().find(({ params }) => continues(params, requestState, asked)) : undefined;
    const given = round?.params["inputResponses"];
    for (const [id, result] of Object.entries(isObject(given) ? given : {})) {
      const question = asked[id];
      const method = isObject(question) ? question["method"] : undefined;
      if (typeof method === "string" && isObject(result)) answers.push({ method, result });
    }
  }
  return undefined;
}

/** True if the parameters continue a round with this state and these questions. */
function continues(params: Record<string, unknown>, state: unknown, asked: Record<string, unknown>): boolean {
  const { inputResponses, requestState } = params;
  if (requestState !== state) return false;
  return isObject(inputResponses) && Object.keys(inputResponses).some((id) => Object.hasOwn(asked, id));
}
