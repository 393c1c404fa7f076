import type { ExitCode } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import type { OptionReader } from "./option-reader.js";

/** One option of a command. */
export interface OptionDeclaration {
  /** As help shows it: `-o, --output <file>`. */
  readonly flags: string;
  readonly summary: string;
  /** May be given several times; the reader's `many` has all of them. */
  readonly many?: boolean;
  /** The only values, also for the completion of shells. */
  readonly choices?: readonly string[];
}

/** What a command was called with. */
export interface Invocation {
  /** The words, without options. */
  readonly words: readonly string[];
  /** What stood behind `--`: the program of a server and its arguments. */
  readonly program: readonly string[];
  readonly options: OptionReader;
  readonly terminal: Terminal;
}

/** Does the work of a command. Throw an `McpError` or a `UsageError` to fail with its message and advice. */
export type CommandRun = (invocation: Invocation) => Promise<ExitCode>;

/**
 * A command as help, completion and the documentation show it. Declarations are loaded by every start, so they import nothing
 * that does work; `load` does.
 */
export interface CommandDeclaration {
  readonly name: string;
  /** The words that follow, as help shows them: `<target> <tool> [name=value…]`. */
  readonly words: string;
  readonly summary: string;
  /** More than the summary, in sentences. */
  readonly description?: string;
  readonly options: readonly OptionDeclaration[];
  /** Complete command lines, each with what it does; help shows them. */
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  /** Commands below this one, in place of `load`. */
  readonly commands?: readonly CommandDeclaration[];
  readonly load?: () => Promise<CommandRun>;
  /** It runs until it is told to end, so that a signal is a normal end: exit code 0. */
  readonly endsBySignal?: boolean;
}
