import type { Mutant } from "./mutant.js";

/** Defects of several nodes on one storage that were found once, written back into the sources. */
export const FOUND_NODES: readonly Mutant[] = [];
