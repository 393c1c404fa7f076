import { isObject } from "../jsonrpc/message.js";
import { listedKind, OFFER_KINDS, type OfferKind } from "../protocol/features/offer-kinds.js";
import { cursorAfter, lastPage } from "../protocol/message.js";
import type { RecordedExchange } from "./recorded-exchanges.js";
import type { RequestMatcher } from "./request-matcher.js";

/** An exchange whose result leads to no page that was not recorded: the session may have ended between two pages. */
export function withoutOpenCursor(exchange: RecordedExchange, matcher: RequestMatcher): RecordedExchange {
  const { method, params, outcome } = exchange;
  if (outcome === undefined || !("result" in outcome)) return exchange;
  const cursor = cursorAfter(outcome.result);
  if (cursor === undefined || matcher.has(method, { ...params, cursor })) return exchange;
  return { ...exchange, outcome: { result: lastPage(outcome.result) } };
}

/**
 * The result of a list that was not recorded, made of what was used: a client that knows its tool calls it without listing. Undefined
 * for what is no list, and for a page of one that was recorded.
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

/** The listed item of an offer that was used. */
const ITEMS: Readonly<Record<OfferKind, (name: string, params: Readonly<Record<string, unknown>>) => object>> = {
  tools: (name) => ({ name, inputSchema: { type: "object" } }),
  prompts: (name, { arguments: args }) => ({
    name,
    arguments: Object.keys(isObject(args) ? args : {}).map((argument) => ({ name: argument })),
  }),
  resources: (uri) => ({ uri, name: uri }),
  resourceTemplates: (uriTemplate) => ({ uriTemplate, name: uriTemplate }),
};
