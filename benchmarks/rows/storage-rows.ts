import { type Row, rate, ratio } from "./row.js";

const beside = (suite: string, title: string, baseline: string, atLeast: number): Row => ({
  id: suite,
  title,
  suite,
  unit: "requests/s",
  ...rate,
  baseline,
  shown: "ratio",
  budgets: [ratio({ atLeast })],
});

/** What state outside the process costs, and what several processes on one port bring. */
export const STORAGE_ROWS: readonly Row[] = [
  beside("storage-sqlite", "HTTP `tools/call`, 2025 session on SQLite, beside memory, Node 24", "memory", 0.6),
  beside(
    "storage-redis",
    "HTTP `tools/call`, 2025 session on Redis, which shares the cores, beside memory",
    "memory",
    0.4,
  ),
  beside("storage-stateless", "HTTP `tools/call`, stateless, with a storage set, beside none", "memory", 0.95),
  beside("storage-cores", "HTTP `tools/call`, stateless, two processes on two cores, beside one", "single", 1.3),
  {
    id: "storage-cores-load",
    title: "the same, cores that the load generator took of the two",
    suite: "storage-cores",
    figure: "loadCores",
    unit: "cores",
    better: "less",
    kind: "speed",
    shown: "value",
    budgets: [],
  },
  beside(
    "storage-cores-session",
    "HTTP `tools/call`, 2025 session on SQLite, two processes on two cores, beside one, Node 24",
    "single",
    1.3,
  ),
];
