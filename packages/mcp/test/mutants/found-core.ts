import type { Mutant } from "./mutant.js";

/** Defects of clients and servers that were found once, written back into the sources. */
export const FOUND_CORE: readonly Mutant[] = [];
