import { cacheText } from "../../era/result-text.js";
import type { Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { withNextCursor } from "../../protocol/message.js";
import type { Secrets } from "../../seal/secrets.js";

/**
 * Maximum length in characters of an accepted cursor. A cursor contains one position and one key, so this server never
 * issues a longer cursor.
 */
const MAX_CURSOR_LENGTH = 16_384;

/** The configuration of a server that its pages depend on. */
export interface PagingConfig {
  readonly secrets: Secrets;
  readonly options: { readonly pageSize?: number | undefined };
}

/** Describes how to split a list into pages, and how to turn a page into a result. */
export interface ListShape<T> {
  /** Part of every cursor's signature, so that a cursor is only valid for its own list. */
  readonly name: string;
  /**
   * Returns the key that identifies an item. A cursor contains the key of the last item of its page, so that the next
   * page starts after that item even if the list has changed.
   */
  keyOf(item: T): string;
  /** The member of the result that contains the items. */
  readonly member: string;
}

/** A snapshot of a list, replaced when the list changes. Until then each page is always the same object. */
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
 * Returns one page of a list. Throws `invalid_params` for a cursor that this server did not issue for this list.
 *
 * The same page is always the same object and caches its text, so an unchanged list is serialised once.
 *
 * Spec: Pagination, "Error Handling",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination#error-handling
 */
export function pageOf<T>(facts: PagingConfig, list: PagedList<T>, { cursor }: Params): object {
  const start = cursor === undefined ? 0 : startOf(facts, list, cursor);
  const known = list.pages.get(start);
  if (known !== undefined) return known;
  const page = cacheText(cut(facts, list, start));
  list.pages.set(start, page);
  return page;
}

/** Returns the whole list as one page, for the server in which this server is mounted. */
export function wholeList<T>(list: PagedList<T>): object {
  let page = list.pages.get(WHOLE);
  if (page === undefined) {
    page = cacheText({ [list.shape.member]: list.items });
    list.pages.set(WHOLE, page);
  }
  return page;
}

/** The key of the whole list among the pages. */
const WHOLE = -1;

function cut<T>(facts: PagingConfig, { items, shape }: PagedList<T>, start: number): object {
  const end = start + (facts.options.pageSize ?? items.length);
  const last = items[end - 1];
  const page = { [shape.member]: items.slice(start, end) };
  if (end >= items.length || last === undefined) return page;
  const position = JSON.stringify([end, shape.keyOf(last)]);
  return withNextCursor(page, facts.secrets.sign(purposeOf(shape), position));
}

/**
 * Returns the index at which a cursor's page starts: after the item that the cursor names or, if that item was removed,
 * at its former index.
 */
function startOf<T>(facts: PagingConfig, { items, shape }: PagedList<T>, cursor: unknown): number {
  if (typeof cursor !== "string") throw badCursor(shape, "is not a string");
  if (cursor.length > MAX_CURSOR_LENGTH) throw badCursor(shape, "is too long");
  const position = facts.secrets.verify(purposeOf(shape), cursor);
  if (position === undefined) throw badCursor(shape, "was not issued by this server");
  // The signature proves that `cut` wrote this text.
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
