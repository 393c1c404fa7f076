import type { Mutant } from "./mutant.js";

/** Findings of reviews about client api, written back into the sources. */
export const FOUND_CLIENT_API: readonly Mutant[] = [];
