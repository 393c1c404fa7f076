import type { ComponentChildren } from "preact";

interface Tab<K extends string> {
  readonly id: K;
  readonly title: string;
  readonly count?: number | undefined;
}

interface TabsProps<K extends string> {
  /** The accessible name of the row of tabs. */
  readonly label: string;
  /** Begins the ids of the tabs, where the label is not unique in the page. */
  readonly idPrefix?: string | undefined;
  readonly tabs: readonly Tab<K>[];
  readonly chosen: K;
  readonly onChoose: (id: K) => void;
}

const idOf = (label: string, id: string) => `${label}-${id}`.replaceAll(/[^a-zA-Z0-9_-]+/g, "-");
const STEPS: ReadonlyMap<string, number> = new Map([
  ["ArrowLeft", -1],
  ["ArrowRight", 1],
  ["Home", -Infinity],
  ["End", Infinity],
]);

/** A row of tabs. One of them is in the tab order; arrows, Home and End go on from there. */
export function Tabs<K extends string>({ label, idPrefix = label, tabs, chosen, onChoose }: TabsProps<K>) {
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS.get(event.key);
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === chosen);
    const to = Number.isFinite(step) ? (at + step + tabs.length) % tabs.length : step < 0 ? 0 : tabs.length - 1;
    const next = tabs[to];
    if (next === undefined) return;
    onChoose(next.id);
    document.getElementById(idOf(idPrefix, next.id))?.focus();
  };
  return (
    <div class="parts-tabs" role="tablist" aria-label={label} tabIndex={-1} onKeyDown={onKeyDown}>
      {tabs.map(({ id, title, count }) => (
        <button
          key={id}
          type="button"
          role="tab"
          id={idOf(idPrefix, id)}
          aria-selected={id === chosen}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {title}
          {count !== undefined && <span class="parts-count">{count}</span>}
        </button>
      ))}
    </div>
  );
}

interface TabPanelProps {
  /** What begins the ids of the tabs that it belongs to: their prefix, or else their label. */
  readonly label: string;
  readonly chosen: string;
  readonly children: ComponentChildren;
}

/** What the chosen tab shows. It takes the focus itself, because what it shows may scroll and have no control. */
export function TabPanel({ label, chosen, children }: TabPanelProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
    <div class="parts-tab-panel" role="tabpanel" aria-labelledby={idOf(label, chosen)} tabIndex={0}>
      {children}
    </div>
  );
}
