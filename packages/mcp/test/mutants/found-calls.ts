import type { Mutant } from "./mutant.js";

/** Findings of reviews about calls, written back into the sources. */
export const FOUND_CALLS: readonly Mutant[] = [];
