import { over, type Row, rate, ratio } from "./row.js";

const KINDS = ["stdio", "http"] as const;

/** What a gateway costs. */
export const GATEWAY_ROWS: readonly Row[] = [
  ...KINDS.map(
    (kind): Row => ({
      id: `gateway-${kind}`,
      title: `HTTP \`tools/call\`, stateless, through a gateway to a server over ${kind}, beside that server over HTTP`,
      suite: `gateway-${kind}`,
      unit: "requests/s",
      ...rate,
      baseline: "direct",
      shown: "ratio",
      budgets: [ratio({ atLeast: 0.35 })],
    }),
  ),
  ...KINDS.map(
    (kind): Row => ({
      id: `gateway-hop-${kind}`,
      title: `the same over ${kind}, one call at a time: median until the answer`,
      suite: `gateway-hop-${kind}`,
      figure: "p50Micros",
      unit: "µs",
      better: "less",
      kind: "speed",
      baseline: "direct",
      shown: "difference",
      budgets: [over(1000)],
    }),
  ),
];
