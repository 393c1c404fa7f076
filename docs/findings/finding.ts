/** Something that a review, an attack, an audit or a new user found in this library. */
export interface Finding {
  /** Where it was found and its number there, such as `defect D1`, `attack F3`, `newcomer B2`, `rule TOOL-11`, `row A36`. */
  readonly id: string;
  readonly weight: "high" | "medium" | "low";
  /** What was wrong, in one sentence. */
  readonly finding: string;
  /** Tests that failed before the repair: `path › part of the title`, from the root of the repository. */
  readonly tests?: readonly string[];
  /** Mutants that bring the old behaviour back; every repaired finding of high or medium weight has one, or says why not. */
  readonly mutants?: readonly string[];
  /** Why there is no mutant, for what no line of the library decides (documentation, types, tests, measurements). */
  readonly noMutant?: string;
  /** Why it was deliberately left as it is. */
  readonly not?: string;
}
