import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";
import { TOKENIZERS } from "./token-counter.js";

/** Commands that measure what a server costs a model. */
export const TOKENS_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "tokens",
    words: "[target]",
    summary: "count the tokens that a server's definitions cost a model",
    description:
      "Counts each tool as a provider receives it: name, description and schema of the arguments. Instructions and other lists are " +
      "shown beside the sum, and are not in it. With --config and no target, all servers of the file are counted. Exit codes: 0, or 5 where the sum is over --budget.",
    options: [
      { flags: "--budget <n>", summary: "exit with 5 if all tools together cost more" },
      { flags: "--top <n>", summary: "show the n dearest tools; 50 unless given" },
      { flags: "--tokenizer <name>", summary: "how to count; o200k_base unless given", choices: TOKENIZERS },
      { flags: "--compare", summary: "measure definitions against generated code and against search" },
      { flags: "--uses <n>", summary: "with --compare: how many tools the task uses; 1 unless given" },
      ...TARGET_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley tokens http://127.0.0.1:3000/mcp", does: "Shows each tool, the dearest first, and the sum." },
      { line: "parley tokens weather --budget 2000", does: "Fails where the tools cost more; for CI." },
      { line: "parley tokens --config .mcp.json", does: "Shows what all servers of a file cost together." },
      { line: "parley tokens weather --compare --uses 3", does: "Shows what code or a search would cost instead." },
    ],
    load: async () => (await import("./report-tokens.js")).reportTokens,
  },
];
