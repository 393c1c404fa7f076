import type { Mutant } from "./mutant.js";

/** Findings of reviews about sessions, written back into the sources. */
export const FOUND_SESSIONS: readonly Mutant[] = [];
