import type { Mutant } from "./mutant.js";

/** Defects of OAuth clients that were found once, written back into the sources. */
export const FOUND_AUTH_CLIENT: readonly Mutant[] = [];
