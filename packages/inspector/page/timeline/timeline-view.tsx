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
import { EVERYTHING, passesFilter, passingEntries, timelineFilter } from "./timeline-filter.js";

const ROW_HEIGHT = 30;
/** The number of the first entry that an inspector ever has. */
const FIRST_SEQ = 1;
const seqOf = ({ seq }: EntrySummary) => seq;
const rowOf = (entry: EntrySummary) => <EntryRow entry={entry} />;
/** Every message of both directions, and everything about the chosen one. */
export function TimelineView() {
  const [follow, setFollow] = useState(chosenEntry.value === undefined);
  const panes = useRef<HTMLDivElement>(null);
  const all = entries.value;
  const shown = passingEntries.value;
  const seq = chosenEntry.value;
  const choose = (entry: EntrySummary) => {
    chosenEntry.value = entry.seq;
    // What is being read must not run away.
    setFollow(false);
  };
  const chosen = useMemo(() => all.find((entry) => entry.seq === seq), [all, seq]);
  const paired = useMemo(() => (chosen === undefined ? undefined : pairedEntry(chosen, all)), [chosen, all]);
  useEffect(() => {
    // An entry that was gone to from another view must be seen, whatever was filtered before.
    if (chosen !== undefined && !passesFilter(chosen, timelineFilter.peek())) timelineFilter.value = EVERYTHING;
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
      <Forgotten before={(all[0]?.seq ?? FIRST_SEQ) - FIRST_SEQ} />
      {seq !== undefined && chosen === undefined && <p class="timeline-gone">Entry {seq} is no longer kept.</p>}
      <div ref={panes} class={chosen === undefined ? "timeline-panes" : "timeline-panes timeline-panes-two"}>
        <section class="timeline-entries" aria-label="Entries">
          <EntryColumns />
          {shown.length === 0 ? (
            <p class="timeline-empty soft">{all.length === 0 ? "No message yet." : "No entry passes the filter."}</p>
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

/** Says how many entries there were before the first that is kept. */
function Forgotten({ before }: { readonly before: number }) {
  if (before === 0 || sharedSession() !== undefined) return null;
  return (
    <p class="timeline-forgotten soft">
      {before === 1 ? "1 older entry is" : `${before.toLocaleString("en")} older entries are`} no longer kept.
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
      // What came meanwhile may be of after; the state that the inspector tells says what is kept.
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
          <p>All entries of all connections are forgotten. A recording that is under way keeps its messages.</p>
          {action.problem !== undefined && <ProblemNote problem={action.problem} />}
          <div class="parts-actions">
            <button type="button" onClick={() => setAsking(false)}>
              Keep it
            </button>
            <button type="button" class="main" disabled={action.busy} onClick={clear}>
              Clear the timeline
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
