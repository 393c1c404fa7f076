import type { Mutant } from "./mutant.js";

/** Findings of reviews about definitions, written back into the sources. */
export const FOUND_DEFINITIONS: readonly Mutant[] = [];
