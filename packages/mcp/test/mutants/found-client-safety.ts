import type { Mutant } from "./mutant.js";

/** Findings of reviews about client safety, written back into the sources. */
export const FOUND_CLIENT_SAFETY: readonly Mutant[] = [];
