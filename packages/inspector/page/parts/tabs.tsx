import type { ComponentChildren } from "preact";

interface Tab<K extends string> {
  readonly id: K;
  readonly title: string;
  readonly count?: number | undefined;
}

interface TabsProps<K extends string> {
  /** The accessible name of the tab list. */
  readonly label: string;
  /** Prefix of the tab ids. Required if the label is not unique in the page. */
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

/** A row of tabs. Only the selected tab is in the tab order. Arrows, Home and End move between tabs. */
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
  /** The `idPrefix` of the tabs, or their `label` if they have no `idPrefix`. */
  readonly label: string;
  readonly chosen: string;
  readonly children: ComponentChildren;
}

/** The content of the selected tab. Focusable, because it may scroll without containing a control. */
export function TabPanel({ label, chosen, children }: TabPanelProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
    <div class="parts-tab-panel" role="tabpanel" aria-labelledby={idOf(label, chosen)} tabIndex={0}>
      {children}
    </div>
  );
}
