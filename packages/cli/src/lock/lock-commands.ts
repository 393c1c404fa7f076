import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** Commands that pin the offers of servers. */
export const LOCK_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "lock",
    words: "<target>",
    summary: "pin what a server offers, and notice when it changes",
    description:
      "Pins the names, descriptions, schemas and annotations of tools, prompts and resource templates, and the instructions of a " +
      "server, by digest. Without options it adds a server that is not in the file yet; for one that is, it shows the differences " +
      "and leaves the file unchanged. Exits 5 if a server differs.",
    options: [
      { flags: "-o, --output <file>", summary: "the lock file (default: mcp.lock.json)" },
      { flags: "--check", summary: "only compare: never write, and fail if the server is not in the file" },
      { flags: "--update", summary: "approve what the server offers now" },
      { flags: "--name <name>", summary: "the name in the file (default: the configured name, or the server's own)" },
      { flags: "--all", summary: "every server of the configuration, instead of a target" },
      ...TARGET_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley lock http://127.0.0.1:3000/mcp", does: "Pins the server in mcp.lock.json." },
      { line: "parley lock github --check", does: "Fails and shows the differences if the server has changed." },
      { line: "parley lock github --update", does: "Shows what changed, and approves it." },
      { line: "parley lock --all --config .mcp.json --check", does: "Checks every server of a configuration." },
    ],
    load: async () => (await import("./lock.js")).lock,
  },
];
