import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** Commands that generate code for a server. */
export const TYPES_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "types",
    words: "<target>",
    summary: "write typed code that calls a server",
    description:
      "Writes a module with one typed function for each tool, prompt and simple resource template of a server. " +
      "The same server always produces the same file. Exits 5 if --check finds that the file is stale.",
    options: [
      {
        flags: "-o, --output <file>",
        summary: "a .ts file, or a .js file that gets a .d.ts beside it (default: stdout)",
      },
      { flags: "--check", summary: "write nothing; show the differences, and exit with 5 if the file is stale" },
      { flags: "--watch", summary: "keep running, and write the file again when the server's lists change" },
      ...TARGET_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley types http://127.0.0.1:3000/mcp -o weather.ts", does: "Writes one TypeScript file." },
      { line: "parley types weather -o src/weather.js", does: "Writes src/weather.js and src/weather.d.ts." },
      { line: "parley types weather -o src/weather.ts --check", does: "Fails if the server has changed; for CI." },
    ],
    load: async () => (await import("./write-types.js")).writeTypes,
  },
];
