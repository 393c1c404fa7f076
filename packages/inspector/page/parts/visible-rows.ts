/** Number of rows rendered beyond each edge, so that fast scrolling shows no gap. */
const SPARE_ROWS = 8;

/** The visible part of a list, in pixels. */
export interface ListWindow {
  readonly top: number;
  readonly height: number;
}

/** The rows to render, `from` to `to - 1`, in a list with rows of equal height. */
export function visibleRows(count: number, row: number, { top, height }: ListWindow): { from: number; to: number } {
  const from = Math.max(0, Math.min(count, Math.floor(top / row)) - SPARE_ROWS);
  const to = Math.min(count, Math.ceil((top + height) / row) + SPARE_ROWS);
  return { from, to: Math.max(from, to) };
}

/** The row to select after a key press. Undefined for other keys and for an empty list. */
export function rowAfterKey(key: string, at: number, count: number, page: number): number | undefined {
  const to = targetOf(key, at, count, page);
  return to === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, to));
}

function targetOf(key: string, at: number, count: number, page: number): number | undefined {
  switch (key) {
    case "ArrowDown":
    case "j":
      return at + 1;
    case "ArrowUp":
    case "k":
      return at - 1;
    case "PageDown":
      return at + page;
    case "PageUp":
      return at - page;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

/** The scroll position that makes a row visible. Unchanged if the row is visible. */
export function scrollTopFor(at: number, row: number, { top, height }: ListWindow): number {
  if (at * row < top) return at * row;
  if ((at + 1) * row > top + height) return (at + 1) * row - height;
  return top;
}
