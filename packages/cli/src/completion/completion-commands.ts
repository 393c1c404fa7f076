import type { CommandDeclaration } from "../commands/command.js";

/** The shells that `completion` knows. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

export const COMPLETION_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "completion",
    words: "<bash|zsh|fish>",
    summary: "print a script that completes commands and options in a shell",
    options: [],
    examples: [
      { line: 'eval "$(parley completion bash)"', does: "In ~/.bashrc: completes from the next shell on." },
      { line: "parley completion fish > ~/.config/fish/completions/parley.fish", does: "The same for fish." },
    ],
    load: async () => (await import("./print-completion.js")).printCompletion,
  },
];
