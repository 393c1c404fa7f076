import type { Mutant } from "./mutant.js";

/** Defects of protected servers that were found once, written back into the sources. */
export const FOUND_AUTH_RESOURCE: readonly Mutant[] = [];
