import type { Results } from "../results.js";
import { summaryTable } from "./summary-table.js";

const BEGIN = "<!-- measured -->";
const END = "<!-- /measured -->";

/** Rows that speak to somebody who reads about the project for the first time. */
const SHOWN = [
  "http-stateless",
  "http-session",
  "stdio-2025",
  "stdio-2026",
  "http-client",
  "http-client-node",
  "in-memory",
  "tools-growth",
  "tools-list",
  "first-answer",
  "first-answer-node24",
  "first-answer-zod",
  "first-answer-zod-node24",
  "import",
  "import-node24",
  "session-heap",
  "stream-heap",
  "bundle",
  "bundle-initial",
  "bundle-zod",
  "bundle-zod-initial",
];

/** The README with its table of figures renewed; unchanged where it has no place for one. */
export function withMeasuredTable(readme: string, { rows, machine, date }: Results): string {
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END);
  if (from < 0 || to < from) return readme;
  const note = `Node ${machine.node}, ${machine.cores} cores, ${date.slice(0, 10)}; [how it is measured](docs/performance.md).`;
  const table = summaryTable(rows.filter(({ id }) => SHOWN.includes(id)));
  return `${readme.slice(0, from)}${BEGIN}\n${table}\n\n${note}\n${readme.slice(to)}`;
}
