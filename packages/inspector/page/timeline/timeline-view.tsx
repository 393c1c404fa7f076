import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EntrySummary } from "../../src/contract/timeline.js";
import { act } from "../backend/act.js";
import { chosenEntry, entries } from "../backend/page-state.js";
import { sharedSession } from "../backend/shared-session.js";
import { Dialog } from "../parts/dialog.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { VirtualList } from "../parts/virtual-list.js";
import { EntryPane } from "./entry-pane.js";
import { EntryColumns, EntryRow } from "./entry-row.js";
import { FilterBar } from "./filter-bar.js";
import { pairedEntry } from "./related-entries.js";
import { filteredEntries, matchesFilter, NO_FILTER, timelineFilter } from "./timeline-filter.js";

const ROW_HEIGHT = 30;
/** The sequence number of the first entry of an inspector. */
const FIRST_SEQ = 1;
const seqOf = ({ seq }: EntrySummary) => seq;
const rowOf = (entry: EntrySummary) => <EntryRow entry={entry} />;
/** All entries of the timeline, and the details of the selected entry. */
export function TimelineView() {
  const [follow, setFollow] = useState(chosenEntry.value === undefined);
  const panes = useRef<HTMLDivElement>(null);
  const all = entries.value;
  const shown = filteredEntries.value;
  const seq = chosenEntry.value;
  const choose = (entry: EntrySummary) => {
    chosenEntry.value = entry.seq;
    // Stops scrolling to new entries, so that the selected one stays in place.
    setFollow(false);
  };
  const chosen = useMemo(() => all.find((entry) => entry.seq === seq), [all, seq]);
  const paired = useMemo(() => (chosen === undefined ? undefined : pairedEntry(chosen, all)), [chosen, all]);
  useEffect(() => {
    // An entry opened from another view must be visible, so a filter that hides the entry is reset.
    if (chosen !== undefined && !matchesFilter(chosen, timelineFilter.peek())) timelineFilter.value = NO_FILTER;
  }, [chosen]);
  return (
    <div class="timeline">
      <FilterBar>
        <span class="timeline-tail">
          <button type="button" aria-pressed={follow} onClick={() => setFollow(!follow)}>
            Follow
          </button>
          {sharedSession() === undefined && <ClearButton />}
        </span>
      </FilterBar>
      <DroppedEntries before={(all[0]?.seq ?? FIRST_SEQ) - FIRST_SEQ} />
      {seq !== undefined && chosen === undefined && <p class="timeline-gone">Entry {seq} is no longer available.</p>}
      <div ref={panes} class={chosen === undefined ? "timeline-panes" : "timeline-panes timeline-panes-two"}>
        <section class="timeline-entries" aria-label="Entries">
          <EntryColumns />
          {shown.length === 0 ? (
            <p class="timeline-empty soft">{all.length === 0 ? "No messages yet." : "No entries match the filter."}</p>
          ) : (
            <VirtualList
              label="Timeline"
              items={shown}
              rowHeight={ROW_HEIGHT}
              keyOf={seqOf}
              render={rowOf}
              selected={seq}
              onSelect={choose}
              selectOnMove
              panes={panes}
              rowClass={(entry) => (entry.seq === paired?.seq ? "timeline-paired" : undefined)}
              follow={follow}
              onEnd={setFollow}
            />
          )}
        </section>
        {chosen !== undefined && <EntryPane key={chosen.seq} entry={chosen} paired={paired} />}
      </div>
    </div>
  );
}

/** Reports how many older entries were dropped. */
function DroppedEntries({ before }: { readonly before: number }) {
  if (before === 0 || sharedSession() !== undefined) return null;
  return (
    <p class="timeline-forgotten soft">
      {before === 1 ? "1 older entry was" : `${before.toLocaleString("en")} older entries were`} dropped.
    </p>
  );
}

function ClearButton() {
  const [asking, setAsking] = useState(false);
  const action = useAction();
  const clear = () =>
    action.run(async () => {
      const last = entries.value.at(-1)?.seq ?? 0;
      await act("clear", {});
      // The inspector may have added entries after it cleared the timeline, so entries that arrived during the request
      // stay until the next state reports which of them still exist.
      entries.value = entries.value.filter(({ seq }) => seq > last);
      chosenEntry.value = undefined;
      setAsking(false);
    });
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Clear…
      </button>
      {asking && (
        <Dialog title="Clear the timeline?" onClose={() => setAsking(false)}>
          <p>This deletes all entries of all connections. A running recording keeps its messages.</p>
          {action.problem !== undefined && <ProblemNote problem={action.problem} />}
          <div class="parts-actions">
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
            <button type="button" class="main" disabled={action.busy} onClick={clear}>
              Clear timeline
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
