import { keepText } from "../../era/result-text.js";
import type { Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ServerFacts } from "../call/facts.js";

/** A cursor names at most one item by its key; nothing longer was made here. */
const MAX_CURSOR_LENGTH = 16_384;

/** How a list is cut and written. */
export interface ListShape<T, R extends object> {
  /** Cursors of one list are refused by all others. */
  readonly name: string;
  /** What tells the items apart; a cursor remembers it, so that a page goes on at the right place in a changed list. */
  keyOf(item: T): string;
  /** The result that holds one page. */
  result(items: T[], next: { nextCursor?: string }): R;
}

/** A list as it is at one moment. When it changes, a new one takes its place; until then each page is one object. */
export class PagedList<T, R extends object> {
  readonly shape: ListShape<T, R>;
  readonly items: readonly T[];
  /** Results by the index of their first item. */
  readonly pages = new Map<number, R>();

  constructor(shape: ListShape<T, R>, items: readonly T[]) {
    this.shape = shape;
    this.items = items;
  }
}

/**
 * One page of a list. Throws `invalid_params` for a cursor that was not made here for this list.
 *
 * The result is the same object every time, and its text is kept with it: a list that does not change costs nothing.
 */
export function pageOf<T, R extends object>(facts: ServerFacts, list: PagedList<T, R>, params: Params): R {
  const { cursor } = params;
  const start = cursor === undefined ? 0 : startOf(facts, list, cursor);
  const known = list.pages.get(start);
  if (known !== undefined) return known;
  const page = keepText(cut(facts, list, start));
  list.pages.set(start, page);
  return page;
}

function cut<T, R extends object>(facts: ServerFacts, { items, shape }: PagedList<T, R>, start: number): R {
  const end = start + (facts.options.pageSize ?? items.length);
  const last = items[end - 1];
  const page = items.slice(start, end);
  if (end >= items.length || last === undefined) return shape.result(page, {});
  const place = JSON.stringify([end, shape.keyOf(last)]);
  return shape.result(page, { nextCursor: facts.secrets.sign(purposeOf(shape), place) });
}

/** Where the page of a cursor begins: after the item that it names, or, when that is gone, at the place it had. */
function startOf<T, R extends object>(facts: ServerFacts, { items, shape }: PagedList<T, R>, cursor: unknown): number {
  if (typeof cursor !== "string") throw badCursor(shape, "is not a string");
  if (cursor.length > MAX_CURSOR_LENGTH) throw badCursor(shape, "is too long");
  const place = facts.secrets.verify(purposeOf(shape), cursor);
  if (place === undefined) throw badCursor(shape, "was not made here");
  // Signed by us, so it has the shape that `cut` gave it.
  const [end, key] = JSON.parse(place) as [number, string];
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
    fix: "Begin again without a cursor. Where several processes serve, give each the same `secret`.",
  });
}
