/** What `scripts/measure-types.mjs` writes. */
export interface TypesResults {
  readonly budget: Readonly<Record<string, { seconds: number; megabytes: number }>>;
  readonly rows: readonly {
    readonly program: string;
    readonly typescript: string;
    readonly seconds: number;
    readonly megabytes: number;
    readonly instantiations: number;
  }[];
}

/** What a large server costs the compiler. */
export function typesSection({ rows, budget }: TypesResults): string {
  const lines = rows.map(({ program, typescript, seconds, megabytes, instantiations }) => {
    const limit = budget[typescript];
    const within = limit === undefined || (seconds <= limit.seconds && megabytes <= limit.megabytes);
    const promised = limit === undefined ? "–" : `≤ ${limit.seconds} s, ≤ ${limit.megabytes} MB`;
    const counted = Number.isFinite(instantiations) ? instantiations.toLocaleString("en-US") : "–";
    const cells = [
      program,
      typescript,
      `${seconds} s`,
      `${megabytes} MB`,
      counted,
      promised,
      within ? "yes" : "**no**",
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "### Types of a large server",
    "`node scripts/measure-types.mjs`: check time and memory as the compiler reports them.",
    [
      "| | TypeScript | check time | memory | instantiations | budget | kept |",
      "|---|---|---|---|---|---|---|",
      ...lines,
    ].join("\n"),
  ].join("\n\n");
}
