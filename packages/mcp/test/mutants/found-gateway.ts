import type { Mutant } from "./mutant.js";

/** Defects of hosts and gateways that were found once, written back into the sources. */
export const FOUND_GATEWAY: readonly Mutant[] = [];
