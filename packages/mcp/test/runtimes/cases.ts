import type { Cases } from "./run-cells.js";

/** Stands for the list that the bundler writes: the chosen cases by their file names. */
export declare const cases: Cases;
