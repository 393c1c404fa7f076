import type { Mutant } from "./mutant.js";

/** Findings of reviews about definitions, written back into the sources. */
export const FOUND_DEFINITIONS: readonly Mutant[] = [
  {
    name: "output-wrapped-by-value",
    recreates: "TOOL-11: an object is sent bare although the listed schema is wrapped",
    file: "era/stateful/downgrade.ts",
    search: 'return isObject(shaped["structuredContent"]) && !wrapsOutput ? shaped',
    replace: 'return isObject(shaped["structuredContent"]) ? shaped',
    tests: ["src/era/stateful/downgrade.test.ts"],
  },
  {
    name: "wrapped-schema-loses-definitions",
    recreates: "BASE-38: definitions stay below the wrapper, where no reference finds them",
    file: "era/wrapped-output.ts",
    search: "(MOVED.includes(key) ? moved : held)[key] = value;",
    replace: "held[key] = value;",
    tests: ["src/era/wrapped-output.test.ts"],
  },
];
