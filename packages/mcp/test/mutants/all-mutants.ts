import { CLIENT_MUTANTS } from "./client-mutants.js";
import { HTTP_MUTANTS } from "./http-mutants.js";
import type { Mutant } from "./mutant.js";
import { PIPE_MUTANTS } from "./pipe-mutants.js";
import { SERVER_MUTANTS } from "./server-mutants.js";

/** Every defect that is written into the copy, one at a time. */
export const MUTANTS: readonly Mutant[] = [...PIPE_MUTANTS, ...HTTP_MUTANTS, ...CLIENT_MUTANTS, ...SERVER_MUTANTS];
