import type { ComponentChildren, RefObject } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ListWindow, movedRow, scrolledTo, visibleRows } from "./visible-rows.js";

/** Pixels of one `rem` to which row heights are given; what the reader set scales them. */
const USUAL_REM = 16;
/** As near to the end as browsers round to it. */
const NEAR_PIXELS = 2;

interface VirtualListProps<T> {
  readonly items: readonly T[];
  /** In pixels at the usual size of text. */
  readonly rowHeight: number;
  readonly keyOf: (item: T) => string | number;
  readonly render: (item: T) => ComponentChildren;
  readonly selected?: string | number | undefined;
  /** Click or Enter; each move of the keyboard too, with `selectOnMove`. */
  readonly onSelect: (item: T) => void;
  readonly label: string;
  /** Has the list in its first element, and in its last one what is selected: a click or Enter brings that into sight. */
  readonly panes?: RefObject<HTMLElement | null> | undefined;
  readonly selectOnMove?: boolean | undefined;
  readonly rowClass?: ((item: T) => string | undefined) | undefined;
  /** Stay at the end while the list grows. */
  readonly follow?: boolean | undefined;
  /** The user scrolled to the end of the list, or away from it. */
  readonly onEnd?: ((atEnd: boolean) => void) | undefined;
}

/** A list of any length of which only the visible rows are in the document. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, keyOf, selected, onSelect, follow = false } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const row = useRowPixels(props.rowHeight);
  const [seen, setSeen] = useWindowOf(box);
  const chosen = useMemo(
    () => (selected === undefined ? -1 : items.findIndex((item) => keyOf(item) === selected)),
    [items, selected, keyOf],
  );
  const [active, setActive] = useState(-1);
  // Before the next key: a later effect would take back a step of keys that follow each other fast.
  useLayoutEffect(() => {
    if (chosen >= 0) setActive(chosen);
  }, [chosen]);
  useShownRow(box, selected, chosen, row);
  useAnchoredRow(box, props, row, () => box.current !== null && setSeen(shownPart(box.current)));
  useFollowedEnd(box, follow, items.length * row);
  const page = Math.max(1, Math.floor(seen.height / row) - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const item = items[active];
    if ((event.key === "Enter" || event.key === " ") && item !== undefined) selectAndShow(props, item);
    else {
      const to = movedRow(event.key, active, items.length, page);
      const next = to === undefined ? undefined : items[to];
      if (to === undefined || next === undefined) return;
      setActive(to);
      if (box.current !== null) box.current.scrollTop = scrolledTo(to, row, shownPart(box.current));
      if (props.selectOnMove === true) onSelect(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const onScroll = (event: Event & { readonly currentTarget: HTMLDivElement }) => {
    setSeen(shownPart(event.currentTarget));
    const { scrollTop, clientHeight, scrollHeight } = event.currentTarget;
    // A list that is hardly higher than its box has its beginning near its end.
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
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and the keys, as listboxes do
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
  // Once it is there. In a wide window it stands beside the list, and is seen anyway.
  requestAnimationFrame(() => {
    const [list, detail] = [panes?.current?.firstElementChild, panes?.current?.lastElementChild];
    if (list === null || list === undefined || detail === null || detail === undefined) return;
    const isBelow = detail.getBoundingClientRect().top >= list.getBoundingClientRect().bottom;
    if (isBelow) detail.scrollIntoView({ block: "start" });
  });
}

type BoxRef = RefObject<HTMLDivElement | null>;

const shownPart = (box: HTMLElement): ListWindow => ({ top: box.scrollTop, height: box.clientHeight });

function useRowPixels(rowHeight: number): number {
  return useMemo(() => {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    return rowHeight * ((Number.isNaN(rem) ? USUAL_REM : rem) / USUAL_REM);
  }, [rowHeight]);
}

function useWindowOf(box: BoxRef) {
  const [seen, setSeen] = useState<ListWindow>({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    setSeen(shownPart(element));
    const observer = new ResizeObserver(() => setSeen(shownPart(element)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return [seen, setSeen] as const;
}

/** Scrolls to what is selected from outside, once for each selection: a growing list must not pull the reader back. */
function useShownRow(box: BoxRef, selected: unknown, chosen: number, row: number): void {
  const shown = useRef<unknown>(undefined);
  useLayoutEffect(() => {
    if (selected === undefined) shown.current = undefined;
    if (chosen < 0 || shown.current === selected || box.current === null) return;
    shown.current = selected;
    box.current.scrollTop = scrolledTo(chosen, row, shownPart(box.current));
  }, [box, selected, chosen, row]);
}

/** Keeps the rows that are read where they are when those before them are forgotten; for lists that can be followed. */
function useAnchoredRow<T>(box: BoxRef, props: VirtualListProps<T>, row: number, moved: () => void): void {
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

function useFollowedEnd(box: BoxRef, follow: boolean, height: number): void {
  // `height` is not read, but the end moves with it.
  useLayoutEffect(() => {
    if (follow && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [box, follow, height]);
}
