/** What a contender must reach. Exactly one of the two limits is given. */
export interface Budget {
  readonly contender: string;
  /** What is compared: the figure itself, its ratio to the baseline's, or what it adds to the baseline's. */
  readonly as: "value" | "ratio" | "difference";
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** One row of the table: a figure of a suite, and what it should be. */
export interface Row {
  readonly id: string;
  readonly title: string;
  readonly suite: string;
  /** The name under which the suite gives it. */
  readonly figure: string;
  readonly unit: string;
  readonly better: "more" | "less";
  /** The contender to which the others are compared. */
  readonly baseline?: string;
  /** How the others are shown beside their figure. */
  readonly shown: "ratio" | "difference" | "value";
  readonly kind: "speed" | "memory" | "size";
  readonly budgets: readonly Budget[];
}

const ratio = (limit: Pick<Budget, "atLeast" | "atMost">, contender = "parley"): Budget => ({
  contender,
  as: "ratio",
  ...limit,
});
const value = (limit: Pick<Budget, "atLeast" | "atMost">): Budget => ({ contender: "parley", as: "value", ...limit });
const over = (atMost: number): Budget => ({ contender: "parley", as: "difference", atMost });

const rate = { figure: "perSecond", better: "more", kind: "speed" } as const;
const cpu = { figure: "cpuMicros", unit: "µs", better: "less", kind: "speed", budgets: [] } as const;
const toPlain = { baseline: "plain", shown: "ratio" } as const;

/** What a start costs over a bare program that imports the same schema library, or none. */
const started = (suite: string, title: string, atMost?: number): Row => ({
  id: suite,
  title,
  suite,
  figure: "millis",
  unit: "ms",
  better: "less",
  kind: "speed",
  baseline: "plain",
  shown: "difference",
  budgets: atMost === undefined ? [] : [over(atMost)],
});

const bundled = (
  suite: string,
  title: string,
  figure: "gzipKilobytes" | "initialGzipKilobytes",
  atMost?: number,
): Row => ({
  id: figure === "gzipKilobytes" ? suite : `${suite}-initial`,
  title,
  suite,
  figure,
  unit: "KB",
  better: "less",
  kind: "size",
  shown: "value",
  budgets: atMost === undefined ? [] : [value({ atMost })],
});

const component = (name: string, title: string, unit: string, atLeast: number): Row => ({
  id: `component-${name}`,
  title,
  suite: `component-${name}`,
  unit,
  ...rate,
  shown: "value",
  budgets: [value({ atLeast })],
});

/** Every row, in the order of the table. */
export const ROWS: readonly Row[] = [
  {
    id: "http-stateless",
    title: "HTTP `tools/call`, stateless",
    suite: "http-stateless",
    unit: "requests/s",
    ...rate,
    ...toPlain,
    budgets: [ratio({ atLeast: 1.25 })],
  },
  {
    id: "http-stateless-p99",
    title: "HTTP `tools/call`, stateless, p99 with 32 connections",
    suite: "http-stateless",
    figure: "p99Micros",
    unit: "µs",
    better: "less",
    kind: "speed",
    ...toPlain,
    budgets: [ratio({ atMost: 3 })],
  },
  {
    id: "http-stateless-cpu",
    title: "HTTP `tools/call`, stateless, processor time of the server",
    suite: "http-stateless",
    ...cpu,
    ...toPlain,
  },
  {
    id: "http-session",
    title: "HTTP `tools/call`, 2025 session",
    suite: "http-session",
    unit: "requests/s",
    ...rate,
    ...toPlain,
    budgets: [ratio({ atLeast: 1.1 })],
  },
  {
    id: "http-session-cpu",
    title: "HTTP `tools/call`, 2025 session, processor time of the server",
    suite: "http-session",
    ...cpu,
    ...toPlain,
  },
  {
    id: "stdio-2025",
    title: "stdio `tools/call`, 64 in flight, 2025 messages",
    suite: "stdio-2025",
    unit: "calls/s",
    ...rate,
    ...toPlain,
    budgets: [ratio({ atLeast: 0.75 })],
  },
  {
    id: "stdio-2025-cpu",
    title: "stdio `tools/call`, 2025 messages, processor time of the server",
    suite: "stdio-2025",
    ...cpu,
    ...toPlain,
  },
  {
    id: "stdio-2026",
    title: "stdio `tools/call`, 64 in flight, 2026 messages",
    suite: "stdio-2026",
    unit: "calls/s",
    ...rate,
    ...toPlain,
    budgets: [ratio({ atLeast: 0.6 })],
  },
  {
    id: "stdio-2026-cpu",
    title: "stdio `tools/call`, 2026 messages, processor time of the server",
    suite: "stdio-2026",
    ...cpu,
    ...toPlain,
  },
  {
    id: "http-client",
    title: "HTTP client by `fetch`, 16 in flight, beside plain `fetch`",
    suite: "http-client",
    unit: "calls/s",
    ...rate,
    ...toPlain,
    budgets: [ratio({ atLeast: 0.9 }, "parley-fetch")],
  },
  {
    id: "http-client-node",
    title: "HTTP client on Node, 16 in flight, beside `node:http` kept alive",
    suite: "http-client",
    unit: "calls/s",
    ...rate,
    baseline: "tuned",
    shown: "ratio",
    budgets: [ratio({ atLeast: 0.7 })],
  },
  {
    id: "http-client-cpu",
    title: "HTTP client, processor time of the client",
    suite: "http-client",
    ...cpu,
    ...toPlain,
  },
  {
    id: "in-memory",
    title: "in-memory round trip, client and server",
    suite: "in-memory",
    figure: "micros",
    unit: "µs",
    better: "less",
    kind: "speed",
    ...toPlain,
    budgets: [value({ atMost: 9 })],
  },
  {
    id: "tools-growth",
    title: "cost of a call as tools grow",
    suite: "tools-growth",
    figure: "micros",
    unit: "µs",
    better: "less",
    kind: "speed",
    ...toPlain,
    budgets: [ratio({ atMost: 1.1 })],
  },
  {
    id: "tools-list",
    title: "`tools/list` of 50 tools",
    suite: "tools-list",
    figure: "micros",
    unit: "µs",
    better: "less",
    kind: "speed",
    shown: "value",
    budgets: [value({ atMost: 30 })],
  },
  started("first-answer", "stdio: from spawn to the first answer, no schema library", 30),
  started("first-answer-node24", "stdio: from spawn to the first answer, no schema library, Node 24", 30),
  started("first-answer-zod", "stdio: from spawn to the first answer, zod on all sides", 30),
  started("first-answer-zod-node24", "stdio: from spawn to the first answer, zod on all sides, Node 24", 30),
  started("import", "import in a fresh process", 11),
  started("import-node24", "import in a fresh process, Node 24", 11),
  { ...started("import", "import in a fresh process, processor time"), id: "import-cpu", figure: "cpuMillis" },
  {
    ...started("import-node24", "import in a fresh process, processor time, Node 24"),
    id: "import-node24-cpu",
    figure: "cpuMillis",
  },
  {
    id: "stdio-memory",
    title: "stdio: peak memory (RSS) under load",
    suite: "stdio-2025",
    figure: "peakMegabytes",
    unit: "MB",
    better: "less",
    kind: "memory",
    baseline: "plain",
    shown: "difference",
    budgets: [over(30)],
  },
  {
    id: "session-heap",
    title: "idle stateful session, heap",
    suite: "session-heap",
    figure: "kilobytes",
    unit: "KB",
    better: "less",
    kind: "memory",
    shown: "value",
    budgets: [value({ atMost: 10 })],
  },
  {
    id: "stream-heap",
    title: "open listen stream, heap",
    suite: "stream-heap",
    figure: "kilobytes",
    unit: "KB",
    better: "less",
    kind: "memory",
    shown: "value",
    budgets: [value({ atMost: 12 })],
  },
  bundled("bundle", "bundle of a server with one tool and HTTP, JSON Schema, gzip, in total", "gzipKilobytes", 75),
  bundled(
    "bundle",
    "bundle of a server with one tool and HTTP, JSON Schema, gzip, at start",
    "initialGzipKilobytes",
    55,
  ),
  bundled("bundle-zod", "bundle of a server with one tool and HTTP, zod on all sides, gzip, in total", "gzipKilobytes"),
  bundled(
    "bundle-zod",
    "bundle of a server with one tool and HTTP, zod on all sides, gzip, at start",
    "initialGzipKilobytes",
  ),
  {
    id: "component-parse",
    title: "frame, parse and classify messages",
    suite: "component-parse",
    unit: "messages/s",
    ...rate,
    ...toPlain,
    budgets: [value({ atLeast: 1_000_000 })],
  },
  component("validate", "validate arguments, half of them wrong", "checks/s", 500_000),
  component("tracking", "track requests from sending to settling", "requests/s", 553_000),
  component("read", "read one of 10,000 resources", "reads/s", 242_000),
  component("notify", "tell subscribers that a resource changed", "deliveries/s", 100_000),
];
