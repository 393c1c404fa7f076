import type { Suite } from "./contender.js";
import type { Budget, Row } from "./rows/row.js";
import type { SuiteResult } from "./run-suite.js";

/** One contender in one row. */
export interface Measured {
  readonly id: string;
  readonly title: string;
  /** The median of all rounds; absent when the contender failed. */
  readonly median?: number;
  readonly least?: number;
  readonly most?: number;
  /** The median of the rounds' own ratios to the baseline; steadier than a ratio of medians, because a round's noise is in both. */
  readonly ratio?: number;
  /** How long answers took, where the suite looks at each of them: medians of the rounds, in microseconds. */
  readonly latencyMicros?: { readonly p50: number; readonly p95: number; readonly p99: number };
  readonly failure?: string;
}

/** A budget and what became of it. */
export interface Verdict extends Budget {
  readonly reached?: number;
  readonly met: boolean;
}

/** One row with its figures. */
export interface RowResult extends Omit<Row, "budgets"> {
  readonly rounds: number;
  /** Load of the machine when this row's suite began; a quiet one has less than 1. */
  readonly load: number;
  readonly date: string;
  readonly contenders: readonly Measured[];
  readonly budgets: readonly Verdict[];
}

/** The machine and the programs that gave the figures. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
}

/** The whole result file. */
export interface Results {
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** Load over one minute when the run began. */
  readonly loadAtStart: number;
  readonly date: string;
  readonly rows: readonly RowResult[];
}

/** Turns the figures of a suite into a row. */
export function summarise(row: Row, suite: Suite, result: SuiteResult, date: string): RowResult {
  const contenders = suite.contenders.map((contender) => {
    const { id, title } = contender;
    const failure = result.failures.get(id);
    if (failure !== undefined) return { id, title, failure };
    const values = figuresOf(row, result, id);
    if (values.length === 0) return { id, title, failure: "this machine does not tell" };
    const ratio = ratioTo(figuresOf(row, result, row.baseline), values);
    return { id, title, ...spread(values), ...ratio, ...latencyOf(result, id) };
  });
  const { budgets, ...rest } = row;
  return {
    ...rest,
    rounds: Math.max(...[...result.samples.values()].map((samples) => samples.length)),
    load: round(result.load),
    date,
    contenders,
    budgets: budgets.map((budget) => judge(budget, row, contenders)),
  };
}

function latencyOf(result: SuiteResult, id: string): Pick<Measured, "latencyMicros"> {
  const at = (name: string) => (result.samples.get(id) ?? []).flatMap((figures) => figures[name] ?? []);
  const [p50, p95, p99] = [at("p50Micros"), at("p95Micros"), at("p99Micros")];
  if (p50.length === 0 || p95.length === 0 || p99.length === 0) return {};
  return { latencyMicros: { p50: round(median(p50)), p95: round(median(p95)), p99: round(median(p99)) } };
}

function figuresOf(row: Row, result: SuiteResult, id: string | undefined): number[] {
  const samples = id === undefined ? [] : (result.samples.get(id) ?? []);
  return samples.flatMap((figures) => figures[row.figure] ?? []);
}

function spread(values: readonly number[]) {
  return { median: round(median(values)), least: round(Math.min(...values)), most: round(Math.max(...values)) };
}

function ratioTo(baseline: readonly number[], values: readonly number[]): { ratio?: number } {
  const ratios = values.flatMap((value, at) => {
    const other = baseline[at];
    return other === undefined || other === 0 ? [] : value / other;
  });
  return ratios.length === 0 ? {} : { ratio: round(median(ratios)) };
}

function judge(budget: Budget, row: Row, contenders: readonly Measured[]): Verdict {
  const one = contenders.find(({ id }) => id === budget.contender);
  const base = contenders.find(({ id }) => id === row.baseline);
  const reached = reachedBy(budget.as, one, base);
  if (reached === undefined) return { ...budget, met: false };
  const met = reached >= (budget.atLeast ?? -Infinity) && reached <= (budget.atMost ?? Infinity);
  return { ...budget, reached, met };
}

function reachedBy(as: Budget["as"], one: Measured | undefined, base: Measured | undefined): number | undefined {
  if (as === "ratio") return one?.ratio;
  if (one?.median === undefined || as === "value") return one?.median;
  return base?.median === undefined ? undefined : round(one.median - base.median);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Four significant digits: more would only be noise in the result file. */
export function round(value: number): number {
  return Number(value.toPrecision(4));
}
