import { keepText } from "../../era/result-text.js";
import type { Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { pageBefore } from "../../protocol/message.js";
import type { Secrets } from "../../seal/secrets.js";

/** A cursor holds one position and one key, so a longer one cannot be ours. */
const MAX_CURSOR_LENGTH = 16_384;

/** What the pages of all lists of one server depend on. */
export interface PagingFacts {
  readonly secrets: Secrets;
  readonly options: { readonly pageSize?: number | undefined };
}

/** How a list is split into pages and how a page becomes a result. */
export interface ListShape<T> {
  /** Part of every cursor's signature, so that a cursor works only for the list it was made for. */
  readonly name: string;
  /** Identifies an item. A cursor holds it, so that the next page starts after that item even if the list has changed. */
  keyOf(item: T): string;
  /** The member of the result that holds the items. */
  readonly member: string;
}

/** A snapshot of a list. It is replaced when the list changes; until then each page is the same object every time. */
export class PagedList<T> {
  readonly shape: ListShape<T>;
  readonly items: readonly T[];
  /** Results by the index of their first item. */
  readonly pages = new Map<number, object>();

  constructor(shape: ListShape<T>, items: readonly T[]) {
    this.shape = shape;
    this.items = items;
  }
}

/**
 * One page of a list. Throws `invalid_params` for a cursor that this server did not issue for this list.
 *
 * The result is the same object every time and keeps its text, so an unchanged list is serialised once.
 *
 * Spec: Pagination, "Error Handling",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination#error-handling
 */
export function pageOf<T>(facts: PagingFacts, list: PagedList<T>, { cursor }: Params): object {
  const start = cursor === undefined ? 0 : startOf(facts, list, cursor);
  const known = list.pages.get(start);
  if (known !== undefined) return known;
  const page = keepText(cut(facts, list, start));
  list.pages.set(start, page);
  return page;
}

/** The whole list as one page, for the server that this one is mounted in. */
export function wholeList<T>(list: PagedList<T>): object {
  let page = list.pages.get(WHOLE);
  if (page === undefined) {
    page = keepText({ [list.shape.member]: list.items });
    list.pages.set(WHOLE, page);
  }
  return page;
}

/** The key of the whole list among pages by index. */
const WHOLE = -1;

function cut<T>(facts: PagingFacts, { items, shape }: PagedList<T>, start: number): object {
  const end = start + (facts.options.pageSize ?? items.length);
  const last = items[end - 1];
  const page = { [shape.member]: items.slice(start, end) };
  if (end >= items.length || last === undefined) return page;
  const position = JSON.stringify([end, shape.keyOf(last)]);
  return pageBefore(page, facts.secrets.sign(purposeOf(shape), position));
}

/** The index at which a cursor's page starts: after the item it names or, if that was removed, at the same index as before. */
function startOf<T>(facts: PagingFacts, { items, shape }: PagedList<T>, cursor: unknown): number {
  if (typeof cursor !== "string") throw badCursor(shape, "is not a string");
  if (cursor.length > MAX_CURSOR_LENGTH) throw badCursor(shape, "is too long");
  const position = facts.secrets.verify(purposeOf(shape), cursor);
  if (position === undefined) throw badCursor(shape, "was not issued by this server");
  // The signature proves that `cut` wrote it.
  const [end, key] = JSON.parse(position) as [number, string];
  const before = items[end - 1];
  if (before !== undefined && shape.keyOf(before) === key) return end;
  const index = items.findIndex((item) => shape.keyOf(item) === key);
  return index === -1 ? Math.min(end, items.length) : index + 1;
}

function purposeOf(shape: { readonly name: string }): string {
  return `cursor ${shape.name}`;
}

function badCursor(shape: { readonly name: string }, why: string): McpError {
  return new McpError("invalid_params", `the cursor of the list of ${shape.name} ${why}`, {
    fix: "List again without a cursor. If several processes serve, give all of them the same `secret`.",
  });
}
