import { printable } from "@parley/mcp/protocol";
import type { RefObject } from "preact";
import { useMemo } from "preact/hooks";
import type { OfferSummary } from "../../src/contract/offers.js";
import { ProblemNote } from "../parts/problem-note.js";
import { SearchBox } from "../parts/search-box.js";
import { VirtualList } from "../parts/virtual-list.js";
import { Marks } from "./offer-head.js";
import { searchOffers } from "./offer-search.js";
import { useCachedState } from "./use-cached-state.js";
import type { LoadedList } from "./use-offers.js";

interface OfferPaneProps {
  readonly connection: string;
  /** The plural name of the listed kind, such as `tools`. */
  readonly what: string;
  readonly loaded: LoadedList;
  readonly chosen: string | undefined;
  readonly onChoose: (name: string) => void;
  readonly panes: RefObject<HTMLElement | null>;
}

const ROW_HEIGHT = 52;
const NONE: readonly OfferSummary[] = [];
const nameOf = (offer: OfferSummary) => offer.name;

/** A searchable list of the tools, resources, templates, prompts or skills of a server. */
export function OfferPane({ connection, what, loaded, chosen, onChoose, panes }: OfferPaneProps) {
  const [query, setQuery] = useCachedState(`query ${connection} ${what}`, () => "");
  const offers = loaded.list?.offers ?? NONE;
  const found = useMemo(() => searchOffers(offers, query), [offers, query]);
  return (
    <div class="use-list">
      <div class="use-list-head">
        <SearchBox value={query} onInput={setQuery} label={`Search ${what}`} />
        <button
          type="button"
          class="quiet"
          aria-label={`Refresh ${what}`}
          disabled={loaded.loading}
          onClick={loaded.refresh}
        >
          ↻
        </button>
      </div>
      {loaded.problem !== undefined && <ProblemNote problem={loaded.problem} />}
      <p class="soft" role="status">
        {countOf(loaded, found.length, what)}
      </p>
      <VirtualList
        items={found}
        rowHeight={ROW_HEIGHT}
        keyOf={nameOf}
        render={(offer) => <OfferRow offer={offer} />}
        selected={chosen}
        onSelect={({ name }) => onChoose(name)}
        selectOnMove
        panes={panes}
        label={`List of ${what}`}
      />
    </div>
  );
}

function countOf({ list, loading }: LoadedList, found: number, what: string): string {
  if (list === undefined) return loading ? "Loading…" : "";
  const all = list.offers.length;
  const words = all === 1 ? what.slice(0, -1) : what;
  const shown = found === all ? `${all} ${words}` : `${found} of ${all} ${words}`;
  return list.cut ? `${shown}; the server has more that are not loaded` : shown;
}

function OfferRow({ offer }: { readonly offer: OfferSummary }) {
  const { name, title, description, marks, findings } = offer;
  return (
    <span class="use-row">
      <span class="use-row-line">
        <span class="use-row-name">{printable(name)}</span>
        {title !== undefined && title !== name && <span class="soft">{printable(title)}</span>}
        <Marks marks={marks} />
        {findings > 0 && (
          <span class="use-mark use-mark-warn">{findings === 1 ? "1 lint issue" : `${findings} lint issues`}</span>
        )}
      </span>
      <span class="use-row-about soft">{printable(description ?? "").replaceAll("\n", " ")}</span>
    </span>
  );
}
