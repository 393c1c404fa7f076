import type { Mutant } from "./mutant.js";

/** Findings of reviews about wire, written back into the sources. */
export const FOUND_WIRE: readonly Mutant[] = [];
