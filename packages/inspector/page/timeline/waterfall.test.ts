import { expect, test } from "vitest";
import type { EntrySummary } from "../../src/contract/timeline.js";
import { entriesOfCall, pairedEntry } from "./related-entries.js";
import { MAX_WATERFALL_ROWS, waterfallOf } from "./waterfall.js";

const entry = (seq: number, more: Partial<EntrySummary>): EntrySummary => ({
  seq,
  connection: "c1",
  ms: seq * 10,
  kind: "request",
  direction: "sent",
  label: "tools/call",
  bytes: 1,
  problems: 0,
  failed: false,
  call: "k1",
  ...more,
});

const progress = (seq: number) =>
  entry(seq, { kind: "notification", direction: "received", label: "notifications/progress" });

const call = [
  entry(1, { about: "book" }),
  progress(2),
  entry(3, { direction: "received", label: "elicitation/create" }),
  entry(4, { kind: "result", label: "elicitation/create", answers: 3 }),
  progress(5),
  entry(6, { kind: "result", direction: "received", answers: 1, failed: true }),
];

test("a call is a row for each request until its answer, and one for all notifications of a kind", () => {
  const rows = waterfallOf(call).map(({ kind, label, startMs, endMs, count }) => [kind, label, startMs, endMs, count]);
  expect(rows).toEqual([
    ["request", "tools/call book", 10, 60, 1],
    ["points", "notifications/progress", 20, 50, 2],
    ["question", "elicitation/create", 30, 40, 1],
  ]);
});

test("a request that is sent again in the same call has the questions between its rounds", () => {
  const rounds = [
    entry(1, { about: "book" }),
    entry(2, { kind: "result", direction: "received", about: "book", answers: 1 }),
    entry(5, { about: "book" }),
    entry(6, { kind: "result", direction: "received", about: "book", answers: 5 }),
  ];
  const rows = waterfallOf(rounds).map(({ seq, kind, label, startMs, endMs }) => [seq, kind, label, startMs, endMs]);
  expect(rows).toEqual([
    [1, "request", "tools/call book", 10, 20],
    [2, "question", "questions, round 1", 20, 50],
    [5, "request", "tools/call book", 50, 60],
  ]);
  const again = rounds.map((one) => (one.seq === 2 ? { ...one, failed: true } : one));
  expect(waterfallOf(again).map(({ kind }) => kind)).toEqual(["request", "request"]);
});

test("a request is failed when its answer is, and open when it has none", () => {
  expect(waterfallOf(call)[0]?.failed).toBe(true);
  expect(waterfallOf(call.slice(0, 3))[0]?.endMs).toBeUndefined();
});

test("rows and points are bounded, and all are counted", () => {
  const requests = Array.from({ length: MAX_WATERFALL_ROWS + 50 }, (_, at) => entry(at, {}));
  expect(waterfallOf(requests)).toHaveLength(MAX_WATERFALL_ROWS);
  expect(waterfallOf([...call, ...requests]).length).toBe(MAX_WATERFALL_ROWS);
  const [row] = waterfallOf(Array.from({ length: 2_000 }, (_, at) => progress(at)));
  expect(row?.count).toBe(2_000);
  expect(row?.points.length).toBeLessThan(1_000);
});

test("a request and its answer find each other", () => {
  const [request, , , , , answer] = call;
  expect(request && pairedEntry(request, call)).toBe(answer);
  expect(answer && pairedEntry(answer, call)).toBe(request);
  expect(pairedEntry(progress(2), call)).toBeUndefined();
});

test("what belongs to no call is shown with its other half alone", () => {
  const all = call.map((one) => ({ ...one, call: undefined }));
  expect(all[5] && entriesOfCall(all[5], all).map(({ seq }) => seq)).toEqual([1, 6]);
  expect(call[1] && entriesOfCall(call[1], [...call, entry(7, { call: "k2" })])).toHaveLength(call.length);
});
