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
  {
    name: "json-loses-in-silence",
    recreates: "a Map, a Set or NaN in a result becomes {} or null without a word",
    file: "server/tools/result.ts",
    search: "const lost = plain ? undefined : lostInJson(value);",
    replace: "const lost = plain ? undefined : undefined;",
    tests: ["src/server/tools/result.test.ts"],
  },
  {
    name: "wire-result-encoded-twice",
    recreates: "a result in the form of the official SDK is encoded as the text of another result, and loses isError",
    file: "server/tools/result.ts",
    search: "const value = isWireResult(returned, output) ? fromWireResult(returned) : returned;",
    replace: "const value = returned;",
    tests: ["src/server/tools/result.test.ts"],
  },
  {
    name: "null-is-no-schema",
    recreates: "`input: null` is a tool without arguments",
    file: "server/tools/ready-tool.ts",
    search: "const { input: schema = NO_ARGUMENTS } = definition;",
    replace: "const schema = definition.input ?? NO_ARGUMENTS;",
    tests: ["src/server/tools/tools.test.ts"],
  },
];
