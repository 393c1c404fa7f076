import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";
import { TOKENIZERS } from "./token-counter.js";

/** Commands that count tokens. */
export const TOKENS_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "tokens",
    words: "[target]",
    summary: "count the tokens that a server's definitions cost a model",
    description:
      "Counts each tool as a provider receives it: name, description and schema of the arguments. Instructions and other lists are " +
      "shown, but not included in the sum. With --config and no target, counts all servers of the file. Exits 5 if the sum is over --budget.",
    options: [
      { flags: "--budget <n>", summary: "exit with 5 if all tools together cost more" },
      { flags: "--top <n>", summary: "show the n most expensive tools (default: 50)" },
      { flags: "--tokenizer <name>", summary: "the tokenizer (default: o200k_base)", choices: TOKENIZERS },
      { flags: "--compare", summary: "compare definitions with generated code and with search" },
      { flags: "--uses <n>", summary: "with --compare: the number of tools that the task uses (default: 1)" },
      ...TARGET_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      {
        line: "parley tokens http://127.0.0.1:3000/mcp",
        does: "Shows each tool, the most expensive first, and the sum.",
      },
      { line: "parley tokens weather --budget 2000", does: "Fails if the tools cost more; for CI." },
      { line: "parley tokens --config .mcp.json", does: "Shows what all servers of a file cost together." },
      { line: "parley tokens weather --compare --uses 3", does: "Shows what code or a search would cost instead." },
    ],
    load: async () => (await import("./report-tokens.js")).reportTokens,
  },
];
