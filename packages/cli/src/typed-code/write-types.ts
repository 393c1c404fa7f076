import type { CommandRun } from "../commands/command.js";
import { DECLINING } from "../target/declining.js";
import { openTarget } from "../target/open-target.js";
import { takeTarget } from "../target/target.js";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";
import { show } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";
import { UsageError } from "../terminal/usage-error.js";
import { lineDifference } from "./line-difference.js";
import { currentText, type ModuleFile, moduleFiles, writeModuleFile } from "./module-files.js";
import { moduleText } from "./module-text.js";
import { readOffers } from "./server-offers.js";
import { type TypedModule, typedModule } from "./typed-module.js";
import { watchLists } from "./watch-lists.js";

/** Lines of a difference that are shown. */
const MOST_LINES = 60;

/** `parley types`: writes typed code for a server, or checks that what was written still fits. */
export const writeTypes: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const [target, rest] = await takeTarget(invocation);
  if (rest[0] !== undefined) throw new UsageError(`"${rest[0]}" is one word too many`, "Name the file with -o.");
  const output = options.text("output");
  const [checks, watches] = [options.flag("check"), options.flag("watch")];
  if (output === undefined && (checks || watches)) {
    throw new UsageError(`--${checks ? "check" : "watch"} needs a file`, "Name the generated file with -o.");
  }
  if (checks && watches) throw new UsageError("--check and --watch do not go together", "Give one of them.");
  // Asked before a server is started: a wrong ending is a wrong ending whatever it offers.
  if (output !== undefined) moduleFiles({ server: "", functions: [] }, output, terminal.io.cwd);
  await using client = await openTarget(target, invocation, DECLINING);
  const read = async () => typedModule(await readOffers(client, terminal.io.signal));
  if (output === undefined) return printModule(await read(), terminal);
  const renew = async () => {
    const module = await read();
    const files = moduleFiles(module, output, terminal.io.cwd);
    return checks ? checkFiles(files, module, terminal) : writeFiles(files, module, terminal);
  };
  // Awaited here: the client is closed at the end of this block.
  if (!watches) return await renew();
  await watchLists(client, terminal.io.signal, renew);
  return EXIT.ok;
};

function printModule(module: TypedModule, terminal: Terminal): ExitCode {
  const code = moduleText(module, "ts");
  if (terminal.json) terminal.printJson({ ...counts(module), code });
  // Control characters are spelled in it already, and it has to compile as it is printed.
  else terminal.io.stdout.write(code);
  return EXIT.ok;
}

function writeFiles(files: readonly ModuleFile[], module: TypedModule, terminal: Terminal): ExitCode {
  const written = files.map((file) => {
    // An equal file keeps its time: compilers that watch have nothing to do.
    const changed = currentText(file) !== file.text;
    if (changed) writeModuleFile(file);
    return { file: file.name, changed };
  });
  if (terminal.json) terminal.printJsonLine({ ...counts(module), files: written });
  for (const { file, changed } of terminal.json ? [] : written) {
    terminal.print(show`${changed ? "wrote" : "unchanged:"} ${file} (${contents(module)})`);
  }
  return EXIT.ok;
}

function contents(module: TypedModule): string {
  const { tools, prompts, templates } = counts(module);
  const parts = [
    [tools, "tool"],
    [prompts, "prompt"],
    [templates, "resource template"],
  ] as const;
  const some = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}${count === 1 ? "" : "s"}`);
  return some.length === 0 ? "nothing" : some.join(", ");
}

function counts({ functions }: TypedModule) {
  const count = (kind: (typeof functions)[number]["kind"]) => functions.filter((one) => one.kind === kind).length;
  return { tools: count("tool"), prompts: count("prompt"), templates: count("template") };
}

function checkFiles(files: readonly ModuleFile[], module: TypedModule, terminal: Terminal): ExitCode {
  const checked = files.map((file) => ({ file, current: currentText(file) }));
  const stale = checked.filter(({ file, current }) => current !== file.text);
  if (terminal.json) {
    const state = (current: string | undefined, text: string) =>
      current === undefined ? "missing" : current === text ? "current" : "stale";
    terminal.printJson({
      ...counts(module),
      files: checked.map(({ file, current }) => ({ file: file.name, state: state(current, file.text) })),
    });
  } else if (stale.length === 0) {
    for (const { file } of checked) terminal.print(show`${file.name} is up to date`);
  } else {
    for (const { file, current } of stale) printStale(file, current, terminal);
    terminal.note(show`${terminal.noteStyle.dim("fix:   ")}Run the same line without --check.`);
  }
  return stale.length === 0 ? EXIT.ok : EXIT.findings;
}

function printStale({ name, text }: ModuleFile, current: string | undefined, terminal: Terminal): void {
  const { red, green, bold } = terminal.style;
  if (current === undefined) return terminal.print(show`${bold(name)} does not exist`);
  const places = lineDifference(current, text);
  terminal.print(show`${bold(name)} is not what the server offers now:`);
  const lines = places.flatMap((place, at) => (at === 0 ? place : [{ sign: "…", line: "" }, ...place]));
  for (const { sign, line } of lines.slice(0, MOST_LINES)) {
    const shown = show`  ${sign} ${line}`;
    terminal.print(sign === "-" ? red(shown) : sign === "+" ? green(shown) : shown);
  }
  if (lines.length > MOST_LINES) terminal.print(show`  … and ${lines.length - MOST_LINES} more lines`);
}
