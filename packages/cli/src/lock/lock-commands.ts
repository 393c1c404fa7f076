import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** Commands that pin what servers offer. */
export const LOCK_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "lock",
    words: "<target>",
    summary: "pin what a server offers, and notice when it changes",
    description:
      "Pins names, descriptions, schemas and annotations of tools, prompts, resource templates and the instructions of a server by " +
      "digest. Without options it pins a server that the file does not have yet; one that differs from its pins is shown and left " +
      "as it was approved. Exits 5 if a server differs.",
    options: [
      { flags: "-o, --output <file>", summary: "the lock file; mcp.lock.json unless given" },
      { flags: "--check", summary: "compare only: never write, and fail if the file does not have the server" },
      { flags: "--update", summary: "approve what the server offers now" },
      { flags: "--name <name>", summary: "the name in the file; a configured name, or what the server calls itself" },
      { flags: "--all", summary: "every server of the configuration, in place of a target" },
      ...TARGET_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley lock http://127.0.0.1:3000/mcp", does: "Pins the server in mcp.lock.json." },
      { line: "parley lock github --check", does: "Fails with a difference if the server changed since." },
      { line: "parley lock github --update", does: "Shows what changed, and approves it." },
      { line: "parley lock --all --config .mcp.json --check", does: "Checks every server of a configuration." },
    ],
    load: async () => (await import("./lock.js")).lock,
  },
];
