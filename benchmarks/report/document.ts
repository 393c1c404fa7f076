import type { Results, RowResult } from "../results.js";
import { budgetText, comparedText, figureText } from "../rows/row-text.js";
import { kept } from "./sides.js";
import { summaryTable } from "./summary-table.js";
import { type TypesResults, typesSection } from "./types-section.js";

/** Above this many waiting programs per core the figures of a row say more about the machine than about the programs. */
const BUSY = 1;

/** `docs/performance.md`, made from the result files and nothing else. */
export function performanceDocument(results: Results, types: TypesResults | undefined): string {
  const parts = [
    "# Performance",
    "Made by `npm run bench:report` from [`benchmarks/results/benchmarks.json`](../benchmarks/results/benchmarks.json); a test fails when the two differ.",
    machineText(results),
    ...busyText(results),
    "![Throughput beside a plain bare program](performance.svg)",
    "## Summary",
    LEGEND,
    summaryTable(results.rows),
    "## Budgets that are not kept",
    missedText(results.rows),
    "## How it is measured",
    METHOD,
    "## What bounds the components",
    BOUNDS,
    "## How to run it",
    USAGE,
    "## Every figure",
    "Medians, with the least and the greatest round in parentheses.",
    ...results.rows.map((row) => detail(row, results.machine.cores)),
    ...(types === undefined ? [] : [typesSection(types)]),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** The work that remains in each component. */
const BOUNDS = [
  "| component | bound by |",
  "|---|---|",
  "| `component-parse` | `JSON.parse`, and beyond 1 KiB the walk that counts values and depth |",
  "| `component-validate` | the interpreter of JSON Schema: it grows with the properties, because no code is generated |",
  "| `component-tracking` | one promise and one entry of a `Map` for each request; with 100,000 outstanding, cache misses |",
  "| `component-read` | the call of the handler by URI; by template, the match of the URI against each template |",
  "| `component-notify` | one text for each change, then the walk over its subscribers |",
].join("\n");

function machineText({ machine, date, loadAtStart, versions }: Results): string {
  const { node, platform, cpu, cores, memoryGb } = machine;
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `The newest row was measured ${date.slice(0, 10)}; each names its own date below. Node ${node} on ${platform}, ${cores} × ${cpu}, ${memoryGb} GB; load when the run began: ${figureText(loadAtStart)}.`,
    `Versions: ${packages.join(", ")}.`,
  ].join("\n");
}

function busyText({ rows, machine }: Results): string[] {
  const busy = rows.filter(({ load }) => load > BUSY * machine.cores);
  if (busy.length === 0) return [];
  const most = Math.max(...busy.map(({ load }) => load));
  const names = busy.map(({ id }) => `\`${id}\``).join(", ");
  return [
    `**The machine was busy with other work** (load up to ${figureText(most)}) while these rows were measured: ${names}. Their wall-clock figures say little; ratios and processor time hold better.`,
  ];
}

const LEGEND = [
  "`×` is the ratio to the bare program of the same row, measured in the same rounds; `+` is what is added to it. Where a row has no bare",
  "program, figures stand alone. “Official SDK” is its second line where that takes part, else its first.",
].join("\n");

const METHOD = `- All contenders of a row are measured in one run, in turn, round after round; each round begins with another one. A ratio is the
  median of the rounds' own ratios. Each contender is a process of its own.
- The tool adds two numbers. Ours has a plain JSON Schema, with every check on headers, host, origin, version and arguments that a
  server makes by default; the peers have the same schema by zod, which is what their documentation uses.
- The **plain bare program** is \`node:http\` or a pipe, one \`JSON.parse\`, the sum and one \`JSON.stringify\`. The **tuned** one writes its
  answer by concatenation and sends the answers of one turn of the event loop together. Neither checks anything.
- HTTP: \`wrk -t1 -c32\`. Each request has its own id; sessions are opened before, one for each connection.
- stdio: 64 calls are in flight all the time; answers are counted by their newlines, and as many new calls go out in one write.
- Event streams: the tool reports progress once before it answers. One after the other: 1,000 calls, each sent when the one before is
  answered. Subscribers over HTTP: each has a socket that is read to its end, and every change must reach all of them.
- Over 30 s: six stretches of 5 s; the decline is that of the line that fits them best, the heap is compared after garbage collection.
  Overload: the most memory with 64 and with 320 connections, beside the most with 32.
- Processor time is what the system booked for the server's process, per answer. It moves less than throughput on a busy machine.
- Memory: heap after garbage collection, before and after many sessions (10,000) or streams (2,000, their sockets included).
- Before a contender is measured, one of its answers is read: figures of refusals would be worthless. A round with failed requests
  counts as a failure of the contender.
- A start is measured by the Node that runs everything else, and where the row says so by Node 24 as well. Where all programs import zod,
  the bare one does too: its cost is nobody's achievement. Bundles are compared with zod on all sides and without it; “in total” is
  one file, “at start” is what a bundler that splits makes load before the first line runs. 1 KB is 1,000 bytes.
- Peers that know no 2026 messages are given 2025 ones, which are shorter; their names say so.`;

const USAGE = `\`\`\`sh
npm ci && npm run build
npm run bench                            # everything, about 25 minutes; writes the result file
npm run bench -- stdio in-memory         # only rows whose id or suite contains one of the words
npm run bench -- --rounds 15 http        # more rounds
npm run bench -- --quick                 # shows that everything works; figures mean nothing
npm run bench -- --check                 # fails when a ratio is 10 % worse than the committed one, or memory 20 %
npm run bench:report                     # renews this page, the chart and the figures in the README
\`\`\``;

function missedText(rows: readonly RowResult[]): string {
  const missed = rows.flatMap((row) =>
    row.budgets
      .filter(({ met }) => !met)
      .map((budget) => {
        const reached = budget.reached === undefined ? "no figure" : reachedText(row, budget.as, budget.reached);
        return `- ${row.title}: ${reached} instead of ${budgetText(row, budget)}`;
      }),
  );
  return missed.length === 0 ? "None." : missed.join("\n");
}

function reachedText(row: RowResult, as: string, reached: number): string {
  if (as === "ratio") return `${reached.toFixed(2)} ×`;
  return `${as === "difference" && reached >= 0 ? "+" : ""}${figureText(reached)} ${row.unit}`;
}

function detail(row: RowResult, cores: number): string {
  const lines = row.contenders.map((one) => {
    if (one.median === undefined) return `| ${one.title} | – | ${one.failure ?? ""} |`;
    const range = row.rounds > 1 ? ` (${figureText(one.least ?? 0)} … ${figureText(one.most ?? 0)})` : "";
    return `| ${one.title} | ${figureText(one.median)}${range} | ${comparedText(row, one) || "–"} |`;
  });
  const all = kept(row);
  const budget = row.budgets.map((one) => budgetText(row, one)).join(" and ");
  const promise = all === undefined ? "" : ` Budget ${budget}: ${all ? "kept" : "**not kept**"}.`;
  const load = row.load > BUSY * cores ? ` The machine was busy (load ${figureText(row.load)}).` : "";
  return [
    `### ${row.title}`,
    `\`${row.id}\`, ${row.rounds} ${row.rounds === 1 ? "round" : "rounds"}, measured ${row.date.slice(0, 10)}.${promise}${load}`,
    [`| | ${row.unit} | ${row.shown === "difference" ? "added" : "ratio"} |`, "|---|---|---|", ...lines].join("\n"),
  ].join("\n\n");
}
