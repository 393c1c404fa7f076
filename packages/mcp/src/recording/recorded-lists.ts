import { isObject } from "../jsonrpc/message.js";
import type { RecordedExchange } from "./recorded-exchanges.js";
import type { RequestMatcher } from "./request-matcher.js";

/** The member of each list's result. */
export const LIST_MEMBERS: Readonly<Record<string, string>> = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
};

/** An exchange whose result leads to no page that was not recorded: the session may have ended between two pages. */
export function withoutOpenCursor(exchange: RecordedExchange, matcher: RequestMatcher): RecordedExchange {
  const { method, params, outcome } = exchange;
  if (outcome === undefined || !("result" in outcome)) return exchange;
  const { nextCursor, ...result } = outcome.result;
  if (nextCursor === undefined || matcher.has(method, { ...params, cursor: nextCursor })) return exchange;
  return { ...exchange, outcome: { result } };
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
  const member = LIST_MEMBERS[method];
  if (member === undefined || params["cursor"] !== undefined) return undefined;
  const use = USES[method];
  const used = new Map<string, object>();
  for (const exchange of exchanges) {
    const name = use === undefined || exchange.method !== use.method ? undefined : exchange.params[use.name];
    if (use !== undefined && typeof name === "string" && exchange.outcome !== undefined)
      used.set(name, use.entry(name, exchange.params));
  }
  return { [member]: [...used.values()], ttlMs: 0, cacheScope: "private" };
}

interface Use {
  readonly method: string;
  readonly name: string;
  entry(name: string, params: Readonly<Record<string, unknown>>): object;
}

const USES: Readonly<Record<string, Use>> = {
  "tools/list": { method: "tools/call", name: "name", entry: (name) => ({ name, inputSchema: { type: "object" } }) },
  "prompts/list": {
    method: "prompts/get",
    name: "name",
    entry: (name, { arguments: args }) => ({
      name,
      arguments: Object.keys(isObject(args) ? args : {}).map((argument) => ({ name: argument })),
    }),
  },
  "resources/list": { method: "resources/read", name: "uri", entry: (uri) => ({ uri, name: uri }) },
};
