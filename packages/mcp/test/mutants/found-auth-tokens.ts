import type { Mutant } from "./mutant.js";

/** Defects of the OAuth proxy that were found once, written back into the sources. */
export const FOUND_AUTH_TOKENS: readonly Mutant[] = [];
