import { type Row, rate, ratio, toPlain, value } from "./row.js";

const percent = { unit: "%", shown: "value", better: "less" } as const;

const overload = (times: 2 | 10, atMost?: number): Row => ({
  id: `overload-${times}`,
  title: `memory (RSS) that ${times} times the connections add under load`,
  suite: "overload",
  figure: `growth${times}Percent`,
  kind: "memory",
  ...percent,
  budgets: atMost === undefined ? [] : [value({ atMost })],
});

/** What long or heavy use does, beside what a moment of it does. */
export const ENDURANCE_ROWS: readonly Row[] = [
  {
    id: "http-events",
    title: "HTTP `tools/call` answered by an event stream, stateless",
    suite: "http-events",
    unit: "requests/s",
    ...rate,
    ...toPlain,
    budgets: [],
  },
  {
    id: "http-events-p99",
    title: "HTTP `tools/call` answered by an event stream, p99 with 32 connections",
    suite: "http-events",
    figure: "p99Micros",
    unit: "µs",
    better: "less",
    kind: "speed",
    ...toPlain,
    budgets: [value({ atMost: 180_000 })],
  },
  {
    id: "stdio-sequential",
    title: "stdio `tools/call`, one after the other, p99",
    suite: "stdio-sequential",
    figure: "p99Micros",
    unit: "µs",
    better: "less",
    kind: "speed",
    ...toPlain,
    budgets: [value({ atMost: 15_000 })],
  },
  {
    id: "ping-busy",
    title: "stdio `ping` while a tool computes for 700 ms, p99",
    suite: "ping-busy",
    figure: "p99Micros",
    unit: "µs",
    better: "less",
    kind: "speed",
    ...toPlain,
    budgets: [ratio({ atMost: 0.1 })],
  },
  {
    id: "notify-sockets",
    title: "tell subscribers over HTTP that a resource changed",
    suite: "notify-sockets",
    unit: "deliveries/s",
    ...rate,
    shown: "value",
    budgets: [],
  },
  {
    id: "sustained-decline",
    title: "HTTP `tools/call`, decline of the rate over 30 s",
    suite: "sustained",
    figure: "declinePercent",
    kind: "speed",
    ...percent,
    budgets: [value({ atMost: 5 })],
  },
  {
    id: "sustained-heap",
    title: "HTTP `tools/call`, growth of the heap over 30 s",
    suite: "sustained",
    figure: "heapGrowthPercent",
    kind: "memory",
    ...percent,
    budgets: [value({ atMost: 1 })],
  },
  overload(2, 30),
  overload(10),
];
