import { McpError } from "../../protocol/error.js";
import { OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import { nextCursorOf } from "../../protocol/message.js";

/**
 * Maximum number of pages of one list that an iteration fetches. Beyond that, it throws, because the lists of some
 * servers never end.
 */
const MAX_PAGES = 1000;

/**
 * Iterates over the items of all pages, fetching as needed. A repeated cursor is an error. If the server rejects a
 * cursor, the iteration starts over once and skips the items already returned, identified by `keyOf`.
 *
 * Spec: Caching, "Interaction with Pagination",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#interaction-with-pagination
 */
export async function* walkPages<T>(
  list: string,
  fetchPage: (cursor: string | undefined) => Promise<{ items: readonly T[]; next: unknown }>,
  keyOf?: (item: T) => string,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  const given = new Set<string>();
  let begun = 1;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    let fetched: Awaited<ReturnType<typeof fetchPage>>;
    try {
      fetched = await fetchPage(cursor);
    } catch (error) {
      const outdated = McpError.is(error) && error.kind === "invalid_params" && cursor !== undefined;
      if (!outdated || keyOf === undefined || begun === 2) throw error;
      begun = 2;
      cursor = undefined;
      seen.clear();
      continue;
    }
    const { items, next } = fetched;
    for (const item of items) {
      const key = keyOf?.(item);
      if (key !== undefined && begun === 2 && given.has(key)) continue;
      if (key !== undefined) given.add(key);
      yield item;
    }
    // An empty string is a valid cursor.
    if (typeof next !== "string") return;
    if (seen.has(next)) throw endless(list, `returned the cursor ${JSON.stringify(next)} twice`);
    seen.add(next);
    cursor = next;
  }
  throw endless(list, `has more than ${MAX_PAGES} pages`);
}

/** Iterates over all pages of a list of tools, resources or prompts, like `walkPages`. */
export function walkOffers<K extends OfferKind, P extends { readonly [Member in K]?: readonly object[] }>(
  kind: K,
  fetchPage: (cursor: string | undefined) => Promise<P>,
): AsyncGenerator<NonNullable<P[K]>[number], void, undefined> {
  const { list, key } = OFFER_KINDS[kind];
  return walkPages<NonNullable<P[K]>[number]>(
    list,
    async (cursor) => {
      const page = await fetchPage(cursor);
      return { items: page[kind] ?? [], next: nextCursorOf(page) };
    },
    (item) => String((item as Record<string, unknown>)[key]),
  );
}

/** Collects all items of an iteration. */
export async function collect<T>(walk: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of walk) all.push(item);
  return all;
}

function endless(list: string, what: string): McpError {
  return new McpError("limit_exceeded", `${list} ${what}`, {
    fix: "Fetch single pages, and report it to the author of the server.",
    operation: { method: list },
  });
}

/** Default limit of concurrent requests of a batch. A server is rarely faster with more. */
export const DEFAULT_CONCURRENCY = 8;

/** Runs `work` for each item, up to `limit` at a time. Returns the outcomes in the order of the items. */
export async function settleMany<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const outcomes: PromiseSettledResult<R>[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      // Safe: the condition of the loop guarantees the item.
      const item = items[index] as T;
      outcomes[index] = await work(item).then(
        (value) => ({ status: "fulfilled", value }),
        (reason: unknown) => ({ status: "rejected", reason }),
      );
    }
  };
  const workers = Math.max(1, Math.min(Math.floor(limit), items.length));
  await Promise.all(Array.from({ length: workers }, worker));
  return outcomes;
}
