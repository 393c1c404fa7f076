import type { ComponentChildren } from "preact";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { entries, inspectorState } from "../backend/page-state.js";
import { connectionDetails, connectionName, STATUS_WORDS } from "../connect/connection-name.js";
import { SearchBox } from "../parts/search-box.js";
import {
  filteredEntries,
  NO_FILTER,
  type TimelineFilter,
  timelineFilter,
  timelineMethods,
  updateFilter,
} from "./timeline-filter.js";

const DIRECTIONS: readonly TimelineFilter["direction"][] = ["sent", "received"];
const KINDS: readonly TimelineFilter["kind"][] = ["request", "notification", "result", "error", "http", "event"];

/** The filters of the timeline. */
export function FilterBar({ children }: { readonly children?: ComponentChildren }) {
  const filter = timelineFilter.value;
  const connections = inspectorState.value?.connections ?? [];
  const methods = timelineMethods.value;
  return (
    <search class="timeline-filters" aria-label="Timeline filters">
      <SearchBox label="Filter by text" value={filter.text} onInput={(text) => updateFilter({ text })} />
      <Choice
        label="Direction"
        any="both directions"
        value={filter.direction}
        choices={DIRECTIONS.map((direction) => [direction, direction])}
        onChoose={(direction) => updateFilter({ direction })}
      />
      <Choice
        label="Kind"
        any="all kinds"
        value={filter.kind}
        choices={KINDS.map((kind) => [kind, kind])}
        onChoose={(kind) => updateFilter({ kind })}
      />
      <Choice
        label="Method"
        any="all methods"
        value={filter.method}
        choices={withChosen(methods, filter.method).map((method) => [method, method])}
        onChoose={(method) => updateFilter({ method })}
      />
      {connections.length > 1 && (
        <Choice
          label="Connection"
          any="all connections"
          value={filter.connection}
          choices={connections.map((connection) => [connection.id, longName(connection)])}
          onChoose={(connection) => updateFilter({ connection })}
        />
      )}
      <span class="timeline-switches">
        <Switch
          label="Only problems"
          on={filter.onlyProblems}
          onSet={(onlyProblems) => updateFilter({ onlyProblems })}
        />
        <Switch
          label="Only failures"
          on={filter.onlyFailures}
          onSet={(onlyFailures) => updateFilter({ onlyFailures })}
        />
      </span>
      {filter !== NO_FILTER && <FilterSummary call={filter.call} />}
      {children}
    </search>
  );
}

/** The name of a connection with its revision, because one server may be connected in several revisions. */
const longName = (connection: ConnectionInfo) => {
  const kept = connection.status === "imported" ? [STATUS_WORDS.imported] : [];
  return [connectionName(connection), ...kept, ...connectionDetails(connection)].join(" · ");
};

/** Adds the selected method even if no entry has it any more, so that the menu can still show the selection. */
const withChosen = (methods: readonly string[], chosen: string) =>
  chosen === "" || methods.includes(chosen) ? methods : [...methods, chosen];

function FilterSummary({ call }: { readonly call: string }) {
  const reset = () => {
    timelineFilter.value = NO_FILTER;
  };
  return (
    <span class="timeline-narrowed">
      <span class="soft">
        {filteredEntries.value.length} of {entries.value.length}
        {call === "" ? "" : ", one call"}
      </span>
      <button type="button" class="quiet" onClick={reset}>
        Show all
      </button>
    </span>
  );
}

interface ChoiceProps<K extends string> {
  readonly label: string;
  /** The title of the option that selects all. */
  readonly any: string;
  readonly value: K;
  readonly choices: readonly (readonly [K, string])[];
  readonly onChoose: (value: K) => void;
}

function Choice<K extends string>({ label, any, value, choices, onChoose }: ChoiceProps<K>) {
  return (
    // Safe: the value is one of `choices` or the empty string, and every type used for `K` includes the empty string.
    <select aria-label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value as K)}>
      <option value="">{any}</option>
      {choices.map(([choice, title]) => (
        <option key={choice} value={choice}>
          {title}
        </option>
      ))}
    </select>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly on: boolean;
  readonly onSet: (on: boolean) => void;
}

function Switch({ label, on, onSet }: SwitchProps) {
  return (
    <label class="timeline-switch">
      <input type="checkbox" checked={on} onChange={(event) => onSet(event.currentTarget.checked)} />
      {label}
    </label>
  );
}
