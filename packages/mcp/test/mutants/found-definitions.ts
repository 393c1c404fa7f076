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
  {
    name: "unknown-options-ignored",
    recreates: "unknown options are ignored in silence",
    file: "protocol/check-options.ts",
    search: "  if (options === undefined) return;",
    replace: "  if (options !== null) return;",
    tests: ["src/protocol/check-options.test.ts"],
  },
  {
    name: "raw-shape-of-arguments",
    recreates: "a raw shape of schemas as the arguments of a prompt is published with the library's innards",
    file: "server/prompts/ready-prompt.ts",
    search: "    if (isStandardSchema(definition)) {",
    replace: "    if (false) {",
    tests: ["src/server/prompts/prompts.test.ts"],
  },
  {
    name: "extra-arguments-refused",
    recreates: "arguments that the published schema admits are refused",
    file: "server/tools/unknown-arguments.ts",
    search: "if (known.closed || (nearest !== undefined && name.length > SHORT))",
    replace: "if (true)",
    tests: ["src/server/tools/arguments.test.ts"],
  },
];
