/** One metric of a text for Prometheus. */
export interface ReadFamily {
  readonly type: string;
  readonly samples: { readonly name: string; readonly labels: Record<string, string>; readonly value: number }[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?|\\+Inf|NaN)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ["_bucket", "_sum", "_count"],
  counter: [""],
  gauge: [""],
};

/** Reads the format 0.0.4, or OpenMetrics 1.0, and throws for whatever breaks its rules. */
export function readMetrics(
  text: string,
  format: "prometheus" | "openmetrics" = "prometheus",
): Map<string, ReadFamily> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const lines = text.slice(0, -1).split("\n");
  if ((lines.at(-1) === "# EOF") !== (format === "openmetrics")) throw new Error("`# EOF` at the wrong place");
  const families = new Map<string, ReadFamily>();
  const seen = new Set<string>();
  let current = "";
  let helped = "";
  for (const line of format === "openmetrics" ? lines.slice(0, -1) : lines) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "HELP") helped = name;
    else if (kind === "TYPE") {
      if (helped !== name || families.has(name)) throw new Error(`metadata out of order: ${line}`);
      if (SUFFIXES[rest] === undefined) throw new Error(`unknown type: ${line}`);
      families.set(name, { type: rest, samples: [] });
      current = name;
    } else readSample(line, families.get(current), current, format, seen);
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

function readSample(
  line: string,
  family: ReadFamily | undefined,
  of: string,
  format: "prometheus" | "openmetrics",
  seen: Set<string>,
): void {
  const [, name = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
  if (family === undefined || name === "") throw new Error(`not a sample: ${line}`);
  const suffixes = format === "openmetrics" && family.type === "counter" ? ["_total"] : (SUFFIXES[family.type] ?? []);
  if (!suffixes.some((suffix) => name === of + suffix)) throw new Error(`${name} is not of ${of}`);
  const key = `${name}{${labels}}`;
  if (seen.has(key)) throw new Error(`twice: ${key}`);
  seen.add(key);
  family.samples.push({ name, labels: readLabels(labels), value: value === "+Inf" ? Infinity : Number(value) });
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = "", value = ""] = LABEL.exec(text) ?? [];
    if (name === "" || name in labels) throw new Error(`bad labels: ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_all, escaped: string) => (escaped === "n" ? "\n" : escaped));
  }
  return labels;
}

/** Buckets grow, and the last is the count. */
function checkHistogram(name: string, { samples }: ReadFamily): void {
  const groups = new Map<string, number[]>();
  for (const sample of samples) {
    const { le: _bound, ...rest } = sample.labels;
    const key = JSON.stringify(rest);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    if (sample.name !== `${name}_sum`) group.push(sample.value);
  }
  for (const values of groups.values()) {
    const grows = values.every((value, at) => value >= (values[at - 1] ?? 0));
    if (!grows || values.at(-1) !== values.at(-2)) throw new Error(`the buckets of ${name} are wrong: ${values}`);
  }
}
