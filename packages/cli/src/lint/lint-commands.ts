import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** Commands that check tool definitions. */
export const LINT_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "lint",
    words: "<target>",
    summary: "check tool definitions for mistakes and prompt injection",
    description:
      "Checks names, descriptions, schemas, annotations, costs and provider limits, and looks for instructions to models and " +
      "hidden characters. Exits 5 if there is an error; with --strict also for warnings.",
    options: [
      { flags: "--rule <id>", summary: "apply only this rule; may be repeated", many: true },
      { flags: "--ignore <id>", summary: "skip this rule; may be repeated", many: true },
      { flags: "--strict", summary: "fail for warnings too" },
      { flags: "--max-tokens <n>", summary: "token limit for one definition (default: 400)" },
      { flags: "--rules", summary: "list the rules without connecting" },
      ...TARGET_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley lint ./server.ts", does: "Checks the tools of a server that you write." },
      { line: "parley lint github --rule injection-hidden", does: "Looks only for hidden characters." },
      {
        line: "parley lint http://127.0.0.1:3000/mcp --strict --json",
        does: "Fails for warnings too, and prints JSON.",
      },
      { line: "parley lint --rules", does: "Lists all rules." },
    ],
    load: async () => (await import("./lint.js")).lint,
  },
];
