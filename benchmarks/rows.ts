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

/** Every row, in the order of the table. */
export const ROWS: readonly Row[] = [
  {
    id: "http-stateless",
    title: "HTTP `tools/call`, stateless",
    suite: "http-stateless",
    unit: "requests/s",
    ...rate,
    ...toPlain,
    budgets: [ratio({ atLeast: 1.1 })],
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
    budgets: [ratio({ atLeast: 1 })],
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
    budgets: [ratio({ atLeast: 0.65 })],
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
    budgets: [ratio({ atLeast: 0.45 })],
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
    title: "HTTP client, 16 in flight, against one bare server",
    suite: "http-client",
    unit: "calls/s",
    ...rate,
    ...toPlain,
    budgets: [ratio({ atLeast: 0.9 }, "parley-fetch"), ratio({ atLeast: 2.5 })],
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
    budgets: [value({ atMost: 10 })],
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
  {
    id: "first-answer",
    title: "stdio: from spawn to the first answer",
    suite: "first-answer",
    figure: "millis",
    unit: "ms",
    better: "less",
    kind: "speed",
    baseline: "plain",
    shown: "difference",
    budgets: [over(40)],
  },
  {
    id: "import",
    title: "import in a fresh process",
    suite: "import",
    figure: "millis",
    unit: "ms",
    better: "less",
    kind: "speed",
    baseline: "plain",
    shown: "difference",
    budgets: [over(10)],
  },
  {
    id: "import-cpu",
    title: "import in a fresh process, processor time",
    suite: "import",
    figure: "cpuMillis",
    unit: "ms",
    better: "less",
    kind: "speed",
    baseline: "plain",
    shown: "difference",
    budgets: [],
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
  {
    id: "bundle",
    title: "bundle of a server with one tool, gzip",
    suite: "bundle",
    figure: "gzipKilobytes",
    unit: "KB",
    better: "less",
    kind: "size",
    shown: "value",
    budgets: [value({ atMost: 25 })],
  },
  {
    id: "component-parse",
    title: "frame, parse and classify messages",
    suite: "component-parse",
    unit: "messages/s",
    ...rate,
    ...toPlain,
    budgets: [value({ atLeast: 1_000_000 })],
  },
  {
    id: "component-validate",
    title: "validate arguments, half of them wrong",
    suite: "component-validate",
    unit: "checks/s",
    ...rate,
    shown: "value",
    budgets: [value({ atLeast: 500_000 })],
  },
  {
    id: "component-tracking",
    title: "track requests from sending to settling",
    suite: "component-tracking",
    unit: "requests/s",
    ...rate,
    shown: "value",
    budgets: [value({ atLeast: 553_000 })],
  },
  {
    id: "component-read",
    title: "read one of 10,000 resources",
    suite: "component-read",
    unit: "reads/s",
    ...rate,
    shown: "value",
    budgets: [value({ atLeast: 242_000 })],
  },
  {
    id: "component-notify",
    title: "tell subscribers that a resource changed",
    suite: "component-notify",
    unit: "deliveries/s",
    ...rate,
    shown: "value",
    budgets: [value({ atLeast: 100_000 })],
  },
];
