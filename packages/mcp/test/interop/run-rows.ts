import { describe, it } from "vitest";
import { expectedOf, FEATURES, type Feature, type Row, titleOf } from "./matrix.js";

/** What came of each feature of a row; undefined means that it works. */
export type Outcomes = Partial<Record<Feature, unknown>>;

/** How many rows run at once: each is mostly one peer's process, and two cores bear few of them. */
const AT_ONCE = 3;

/**
 * Declares one test per cell that must work. Rows run side by side whatever the order of the tests; a cell's test waits for
 * its own row.
 */
export function testRows(rows: readonly Row[], run: (row: Row) => Promise<Outcomes>): void {
  const running = schedule(rows, run);
  for (const row of rows) {
    describe(titleOf(row), () => {
      for (const feature of expectedOf(row)) {
        it(`${feature} works`, { timeout: 120_000 }, async () => {
          const outcomes = await running().get(row);
          const trouble = outcomes?.[feature];
          if (trouble !== undefined) throw trouble;
        });
      }
    });
  }
}

function schedule(rows: readonly Row[], run: (row: Row) => Promise<Outcomes>): () => Map<Row, Promise<Outcomes>> {
  let started: Map<Row, Promise<Outcomes>> | undefined;
  return () => {
    if (started !== undefined) return started;
    const lanes: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve());
    started = new Map();
    for (const [index, row] of rows.entries()) {
      const lane = index % AT_ONCE;
      const outcome = (lanes[lane] ?? Promise.resolve()).then(() => run(row)).catch(failedRow);
      lanes[lane] = outcome;
      started.set(row, outcome);
    }
    return started;
  };
}

function failedRow(error: unknown): Outcomes {
  return Object.fromEntries(FEATURES.map((feature) => [feature, error]));
}
