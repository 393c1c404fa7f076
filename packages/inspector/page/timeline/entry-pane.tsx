import { useEffect, useState } from "preact/hooks";
import type { ProblemInfo } from "../../src/contract/connections.js";
import type { EntryDetail, EntrySummary } from "../../src/contract/timeline.js";
import { entryDetail } from "../backend/act.js";
import { chosenEntry } from "../backend/page-state.js";
import { formatBytes } from "../parts/format-bytes.js";
import { formatMs } from "../parts/format-ms.js";
import { ProblemNote } from "../parts/problem-note.js";
import { TabPanel, Tabs } from "../parts/tabs.js";
import { shownFailure } from "../parts/use-action.js";
import { CopyForms } from "./copy-forms.js";
import { ExchangeHeaders } from "./exchange-headers.js";
import { MessageText } from "./message-text.js";
import { NO_FILTER, updateFilter } from "./timeline-filter.js";
import { WaterfallChart } from "./waterfall-chart.js";

interface EntryPaneProps {
  readonly entry: EntrySummary;
  readonly paired: EntrySummary | undefined;
}

type PaneTab = "message" | "headers" | "waterfall" | "copy";

/** The last selected tab. The next entry opens with the same tab. */
let lastTab: PaneTab = "message";

/** All details of one timeline entry. */
export function EntryPane({ entry, paired }: EntryPaneProps) {
  const [tab, setTab] = useState(lastTab);
  const { detail, problem } = useDetail(entry, paired);
  const choose = (chosen: PaneTab) => {
    lastTab = chosen;
    setTab(chosen);
  };
  const tabs: { id: PaneTab; title: string; count?: number | undefined }[] = [
    { id: "message", title: "Message", count: entry.problems === 0 ? undefined : entry.problems },
    { id: "headers", title: "Headers" },
    { id: "waterfall", title: "Waterfall" },
    { id: "copy", title: "Copy as" },
  ];
  return (
    <section class="timeline-detail" aria-label="Entry">
      <PaneHead entry={entry} paired={paired} />
      <Tabs label="Entry details" tabs={tabs} chosen={tab} onChoose={choose} />
      <TabPanel label="Entry details" chosen={tab}>
        {problem !== undefined && <ProblemNote problem={problem} />}
        {detail !== undefined && tab === "message" && <MessageText detail={detail} />}
        {detail !== undefined && tab === "headers" && <ExchangeHeaders exchange={detail.http} />}
        {tab === "waterfall" && <WaterfallChart entry={entry} />}
        {detail !== undefined && tab === "copy" && <CopyForms detail={detail} />}
      </TabPanel>
    </section>
  );
}

function PaneHead({ entry, paired }: EntryPaneProps) {
  const { call, latencyMs = paired?.latencyMs } = entry;
  const facts = [
    `#${entry.seq}`,
    entry.direction === undefined ? entry.kind : `${entry.kind}, ${entry.direction}`,
    formatBytes(entry.bytes),
    ...(latencyMs === undefined ? [] : [`answered in ${formatMs(latencyMs)}`]),
    ...(entry.note === undefined ? [] : [entry.note]),
  ];
  return (
    <header class="timeline-head">
      <h2 class="mono">
        {entry.label}
        {entry.about !== undefined && <span class="soft"> {entry.about}</span>}
      </h2>
      <p class="soft">{facts.join(" · ")}</p>
      <div class="parts-actions">
        {paired !== undefined && (
          <button
            type="button"
            onClick={() => {
              chosenEntry.value = paired.seq;
            }}
          >
            {entry.answers === undefined ? "Go to response" : "Go to request"}
          </button>
        )}
        {call !== undefined && (
          <button type="button" onClick={() => updateFilter({ ...NO_FILTER, call })}>
            Only this call
          </button>
        )}
        <button
          type="button"
          class="quiet"
          aria-label="Close entry"
          onClick={({ currentTarget }) => {
            // The button disappears with the entry, so the focus moves to the list for keyboard users.
            currentTarget.closest(".timeline-panes")?.querySelector<HTMLElement>("[role=listbox]")?.focus();
            chosenEntry.value = undefined;
          }}
        >
          ✕
        </button>
      </div>
    </header>
  );
}

interface LoadedDetail {
  readonly detail?: EntryDetail;
  readonly problem?: ProblemInfo;
}

function useDetail(entry: EntrySummary, paired: EntrySummary | undefined): LoadedDetail {
  const [loaded, setLoaded] = useState<LoadedDetail>({});
  // The headers of a request are complete only after its response, so the response triggers a reload.
  const answered = paired?.seq;
  useEffect(() => {
    let wanted = true;
    entryDetail(entry.seq).then(
      (detail) => wanted && setLoaded({ detail }),
      (reason: unknown) => wanted && setLoaded({ problem: shownFailure(reason) }),
    );
    return () => {
      wanted = false;
    };
  }, [entry.seq, answered]);
  return loaded;
}
