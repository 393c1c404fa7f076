import { Command, CommanderError, Option } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { EXIT, type ExitCode } from "../terminal/exit-code.js";
import { reportFailure } from "../terminal/failure.js";
import type { Io } from "../terminal/io.js";
import { Terminal } from "../terminal/terminal.js";
import { UsageError } from "../terminal/usage-error.js";
import type { CommandDeclaration, OptionDeclaration } from "./command.js";
import { OptionReader } from "./option-reader.js";

/** The parsed command line of one command. */
interface ParsedCommandLine {
  readonly words: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly program: readonly string[];
}

/**
 * Runs one command line of the program `declaration`, without the name of the program. Never rejects; the result is the
 * exit code.
 */
export async function runCommandLine(
  declaration: CommandDeclaration,
  argv: readonly string[],
  io: Io,
): Promise<ExitCode> {
  // Everything after `--` is the command of a server, not options of this program.
  const at = argv.indexOf("--");
  const [own, program] = at < 0 ? [argv, []] : [argv.slice(0, at), argv.slice(at + 1)];
  let code: ExitCode = EXIT.ok;
  const terminal = new Terminal(io, own.includes("--json"));
  const root = commandOf(declaration, terminal, async (found, given, name) => {
    code = await perform(found, { ...given, program }, name, io);
  });
  root.version(manifest.version, "-V, --version");
  if (declaration.commands !== undefined) root.helpCommand("help [command]", "show the help of a command");
  try {
    await root.parseAsync(asHelpOption(own, declaration), { from: "user" });
    return code;
  } catch (reason) {
    if (reason instanceof CommanderError) return reason.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportFailure(terminal, reason, false);
  }
}

/**
 * Rewrites `help call` to `call --help`. Passes an unknown command name to commander unchanged, which rejects the name
 * and suggests the nearest command.
 */
function asHelpOption(own: readonly string[], root: CommandDeclaration): string[] {
  const [first, ...words] = own;
  const named = words.filter((word) => !word.startsWith("-"));
  let { commands } = root;
  if (commands === undefined || first !== "help" || named.length === 0) return [...own];
  const path: string[] = [];
  for (const word of named) {
    if (commands === undefined) break;
    path.push(word);
    const found: CommandDeclaration | undefined = commands.find(({ name }) => name === word);
    if (found === undefined) return path;
    commands = found.commands;
  }
  return [...path, "--help"];
}

/** Runs the command that commander found. `name` is the name of the command with those of its parents. */
type CommandAction = (
  declaration: CommandDeclaration,
  given: Omit<ParsedCommandLine, "program">,
  name: string,
) => Promise<void>;

function commandOf(declaration: CommandDeclaration, terminal: Terminal, act: CommandAction): Command {
  const { name, summary, description = summary, words, options, examples, group, commands = [] } = declaration;
  const command = new Command(name).summary(summary).description(description);
  if (group !== undefined) command.helpGroup(`${group}:`);
  prepare(command, terminal);
  for (const option of options) command.addOption(optionOf(option));
  if (examples.length > 0) command.addHelpText("after", exampleText(examples));
  for (const inner of commands) command.addCommand(commandOf(inner, terminal, act));
  if (declaration.load === undefined) return command;
  return command
    .usage(`${words} [options]`.trimStart())
    .argument("[words...]")
    .action((given: string[], values: Record<string, unknown>) =>
      act(declaration, { words: given, values }, nameOf(command)),
    );
}

/** Makes commander throw instead of exiting, and write to the streams of `io`. */
function prepare(command: Command, terminal: Terminal): void {
  const { io } = terminal;
  command
    .exitOverride()
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .configureHelp({ visibleArguments: () => [], subcommandTerm: (inner) => inner.name() })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      outputError: (text) => void reportFailure(terminal, usageErrorOf(text, command), false),
    });
}

/**
 * Converts an error text of commander (`error: …`, optionally with `(Did you mean …?)` in a second line) to a usage
 * error.
 */
function usageErrorOf(text: string, command: Command): UsageError {
  const [message = "", hint = ""] = text
    .replace(/^error: /, "")
    .trimEnd()
    .split("\n");
  const meant = hint.replace(/^\(|\)$/g, "");
  return new UsageError(message, `${meant === "" ? "" : `${meant} `}See \`${nameOf(command)} --help\`.`);
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function optionOf({ flags, summary, many = false, choices }: OptionDeclaration): Option {
  const option = new Option(flags, summary);
  if (choices !== undefined) option.choices([...choices]);
  const one = option.parseArg;
  // `argParser` replaces the parser of `choices`, which checks the value. The collector therefore calls that parser.
  if (many) option.argParser((value, before: string[] | undefined) => [...(before ?? []), checked(one, value)]);
  return option;
}

function checked(check: Option["parseArg"], value: string): string {
  check?.(value, undefined);
  return value;
}

function exampleText(examples: CommandDeclaration["examples"]): string {
  return `\nExamples:\n${examples.map(({ line, does }) => `  ${line}\n      ${does}`).join("\n")}`;
}

async function perform(
  declaration: CommandDeclaration,
  { words, values, program }: ParsedCommandLine,
  name: string,
  io: Io,
): Promise<ExitCode> {
  const options = new OptionReader(values);
  const terminal = new Terminal(io, options.flag("json"));
  try {
    if (declaration.load === undefined)
      throw new UsageError(`${declaration.name} needs a subcommand`, "Name one of its subcommands.");
    checkWords(declaration.words, name, words, program);
    const run = await declaration.load();
    const code = await run({ words, program, options, terminal });
    const cut = io.signal.aborted && declaration.endsBySignal !== true;
    return cut && code === EXIT.ok ? EXIT.interrupted : code;
  } catch (reason) {
    const target = declaration.name === "login" ? undefined : (options.text("server") ?? words[0]);
    const isGranted = options.text("grant") !== undefined;
    return reportFailure(
      terminal,
      reason,
      options.flag("debug"),
      target === undefined ? target : { name: target, isGranted },
    );
  }
}

/**
 * Rejects surplus words. The usage text determines how many words are allowed: one for each `<…>` or `[…]` that is not
 * the value of an option.
 */
function checkWords(usage: string, name: string, words: readonly string[], program: readonly string[]): void {
  // Commands whose usage has no words report surplus words themselves. A command with `…` in its usage accepts any
  // number of words.
  if (usage === "" || usage.includes("…")) return;
  const places = usage.replace(/--?\w+ <[^>]*>/g, "").match(/<[^>]*>|\[[^\]]*\]/g) ?? [];
  const most = places.length - (program.length > 0 && /target/.test(usage) ? 1 : 0);
  const extra = words[Math.max(most, 0)];
  if (extra === undefined) return;
  throw new UsageError(`unexpected argument "${extra.slice(0, 100)}"`, `Use \`${name} ${usage}\`.`);
}
