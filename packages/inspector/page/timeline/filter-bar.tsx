import type { ComponentChildren } from "preact";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { entries, inspectorState } from "../backend/page-state.js";
import { connectionFacts, connectionName, STATUS_WORDS } from "../connect/connection-name.js";
import { SearchBox } from "../parts/search-box.js";
import {
  EVERYTHING,
  narrowTimeline,
  occurringMethods,
  passingEntries,
  type TimelineFilter,
  timelineFilter,
} from "./timeline-filter.js";

const DIRECTIONS: readonly TimelineFilter["direction"][] = ["sent", "received"];
const KINDS: readonly TimelineFilter["kind"][] = ["request", "notification", "result", "error", "http", "event"];

/** What narrows the timeline. */
export function FilterBar({ children }: { readonly children?: ComponentChildren }) {
  const filter = timelineFilter.value;
  const connections = inspectorState.value?.connections ?? [];
  const methods = occurringMethods.value;
  return (
    <search class="timeline-filters" aria-label="Filter of the timeline">
      <SearchBox label="Filter by text" value={filter.text} onInput={(text) => narrowTimeline({ text })} />
      <Choice
        label="Direction"
        any="both directions"
        value={filter.direction}
        choices={DIRECTIONS.map((direction) => [direction, direction])}
        onChoose={(direction) => narrowTimeline({ direction })}
      />
      <Choice
        label="Kind"
        any="all kinds"
        value={filter.kind}
        choices={KINDS.map((kind) => [kind, kind])}
        onChoose={(kind) => narrowTimeline({ kind })}
      />
      <Choice
        label="Method"
        any="all methods"
        value={filter.method}
        choices={withChosen(methods, filter.method).map((method) => [method, method])}
        onChoose={(method) => narrowTimeline({ method })}
      />
      {connections.length > 1 && (
        <Choice
          label="Connection"
          any="all connections"
          value={filter.connection}
          choices={connections.map((connection) => [connection.id, longName(connection)])}
          onChoose={(connection) => narrowTimeline({ connection })}
        />
      )}
      <span class="timeline-switches">
        <Switch
          label="Only problems"
          on={filter.onlyProblems}
          onSet={(onlyProblems) => narrowTimeline({ onlyProblems })}
        />
        <Switch
          label="Only failures"
          on={filter.onlyFailures}
          onSet={(onlyFailures) => narrowTimeline({ onlyFailures })}
        />
      </span>
      {filter !== EVERYTHING && <Narrowed call={filter.call} />}
      {children}
    </search>
  );
}

/** With its revision, because the same server may be connected in several. */
const longName = (connection: ConnectionInfo) => {
  const kept = connection.status === "imported" ? [STATUS_WORDS.imported] : [];
  return [connectionName(connection), ...kept, ...connectionFacts(connection)].join(" · ");
};

/** A method that no kept entry has any more stays a choice while it is chosen. */
const withChosen = (methods: readonly string[], chosen: string) =>
  chosen === "" || methods.includes(chosen) ? methods : [...methods, chosen];

function Narrowed({ call }: { readonly call: string }) {
  const reset = () => {
    timelineFilter.value = EVERYTHING;
  };
  return (
    <span class="timeline-narrowed">
      <span class="soft">
        {passingEntries.value.length} of {entries.value.length}
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
  /** What no choice is called. */
  readonly any: string;
  readonly value: K;
  readonly choices: readonly (readonly [K, string])[];
  readonly onChoose: (value: K) => void;
}

function Choice<K extends string>({ label, any, value, choices, onChoose }: ChoiceProps<K>) {
  return (
    // The value of an option is always one of `choices`, or empty, which every K here has.
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
