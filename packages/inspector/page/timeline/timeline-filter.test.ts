import { expect, test } from "vitest";
import type { EntrySummary } from "../../src/contract/timeline.js";
import { entries } from "../backend/page-state.js";
import {
  filteredEntries,
  matchesFilter,
  NO_FILTER,
  type TimelineFilter,
  timelineFilter,
  timelineMethods,
  updateFilter,
} from "./timeline-filter.js";

const entry: EntrySummary = {
  seq: 1,
  connection: "c1",
  ms: 1,
  kind: "request",
  direction: "sent",
  label: "tools/call",
  about: "Weather",
  bytes: 1,
  call: "k1",
  problems: 1,
  failed: true,
};

const PASSING: readonly Partial<TimelineFilter>[] = [
  {},
  { text: "WEATH" },
  { text: "tools/" },
  { direction: "sent" },
  { kind: "request" },
  { method: "tools/call" },
  { connection: "c1" },
  { call: "k1" },
  { onlyProblems: true },
  { onlyFailures: true },
];

const STOPPING: readonly Partial<TimelineFilter>[] = [
  { text: "rain" },
  { direction: "received" },
  { kind: "result" },
  { method: "tools/list" },
  { connection: "c2" },
  { call: "k2" },
];

for (const part of PASSING) {
  test(`an entry passes ${JSON.stringify(part)}`, () => {
    expect(matchesFilter(entry, { ...NO_FILTER, ...part })).toBe(true);
  });
}

for (const part of STOPPING) {
  test(`an entry does not pass ${JSON.stringify(part)}`, () => {
    expect(matchesFilter(entry, { ...NO_FILTER, ...part })).toBe(false);
  });
}

test("entries without problems or failures are left out when only those are wanted", () => {
  const fine = { ...entry, problems: 0, failed: false };
  expect(matchesFilter(fine, { ...NO_FILTER, onlyProblems: true })).toBe(false);
  expect(matchesFilter(fine, { ...NO_FILTER, onlyFailures: true })).toBe(false);
});

test("the timeline follows its filter, and offers the methods that occur", () => {
  entries.value = [entry, { ...entry, seq: 2, label: "ping" }, { ...entry, seq: 3, kind: "event", label: "connected" }];
  expect(timelineMethods.value).toEqual(["ping", "tools/call"]);
  updateFilter({ method: "ping" });
  expect(filteredEntries.value.map(({ seq }) => seq)).toEqual([2]);
  timelineFilter.value = NO_FILTER;
  expect(filteredEntries.value).toBe(entries.value);
});
