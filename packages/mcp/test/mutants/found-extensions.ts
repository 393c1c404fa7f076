import type { Mutant } from "./mutant.js";

/** Defects of tasks, skills and recordings that were found once, written back into the sources. */
export const FOUND_EXTENSIONS: readonly Mutant[] = [];
