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

/** A budget for the ratio to the baseline. */
export const ratio = (limit: Pick<Budget, "atLeast" | "atMost">, contender = "parley"): Budget => ({
  contender,
  as: "ratio",
  ...limit,
});
/** A budget for the figure itself. */
export const value = (limit: Pick<Budget, "atLeast" | "atMost">): Budget => ({
  contender: "parley",
  as: "value",
  ...limit,
});
/** A budget for what is added to the baseline. */
export const over = (atMost: number): Budget => ({ contender: "parley", as: "difference", atMost });

export const rate = { figure: "perSecond", better: "more", kind: "speed" } as const;
export const cpu = { figure: "cpuMicros", unit: "µs", better: "less", kind: "speed", budgets: [] } as const;
export const toPlain = { baseline: "plain", shown: "ratio" } as const;

/** What a start costs over a bare program that imports the same schema library, or none. */
export const started = (suite: string, title: string, atMost?: number): Row => ({
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

export const bundled = (
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

export const component = (name: string, title: string, unit: string, atLeast: number): Row => ({
  id: `component-${name}`,
  title,
  suite: `component-${name}`,
  unit,
  ...rate,
  shown: "value",
  budgets: [value({ atLeast })],
});
