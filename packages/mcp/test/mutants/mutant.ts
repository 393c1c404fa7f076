/** A defect of another implementation, written into a copy of this one. */
export interface Mutant {
  readonly name: string;
  /** What it brings back, and where that is told. */
  readonly recreates: string;
  /** Below `packages/mcp/src`, or from the root of the repository if it begins with `packages/`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly search: string;
  readonly replace: string;
  /** Below `packages/mcp`, or from the root if they begin with `packages/`: one of them at least must fail. */
  readonly tests: readonly string[];
}

/** The path of a mutant's file or test from the root of the repository. */
export const fromRoot = (folder: "packages/mcp" | "packages/mcp/src", path: string): string =>
  path.startsWith("packages/") ? path : `${folder}/${path}`;
