import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  endedRecord,
  hasEnded,
  resumedRecord,
  type TaskRecord,
  taskOf,
  withAnswers,
  withQuestions,
  withStep,
} from "./task-record.js";

const RECORD: TaskRecord = {
  id: "a",
  owner: null,
  createdAt: 0,
  updatedAt: 0,
  ttlMs: 1000,
  pollIntervalMs: 10,
  status: "working",
  retry: 0,
  lease: { node: "n", token: 1 },
  questions: {},
  answers: {},
  steps: {},
};

const name = fc.oneof(fc.constantFrom("a", "b", "__proto__", "constructor", ""), fc.string());
const question = { method: "elicitation/create", params: {} } as const;

/** What a run of a handler and its client may do to a record. */
const change = fc.oneof(
  fc.record({ kind: fc.constant("ask" as const), name }),
  fc.record({ kind: fc.constant("answer" as const), name }),
  fc.record({ kind: fc.constant("begin" as const), name }),
  fc.record({ kind: fc.constant("finish" as const), name }),
  fc.record({ kind: fc.constant("resume" as const), name }),
);

describe("the record of a task", () => {
  it("keeps its questions, answers and steps apart, survives JSON, and is resumed only where no work may be repeated", () => {
    fc.assert(
      fc.property(fc.array(change), fc.nat(3), (changes, retry) => {
        let record: TaskRecord = { ...RECORD, retry };
        for (const { kind, name: key } of changes) {
          if (kind === "ask") record = withQuestions(record, Object.fromEntries([[key, question]]));
          else if (kind === "answer") record = withAnswers(record, Object.fromEntries([[key, { value: 1 }]]));
          else if (kind === "begin") record = withStep(record, key, { begun: true });
          else if (kind === "finish") record = withStep(record, key, { value: 1 });
          else {
            const before = record;
            const next = resumedRecord(record, { node: "m", token: record.lease.token + 1 });
            if ("reason" in next) return;
            expect(Object.values(next.steps).filter((step) => "begun" in step)).toEqual([]);
            const isSafe = !Object.values(before.steps).some((step) => "begun" in step);
            if (!isSafe) expect(next.retry).toBe(before.retry - 1);
            expect(next.lease.token).toBe(before.lease.token + 1);
            record = next;
          }
          expect(record.status).toBe(Object.keys(record.questions).length > 0 ? "input_required" : "working");
          record = JSON.parse(JSON.stringify(record)) as TaskRecord;
        }
        const over = endedRecord(record, "completed", { result: {} });
        expect(hasEnded(over)).toBe(true);
        expect(taskOf(over)).not.toHaveProperty("inputRequests");
      }),
    );
  });
});
