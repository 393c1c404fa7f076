import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** Commands that judge definitions of tools. */
export const LINT_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "lint",
    words: "<target>",
    summary: "find faults of tool definitions, and texts that deceive models",
    description:
      "Checks names, descriptions, schemas, annotations, costs and limits of providers, and looks for instructions to models and " +
      "hidden characters. Exits 5 if there is an error; with --strict also for warnings.",
    options: [
      { flags: "--rule <id>", summary: "apply this rule alone; may be repeated", many: true },
      { flags: "--ignore <id>", summary: "leave out this rule; may be repeated", many: true },
      { flags: "--strict", summary: "fail for warnings too" },
      { flags: "--max-tokens <n>", summary: "tokens that one definition may cost; 400 unless given" },
      { flags: "--rules", summary: "list the rules, and connect to nothing" },
      ...TARGET_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley lint ./server.ts", does: "Checks the tools of a server that you write." },
      { line: "parley lint github --rule injection-hidden", does: "Looks for hidden characters alone." },
      { line: "parley lint http://127.0.0.1:3000/mcp --strict --json", does: "Fails for warnings too, for programs." },
      { line: "parley lint --rules", does: "Lists all rules." },
    ],
    load: async () => (await import("./lint.js")).lint,
  },
];
