import type { ExitCode } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import type { OptionReader } from "./option-reader.js";

/** One option of a command. */
export interface OptionDeclaration {
  /** The flags as shown in the help text: `-o, --output <file>`. */
  readonly flags: string;
  readonly summary: string;
  /** True if the option may be repeated. `OptionReader.many` returns all values. */
  readonly many?: boolean;
  /** The accepted values, also used for shell completion. */
  readonly choices?: readonly string[];
}

/** The words and options of one command line. */
export interface Invocation {
  /** The words, without options. */
  readonly words: readonly string[];
  /** The words after `--`: the command of a server and its arguments. */
  readonly program: readonly string[];
  readonly options: OptionReader;
  readonly terminal: Terminal;
}

/** Runs a command. Throws an `McpError` or a `UsageError` to fail with its message and advice. */
export type CommandRun = (invocation: Invocation) => Promise<ExitCode>;

/**
 * A command as shown in the help text, the completion scripts and the documentation. Every start loads all
 * declarations, so they import nothing heavy. `load` imports the code of the command.
 */
export interface CommandDeclaration {
  readonly name: string;
  /** The words that follow the name, as shown in the help text: `<target> <tool> [name=value…]`. */
  readonly words: string;
  readonly summary: string;
  /** Complete sentences for the command's own help text. Default: the summary. */
  readonly description?: string;
  readonly options: readonly OptionDeclaration[];
  /** Complete command lines for the help text, each with a description. */
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  /** The title under which the help text lists the command. */
  readonly group?: string;
  /** Subcommands. A command with subcommands has no `load`. */
  readonly commands?: readonly CommandDeclaration[];
  readonly load?: () => Promise<CommandRun>;
  /**
   * True for a command that runs until a signal arrives. A signal then does not change its exit code to `interrupted`.
   */
  readonly endsBySignal?: boolean;
}
