import type { ComponentChildren, RefObject } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ListWindow, rowAfterKey, scrollTopFor, visibleRows } from "./visible-rows.js";

/**
 * The default font size, in pixels per `rem`. Row heights are given for this size and scale with the font size of the
 * user.
 */
const USUAL_REM = 16;
/** Tolerance for the rounding of scroll positions. */
const NEAR_PIXELS = 2;

interface VirtualListProps<T> {
  readonly items: readonly T[];
  /** The height of each row, in pixels at the default font size. */
  readonly rowHeight: number;
  readonly keyOf: (item: T) => string | number;
  readonly render: (item: T) => ComponentChildren;
  readonly selected?: string | number | undefined;
  /** Called on click and Enter, and with `selectOnMove` on each move of the keyboard. */
  readonly onSelect: (item: T) => void;
  readonly label: string;
  /** The parent of the list (first child) and the details (last child). A click or Enter scrolls to the details. */
  readonly panes?: RefObject<HTMLElement | null> | undefined;
  readonly selectOnMove?: boolean | undefined;
  readonly rowClass?: ((item: T) => string | undefined) | undefined;
  /** Sticks to the end while the list grows. */
  readonly follow?: boolean | undefined;
  /** Called when the user scrolls to the end of the list or away from it. */
  readonly onEnd?: ((atEnd: boolean) => void) | undefined;
}

/** A list of any length. The document contains only the visible rows. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, keyOf, selected, onSelect, follow = false } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const row = useRowPixels(props.rowHeight);
  const [seen, setSeen] = useViewport(box);
  const chosen = useMemo(
    () => (selected === undefined ? -1 : items.findIndex((item) => keyOf(item) === selected)),
    [items, selected, keyOf],
  );
  const [active, setActive] = useState(-1);
  // A layout effect, so that it runs before the next key. A later effect would undo a step of quickly repeated keys.
  useLayoutEffect(() => {
    if (chosen >= 0) setActive(chosen);
  }, [chosen]);
  useScrollToSelected(box, selected, chosen, row);
  useScrollAnchor(box, props, row, () => box.current !== null && setSeen(viewportOf(box.current)));
  useStickToEnd(box, follow, items.length * row);
  const page = Math.max(1, Math.floor(seen.height / row) - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const item = items[active];
    if ((event.key === "Enter" || event.key === " ") && item !== undefined) selectAndShow(props, item);
    else {
      const to = rowAfterKey(event.key, active, items.length, page);
      const next = to === undefined ? undefined : items[to];
      if (to === undefined || next === undefined) return;
      setActive(to);
      if (box.current !== null) box.current.scrollTop = scrollTopFor(to, row, viewportOf(box.current));
      if (props.selectOnMove === true) onSelect(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const onScroll = (event: Event & { readonly currentTarget: HTMLDivElement }) => {
    setSeen(viewportOf(event.currentTarget));
    const { scrollTop, clientHeight, scrollHeight } = event.currentTarget;
    // A larger tolerance would treat the start of a list that hardly scrolls as its end.
    props.onEnd?.(scrollTop + clientHeight >= scrollHeight - NEAR_PIXELS);
  };
  const { from, to } = visibleRows(items.length, row, seen);
  return (
    <div
      ref={box}
      class="parts-list"
      role="listbox"
      aria-label={props.label}
      tabIndex={0}
      aria-activedescendant={active >= from && active < to ? `${id}-${active}` : undefined}
      onKeyDown={onKeyDown}
      onScroll={onScroll}
    >
      <div class="parts-list-whole" role="presentation" style={{ height: `${items.length * row}px` }}>
        {items.slice(from, to).map((item, index) => (
          <Row key={keyOf(item)} {...{ props, item, id, row, chosen, active, count: items.length }} at={from + index} />
        ))}
      </div>
    </div>
  );
}

interface RowProps<T> {
  readonly props: VirtualListProps<T>;
  readonly item: T;
  readonly at: number;
  readonly id: string;
  readonly row: number;
  readonly chosen: number;
  readonly active: number;
  readonly count: number;
}

function Row<T>({ props, item, at, id, row, chosen, active, count }: RowProps<T>) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox has the focus and handles the keys
    <div
      id={`${id}-${at}`}
      role="option"
      tabIndex={-1}
      class={`parts-row ${at === active ? "parts-row-active" : ""} ${props.rowClass?.(item) ?? ""}`}
      aria-selected={at === chosen}
      aria-setsize={count}
      aria-posinset={at + 1}
      style={{ top: `${at * row}px`, height: `${row}px` }}
      onClick={() => selectAndShow(props, item)}
    >
      {props.render(item)}
    </div>
  );
}

function selectAndShow<T>({ onSelect, panes }: VirtualListProps<T>, item: T): void {
  onSelect(item);
  // Waits for the details to render. Scrolls only if the details are below the list. In a wide window they are beside
  // it.
  requestAnimationFrame(() => {
    const [list, detail] = [panes?.current?.firstElementChild, panes?.current?.lastElementChild];
    if (list === null || list === undefined || detail === null || detail === undefined) return;
    const isBelow = detail.getBoundingClientRect().top >= list.getBoundingClientRect().bottom;
    if (isBelow) detail.scrollIntoView({ block: "start" });
  });
}

type BoxRef = RefObject<HTMLDivElement | null>;

const viewportOf = (box: HTMLElement): ListWindow => ({ top: box.scrollTop, height: box.clientHeight });

function useRowPixels(rowHeight: number): number {
  return useMemo(() => {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    return rowHeight * ((Number.isNaN(rem) ? USUAL_REM : rem) / USUAL_REM);
  }, [rowHeight]);
}

function useViewport(box: BoxRef) {
  const [seen, setSeen] = useState<ListWindow>({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    setSeen(viewportOf(element));
    const observer = new ResizeObserver(() => setSeen(viewportOf(element)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return [seen, setSeen] as const;
}

/**
 * Scrolls to a row selected from outside, once per selection, so that a growing list does not pull the reader back.
 */
function useScrollToSelected(box: BoxRef, selected: unknown, chosen: number, row: number): void {
  const shown = useRef<unknown>(undefined);
  useLayoutEffect(() => {
    if (selected === undefined) shown.current = undefined;
    if (chosen < 0 || shown.current === selected || box.current === null) return;
    shown.current = selected;
    box.current.scrollTop = scrollTopFor(chosen, row, viewportOf(box.current));
  }, [box, selected, chosen, row]);
}

/**
 * Leaves the visible rows in place when rows before them are dropped. Applies only to lists that set `follow` to false:
 * these lists can follow their end, but currently do not.
 */
function useScrollAnchor<T>(box: BoxRef, props: VirtualListProps<T>, row: number, moved: () => void): void {
  const { items, keyOf, follow } = props;
  const anchor = useRef<{ key: string | number; at: number } | undefined>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    const kept = anchor.current;
    if (follow !== false || element === null) return;
    const there = kept === undefined ? undefined : items[kept.at];
    if (kept !== undefined && (there === undefined || keyOf(there) !== kept.key)) {
      const at = items.findIndex((item) => keyOf(item) === kept.key);
      if (at >= 0) element.scrollTop += (at - kept.at) * row;
      moved();
    }
    const at = Math.floor(element.scrollTop / row);
    const first = items[at];
    anchor.current = first === undefined ? undefined : { key: keyOf(first), at };
  });
}

function useStickToEnd(box: BoxRef, follow: boolean, height: number): void {
  // `height` is a dependency, because the end of the list moves when the height changes.
  useLayoutEffect(() => {
    if (follow && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [box, follow, height]);
}
