import type { CommandDeclaration } from "../commands/command.js";

/** The shells that `completion` knows. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export const COMPLETION_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "completion",
    words: "<bash|zsh|fish|powershell>",
    summary: "print a script that completes commands, options and names in a shell",
    description:
      "Prints a script that completes commands, options, the names of configured servers, and what they offer. `completion words -- " +
      "<words…>` prints what can stand in place of the last word; the scripts use it.",
    options: [],
    examples: [
      { line: 'eval "$(parley completion bash)"', does: "In ~/.bashrc: completes from the next shell on." },
      { line: "parley completion fish > ~/.config/fish/completions/parley.fish", does: "The same for fish." },
      { line: "parley completion powershell >> $PROFILE", does: "The same for PowerShell." },
    ],
    load: async () => (await import("./print-completion.js")).printCompletion,
  },
];
