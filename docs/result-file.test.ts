import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { ROOT } from "../benchmarks/child.js";
import { summarise } from "../benchmarks/results.js";
import { ROWS } from "../benchmarks/rows/rows.js";
import { SUITES } from "../benchmarks/suites/suites.js";

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, "benchmarks/results", name), "utf8"));
const schema = read("benchmarks.schema.json");

function faults(results: unknown): unknown {
  const ajv = new Ajv2020({ allErrors: true });
  return ajv.validate(schema, results) ? [] : ajv.errors;
}

describe("the result file of the benchmarks", () => {
  it("is what its schema says", () => {
    expect(faults(read("benchmarks.json"))).toEqual([]);
  });

  it("is refused with a row that says nothing, or too much", () => {
    const results = read("benchmarks.json");
    const [row] = results.rows;
    for (const bad of [{}, { ...row, contenders: [{ id: "parley", title: "Parley" }] }, { ...row, note: "fast" }])
      expect(faults({ ...results, rows: [bad] })).not.toEqual([]);
  });

  it("holds p50, p95 and p99 where the answers were looked at one by one", () => {
    const row = ROWS.find(({ id }) => id === "stdio-sequential");
    const suite = SUITES.find(({ id }) => id === "stdio-sequential");
    if (row === undefined || suite === undefined) throw new Error("no such row");
    const figures = { p50Micros: 10, p95Micros: 20, p99Micros: 30 };
    const samples = new Map(suite.contenders.map(({ id }) => [id, [figures, figures]]));
    const measured = { suite: suite.id, load: 0, samples, failures: new Map() };
    const result = summarise(row, suite, measured, "2026-01-01T00:00:00Z");
    for (const { latencyMicros } of result.contenders) expect(latencyMicros).toEqual({ p50: 10, p95: 20, p99: 30 });
    expect(faults({ ...read("benchmarks.json"), rows: [result] })).toEqual([]);
  });

  it("has a figure for every contender of every row", () => {
    const measured = new Map<string, { id: string }[]>(
      read("benchmarks.json").rows.map((row: { id: string; contenders: [] }) => [row.id, row.contenders]),
    );
    const missing = ROWS.flatMap(({ id, suite }) => {
      const contenders = SUITES.find((one) => one.id === suite)?.contenders ?? [];
      const figures = measured.get(id)?.map((contender) => contender.id) ?? [];
      return contenders.filter((contender) => !figures.includes(contender.id)).map((one) => `${id}: ${one.id}`);
    });
    expect(missing).toEqual([]);
  });

  it("has a row, with a suite, for what is promised of long and heavy use", () => {
    const rows = [
      "component-tracking",
      "http-events",
      "stdio-sequential",
      "notify-sockets",
      "sustained-decline",
      "sustained-heap",
      "overload-2",
      "overload-10",
    ];
    expect(ROWS.map(({ id }) => id)).toEqual(expect.arrayContaining(rows));
    const tracking = SUITES.find(({ id }) => id === "component-tracking");
    expect(tracking?.contenders.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["parley-armed", "parley-armed-100000"]),
    );
  });
});
