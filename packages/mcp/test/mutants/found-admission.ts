import type { Mutant } from "./mutant.js";

/** Findings of reviews about admission, written back into the sources. */
export const FOUND_ADMISSION: readonly Mutant[] = [];
