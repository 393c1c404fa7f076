/** A defect of another implementation, written into a copy of this one. */
export interface Mutant {
  readonly name: string;
  /** What it brings back, and where that is told. */
  readonly recreates: string;
  /** Below `packages/mcp/src`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly search: string;
  readonly replace: string;
  /** Below `packages/mcp`: one of them at least must fail. */
  readonly tests: readonly string[];
}
