import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** Commands that use what a server offers. */
export const USE_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "ping",
    words: "<target>",
    summary: "measure how long a server takes to answer",
    options: [
      { flags: "-n, --count <n>", summary: "how many times; 4 unless given" },
      ...TARGET_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [{ line: "parley ping http://127.0.0.1:3000/mcp", does: "Asks four times and shows each time." }],
    load: async () => (await import("./ping.js")).ping,
  },
];
