import { ALL_COMMANDS } from "../commands/all-commands.js";
import type { CommandDeclaration, CommandRun, OptionDeclaration } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import { show, TerminalText } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { SHELLS } from "./completion-commands.js";

/** `parley completion`: prints a completion script, generated from the command declarations. */
export const printCompletion: CommandRun = async (invocation) => {
  const {
    words: [shell = ""],
    terminal,
  } = invocation;
  if (shell === "words") {
    const { completedWords } = await import("./completed-words.js");
    for (const word of await completedWords(invocation.program, terminal)) terminal.print(show`${word}`);
    return EXIT.ok;
  }
  const write = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as keyof typeof SCRIPTS] : undefined;
  if (write === undefined) {
    const what = shell === "" ? "which shell?" : `unknown shell "${shell}"`;
    throw new UsageError(what, `Name one of ${SHELLS.join(", ")}.`);
  }
  // The script contains only texts of this program, so it needs no escaping.
  terminal.print(new TerminalText(write(rows(ALL_COMMANDS))));
  return EXIT.ok;
};

/** A command by its full path, such as `skills list`, and what can follow it. */
interface Row {
  readonly path: string;
  readonly summary: string;
  readonly next: readonly CommandDeclaration[];
  readonly options: readonly OptionDeclaration[];
}

function rows(commands: readonly CommandDeclaration[], before = ""): Row[] {
  return commands.flatMap(({ name, summary, options, commands: inner = [] }) => {
    const path = before === "" ? name : `${before} ${name}`;
    return [{ path, summary, options, next: inner }, ...rows(inner, path)];
  });
}

const longFlag = ({ flags }: OptionDeclaration) => /--[a-z-]+/.exec(flags)?.[0] ?? "";
const takesValue = ({ flags }: OptionDeclaration) => /[<[]/.test(flags);
const quoted = (text: string) => `'${text.replaceAll("'", `'"'"'`)}'`;

const SCRIPTS = { bash, zsh, fish, powershell } satisfies Record<
  (typeof SHELLS)[number],
  (all: readonly Row[]) => string
>;

/**
 * Completes subcommands and options that fit the words so far, file names, and the candidates that `parley completion
 * words` prints.
 */
function bash(all: readonly Row[]): string {
  const cases = all.map(({ path, next, options }) => {
    const offered = [...next.map(({ name }) => name), ...options.map(longFlag), "--help"].join(" ");
    return `    ${quoted(path)}) offered=${quoted(offered)} ;;`;
  });
  const values = choiceCases(
    all,
    (flag, choices) => `    ${flag}) COMPREPLY=($(compgen -W ${quoted(choices)} -- "$word")); return ;;`,
  );
  // Bash splits words at characters such as ":" and "=", and replaces only the part after the last such character. The
  // script therefore removes the part before it from every candidate. Zsh does not split words there.
  return `_parley() {
  local line="\${COMP_LINE:0:COMP_POINT}" words=() cut="" breaks=""
  if [[ -n "\${ZSH_VERSION-}" || "$line" == *[\\"\\'\\\\]* ]]; then
    words=("\${COMP_WORDS[@]:0:COMP_CWORD+1}")
  else
    read -ra words <<< "$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    [[ "$COMP_WORDBREAKS" == *:* ]] && breaks+=":"
    [[ "$COMP_WORDBREAKS" == *=* ]] && breaks+="="
  fi
  _parley_words "\${words[@]}"
  local word="\${words[@]: -1}"
  [[ -n "$breaks" && "$word" == *["$breaks"]* ]] && cut="\${word%"\${word##*["$breaks"]}"}"
  [[ -z "$cut" ]] || COMPREPLY=("\${COMPREPLY[@]#"$cut"}")
}
_parley_words() {
  local words=("$@") last=$(($# - 1)) path="" offered="" at
  local word="\${words[last]}" before="\${words[last-1]}"
  case "$before" in
${values.join("\n")}
  esac
  for ((at = 1; at < last; at++)); do
    [[ "\${words[at]}" == -* ]] && break
    case "\${path:+$path }\${words[at]}" in
${all.map(({ path }) => `      ${quoted(path)}) path="\${path:+$path }\${words[at]}" ;;`).join("\n")}
      *) break ;;
    esac
  done
  case "$path" in
    '') offered=${quoted([...topLevel(all), "--help", "--version"].join(" "))} ;;
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$word") $(compgen -f -- "$word"))
  [[ -z "$path" || "$word" == -* ]] && return
  # Not by compgen, which would expand what a name contains.
  while IFS= read -r at; do COMPREPLY+=("$at"); done < <(parley completion words -- "\${words[@]:1}" 2>/dev/null)
}
complete -o filenames -F _parley parley`;
}

/** Zsh runs the bash functions through `bashcompinit`. */
function zsh(all: readonly Row[]): string {
  return `#compdef parley
autoload -U +X bashcompinit && bashcompinit
${bash(all)}`;
}

function fish(all: readonly Row[]): string {
  const lines = all.flatMap(({ path, summary, options, next }) => {
    const words = path.split(" ");
    const name = words.at(-1) ?? "";
    const outer = words.slice(0, -1);
    const when = outer.length === 0 ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${outer.join(" ")}`;
    const own = `complete -c parley -n ${quoted(when)} -a ${quoted(name)} -d ${quoted(summary)}`;
    if (next.length > 0) return [own];
    return [own, ...options.map((option) => fishOption(name, option))];
  });
  const names = "(parley completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)";
  const known = topLevel(all).join(" ");
  return [...lines, `complete -c parley -n ${quoted(`__fish_seen_subcommand_from ${known}`)} -a ${quoted(names)}`].join(
    "\n",
  );
}

/** PowerShell gets every candidate from `parley completion words`. */
function powershell(): string {
  return `Register-ArgumentCompleter -Native -CommandName parley -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  parley completion words '--' @words 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`;
}

function fishOption(command: string, option: OptionDeclaration): string {
  const value = takesValue(option) ? " -r" : "";
  const choices = option.choices === undefined ? "" : ` -f -a ${quoted(option.choices.join(" "))}`;
  const when = quoted(`__fish_seen_subcommand_from ${command}`);
  return `complete -c parley -n ${when} -l ${longFlag(option).slice(2)}${value}${choices} -d ${quoted(option.summary)}`;
}

function topLevel(all: readonly Row[]): string[] {
  return all.map(({ path }) => path).filter((path) => !path.includes(" "));
}

/** Writes one case for each option that has a fixed set of values. */
function choiceCases(all: readonly Row[], write: (flag: string, choices: string) => string): string[] {
  const known = new Map(
    all.flatMap(({ options }) =>
      options.flatMap((option) =>
        option.choices === undefined ? [] : [[longFlag(option), option.choices.join(" ")] as const],
      ),
    ),
  );
  return [...known].map(([flag, choices]) => write(flag, choices));
}
