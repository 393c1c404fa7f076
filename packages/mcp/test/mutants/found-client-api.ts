import type { Mutant } from "./mutant.js";

/** Findings of reviews about client api, written back into the sources. */
export const FOUND_CLIENT_API: readonly Mutant[] = [
  {
    name: "typed-call-gives-text",
    recreates: "in revisions without structured content a typed call gives text in place of the promised value",
    file: "client/features/tool-value.ts",
    search: "  if (at !== undefined) return parsed(name, result, at);\n",
    replace: "",
    tests: ["test/client/tool-values.test.ts"],
  },
  {
    name: "dropped-blocks-unsaid",
    recreates: "`call` leaves out blocks that are not text without a word",
    file: "client/features/tools.ts",
    search: "  textOnly.add(name);\n",
    replace: "  textOnly.add(name);\n  if (textOnly.has(name)) return;\n",
    tests: ["test/client/tool-values.test.ts"],
  },
  {
    name: "unknown-content-dropped",
    recreates: "content blocks of a type that the client does not know are dropped",
    file: "protocol/results.ts",
    search: "      return item as T;\n",
    replace: "      return undefined;\n",
    tests: ["test/client/tool-values.test.ts", "src/protocol/results.test.ts"],
  },
];
