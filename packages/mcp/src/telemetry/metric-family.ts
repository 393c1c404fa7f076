import type { MetricsFormat } from "../http/metrics-source.js";

/** One value with its labels. */
interface Series {
  readonly labels: string;
  value: number;
  /** Of a histogram: how many values each bucket holds, not added up. */
  readonly buckets: number[] | undefined;
  count: number;
}

/** The bounds of the buckets of durations, in seconds. */
const BOUNDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Series of one metric, so that no program fills its memory with labels. Later combinations of labels are not counted. */
const MOST_SERIES = 10_000;

/** One metric: a counter or a histogram of durations, with a value for each combination of its labels. */
export class MetricFamily {
  readonly name: string;
  readonly #help: string;
  readonly #type: "counter" | "gauge" | "histogram";
  readonly #labels: readonly string[];
  readonly #series = new Map<string, Series>();

  constructor(type: "counter" | "gauge" | "histogram", name: string, help: string, labels: readonly string[] = []) {
    this.name = name;
    this.#type = type;
    this.#help = help;
    this.#labels = labels;
    // What has no labels is shown from the start.
    if (labels.length === 0) this.#find([]);
  }

  /** Adds to a counter or a gauge. */
  add(values: readonly string[], by = 1): void {
    const series = this.#find(values);
    if (series !== undefined) series.value += by;
  }

  /** Adds a duration to a histogram. */
  observe(values: readonly string[], seconds: number): void {
    const series = this.#find(values);
    if (series?.buckets === undefined) return;
    series.value += seconds;
    series.count++;
    const at = BOUNDS.findIndex((bound) => seconds <= bound);
    if (at >= 0) series.buckets[at] = (series.buckets[at] ?? 0) + 1;
  }

  /** The lines of this metric. */
  lines(format: MetricsFormat): string[] {
    const isBare = format === "openmetrics" && this.#type === "counter";
    const name = isBare ? this.name.replace(/_total$/, "") : this.name;
    const lines = [`# HELP ${name} ${escaped(this.#help)}`, `# TYPE ${name} ${this.#type}`];
    for (const series of this.#series.values()) {
      if (series.buckets === undefined) lines.push(line(this.name, series.labels, series.value));
      else lines.push(...histogramLines(this.name, series, series.buckets));
    }
    return lines;
  }

  #find(values: readonly string[]): Series | undefined {
    // No label of the library has this character.
    const key = values.join("\u0000");
    const known = this.#series.get(key);
    if (known !== undefined || this.#series.size >= MOST_SERIES) return known;
    const labels = this.#labels.map((label, at) => `${label}="${escaped(values[at] ?? "", true)}"`).join(",");
    const buckets = this.#type === "histogram" ? BOUNDS.map(() => 0) : undefined;
    const series = { labels, value: 0, buckets, count: 0 };
    this.#series.set(key, series);
    return series;
  }
}

function histogramLines(name: string, { labels, value, count }: Series, buckets: readonly number[]): string[] {
  const lines: string[] = [];
  const before = labels === "" ? "" : `${labels},`;
  let sum = 0;
  for (const [at, bound] of BOUNDS.entries()) {
    sum += buckets[at] ?? 0;
    lines.push(line(`${name}_bucket`, `${before}le="${bound}"`, sum));
  }
  lines.push(line(`${name}_bucket`, `${before}le="+Inf"`, count));
  lines.push(line(`${name}_sum`, labels, value), line(`${name}_count`, labels, count));
  return lines;
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${value}`;
}

function escaped(text: string, isLabel = false): string {
  const plain = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return isLabel ? plain.replaceAll('"', '\\"') : plain;
}
