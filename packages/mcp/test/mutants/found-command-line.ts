import type { Mutant } from "./mutant.js";

/** Defects of the command line that were found once, written back into the sources. */
export const FOUND_COMMAND_LINE: readonly Mutant[] = [];
