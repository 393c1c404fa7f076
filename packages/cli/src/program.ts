import { ALL_COMMANDS } from "./commands/all-commands.js";
import type { CommandDeclaration } from "./commands/command.js";
import { runCommandLine } from "./commands/command-line.js";
import type { ExitCode } from "./terminal/exit-code.js";
import type { Io } from "./terminal/io.js";

const PARLEY: CommandDeclaration = {
  name: "parley",
  words: "",
  summary: "Use, check, run and record MCP servers.",
  options: [],
  examples: [],
  commands: ALL_COMMANDS,
};

/** Runs one command line of `parley`, without the name of the program. Never rejects; the result is the exit code. */
export function runProgram(argv: readonly string[], io: Io): Promise<ExitCode> {
  return runCommandLine(PARLEY, argv, io);
}
