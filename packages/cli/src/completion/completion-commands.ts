import type { CommandDeclaration } from "../commands/command.js";

/** The supported shells. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export const COMPLETION_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "completion",
    words: "<bash|zsh|fish|powershell>",
    summary: "print a completion script for a shell",
    description:
      "Prints a script that completes commands, options, the names of configured servers, and what they offer. `completion words -- " +
      "<words…>` prints the candidates for the last word; the scripts call it.",
    options: [],
    examples: [
      { line: 'eval "$(parley completion bash)"', does: "In ~/.bashrc: enables completion in new shells." },
      { line: "parley completion fish > ~/.config/fish/completions/parley.fish", does: "The same for fish." },
      { line: "parley completion powershell >> $PROFILE", does: "The same for PowerShell." },
    ],
    load: async () => (await import("./print-completion.js")).printCompletion,
  },
];
