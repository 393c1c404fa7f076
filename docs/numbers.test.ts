import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { regressions } from "../benchmarks/check.js";
import { PEERS, ROOT } from "../benchmarks/child.js";
import type { Program } from "../benchmarks/contender.js";
import { generatedFiles } from "../benchmarks/report/files.js";
import { type RowResult, summarise } from "../benchmarks/results.js";
import type { Row } from "../benchmarks/rows/row.js";
import { ROWS } from "../benchmarks/rows/rows.js";
import { SUITES } from "../benchmarks/suites/suites.js";

describe("the figures in the documents", () => {
  it("are those of the result files; `npm run bench:report` renews them", () => {
    const files = generatedFiles();
    expect(files.length).toBeGreaterThan(0);
    for (const { path, found, wanted } of files) expect(found, path).toBe(wanted);
  });
});

describe("the rows of the benchmark", () => {
  it("compare bundles that contain the same schema library, imported in the same way", () => {
    for (const [suite, imports] of [
      ["bundle", []],
      ["bundle-zod", ['import { z } from "zod";']],
    ] as const) {
      const contenders = SUITES.find(({ id }) => id === suite)?.contenders ?? [];
      expect(contenders.map(({ id }) => id)).toEqual(expect.arrayContaining(["parley", "official-v2"]));
      for (const { program } of contenders) expect(schemaImports(program), program.file).toEqual(imports);
    }
  });

  it("each name a suite, and contenders of that suite for baseline and budgets", () => {
    for (const row of ROWS) {
      const ids = SUITES.find(({ id }) => id === row.suite)?.contenders.map(({ id }) => id);
      for (const id of [row.baseline ?? "parley", ...row.budgets.map(({ contender }) => contender)]) {
        expect(ids, `${row.id}: ${id}`).toContain(id);
      }
    }
  });
});

/** How a program, and what it imports of its own folder, imports a schema library. */
function schemaImports({ owner, file }: Program): string[] {
  const folder = owner === "here" ? join(ROOT, "benchmarks/programs") : join(PEERS, "programs");
  const text = readFileSync(join(folder, file), "utf8");
  const own = [...text.matchAll(/ from "\.\/([^"]+)\.js";/g)].map(([, name]) => ({ owner, file: `${name}.ts` }));
  return [...(text.match(/^import .* from "zod.*$/gm) ?? []), ...own.flatMap(schemaImports)];
}

const rateRow = ROWS.find(({ id }) => id === "http-stateless");
const heapRow = ROWS.find(({ id }) => id === "session-heap");

/** A row in which ours has these figures, and the bare program 100 in each round. */
function rowOf(row: Row | undefined, figures: readonly number[]): RowResult {
  const suite = SUITES.find(({ id }) => id === row?.suite);
  if (row === undefined || suite === undefined) throw new Error("no such row");
  const samples = new Map([
    ["plain", figures.map(() => ({ [row.figure]: 100 }))],
    ["parley", figures.map((value) => ({ [row.figure]: value }))],
  ]);
  return summarise(row, suite, { suite: suite.id, load: 0, samples, failures: new Map() }, "2026-01-01");
}

describe("the gate against regressions", () => {
  it("lets a throughput fall by 10 % of its ratio, and no further", () => {
    const before = rowOf(rateRow, [130, 131, 129]);
    expect(regressions([rowOf(rateRow, [118, 118, 118])], [before])).toEqual([]);
    expect(regressions([rowOf(rateRow, [116, 116, 116])], [before])).toEqual([expect.stringContaining("11 % worse")]);
  });

  it("lets memory grow by 20 %, and no further", () => {
    const before = rowOf(heapRow, [2]);
    expect(regressions([rowOf(heapRow, [2.3])], [before])).toEqual([]);
    expect(regressions([rowOf(heapRow, [2.5])], [before])).toHaveLength(1);
  });

  it("takes a contender that no longer gives figures for a regression", () => {
    expect(regressions([rowOf(rateRow, [])], [rowOf(rateRow, [130])])).toHaveLength(1);
  });
});

describe("a budget", () => {
  it("is judged by the median of the rounds' own ratios", () => {
    expect(rowOf(rateRow, [90, 130, 131]).budgets).toMatchObject([{ reached: 1.3, met: true }]);
    expect(rowOf(rateRow, [90, 120, 131]).budgets).toMatchObject([{ reached: 1.2, met: false }]);
  });
});
