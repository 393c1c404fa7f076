import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Client } from "@parley/mcp";
import type { CommandRun } from "../commands/command.js";
import { DECLINE_QUESTIONS } from "../target/decline-questions.js";
import { openTarget } from "../target/open-target.js";
import { resolveTarget } from "../target/target.js";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { type ModuleLanguage, moduleText } from "./module-text.js";
import { readOffers } from "./server-offers.js";
import { type TypedModule, typedModule } from "./typed-module.js";

/** Maximum number of printed lines per stale file. The remaining lines are only counted. */
const MAX_SHOWN_LINES = 60;

/** `parley types`: generates typed code for a server, or checks that generated files are up to date. */
export const writeTypes: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const [target, rest] = await resolveTarget(invocation);
  if (rest[0] !== undefined) throw new UsageError(`unexpected argument "${rest[0]}"`, "Name the file with -o.");
  const output = options.text("output");
  const [checks, watches] = [options.flag("check"), options.flag("watch")];
  if (output === undefined && (checks || watches)) {
    throw new UsageError(`--${checks ? "check" : "watch"} needs a file`, "Name the generated file with -o.");
  }
  if (checks && watches) throw new UsageError("--check and --watch cannot be combined", "Use one of them.");
  // Checks the file extension before a server is started.
  if (output !== undefined) moduleFiles({ server: "", functions: [] }, output, terminal.io.cwd);
  await using client = await openTarget(target, invocation, DECLINE_QUESTIONS);
  const read = async () => typedModule(await readOffers(client, terminal.io.signal));
  if (output === undefined) return printModule(await read(), terminal);
  const renew = async () => {
    const module = await read();
    const files = moduleFiles(module, output, terminal.io.cwd);
    return checks ? checkFiles(files, module, terminal) : writeFiles(files, module, terminal);
  };
  // Awaited here, because the client closes when the function returns.
  if (!watches) return await renew();
  await watchLists(client, terminal.io.signal, renew);
  return EXIT.ok;
};

function printModule(module: TypedModule, terminal: Terminal): ExitCode {
  const code = moduleText(module, "ts");
  if (terminal.json) terminal.printJson({ ...counts(module), code });
  // Written without further escaping: `moduleText` has already escaped control characters, and the code must stay
  // compilable.
  else terminal.io.stdout.write(code);
  return EXIT.ok;
}

function writeFiles(files: readonly ModuleFile[], module: TypedModule, terminal: Terminal): ExitCode {
  const written = files.map((file) => {
    // Does not write an unchanged file, so that compilers that watch the file do not run again.
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
  return some.length === 0 ? "no functions" : some.join(", ");
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
    terminal.note(show`${terminal.noteStyle.dim("fix:   ")}Run the same command without --check.`);
  }
  return stale.length === 0 ? EXIT.ok : EXIT.findings;
}

function printStale({ name, text }: ModuleFile, current: string | undefined, terminal: Terminal): void {
  const { red, green, bold } = terminal.style;
  if (current === undefined) return terminal.print(show`${bold(name)} does not exist`);
  const places = lineDifference(current, text);
  terminal.print(show`${bold(name)} is out of date:`);
  const lines = places.flatMap((place, at) => (at === 0 ? place : [{ sign: "…", line: "" }, ...place]));
  for (const { sign, line } of lines.slice(0, MAX_SHOWN_LINES)) {
    const shown = show`  ${sign} ${line}`;
    terminal.print(sign === "-" ? red(shown) : sign === "+" ? green(shown) : shown);
  }
  if (lines.length > MAX_SHOWN_LINES) terminal.print(show`  … and ${lines.length - MAX_SHOWN_LINES} more lines`);
}

/** One line of a diff: `-` only in the first text, `+` only in the second, a space in both. */
interface DifferentLine {
  readonly sign: "-" | "+" | " ";
  readonly line: string;
}

/** Maximum number of line pairs to compare. Beyond it, all lines between the equal head and tail count as changed. */
const MAX_COMPARISONS = 4_000_000;
/** Number of equal lines shown before and after each change. */
const CONTEXT = 2;

/**
 * Compares two texts by lines. Returns the hunks with a few equal lines around each change; empty if the texts are
 * equal.
 */
export function lineDifference(before: string, after: string): DifferentLine[][] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const middle = diffLines(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const same = (lines: readonly string[]) => lines.map((line): DifferentLine => ({ sign: " ", line }));
  return changedHunks([...same(a.slice(0, head)), ...middle, ...same(a.slice(a.length - tail))]);
}

/** Diffs by the longest common subsequence. */
function diffLines(a: readonly string[], b: readonly string[]): DifferentLine[] {
  const removed = (line: string): DifferentLine => ({ sign: "-", line });
  const added = (line: string): DifferentLine => ({ sign: "+", line });
  if (a.length * b.length > MAX_COMPARISONS) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const length = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const lines: DifferentLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [old = "", fresh = ""] = [a[i], b[j]];
    if (i < a.length && j < b.length && old === fresh) {
      lines.push({ sign: " ", line: old });
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && length(i + 1, j) >= length(i, j + 1))) {
      lines.push(removed(old));
      i++;
    } else {
      lines.push(added(fresh));
      j++;
    }
  }
  return lines;
}

/** Groups changed lines and their context into hunks. */
function changedHunks(lines: readonly DifferentLine[]): DifferentLine[][] {
  const near = new Set<number>();
  lines.forEach(({ sign }, at) => {
    if (sign === " ") return;
    for (let other = at - CONTEXT; other <= at + CONTEXT; other++) near.add(other);
  });
  const places: DifferentLine[][] = [];
  lines.forEach((line, at) => {
    if (!near.has(at)) return;
    if (near.has(at - 1) && at > 0) places.at(-1)?.push(line);
    else places.push([line]);
  });
  return places;
}

/** One file of a generated module. */
interface ModuleFile {
  /** The path from the command line, or a path derived from that one. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** The files for `-o`: one `.ts`, or a `.js` with a `.d.ts` beside it. */
function moduleFiles(module: TypedModule, output: string, folder: string): ModuleFile[] {
  const file = (name: string, language: ModuleLanguage) => ({
    name,
    path: resolve(folder, name),
    text: moduleText(module, language),
  });
  const [, stem, kind] = /^(.+)\.d\.(m?)ts$/.exec(output) ?? /^(.+)\.(m?)js$/.exec(output) ?? [];
  if (stem !== undefined) return [file(`${stem}.${kind}js`, "js"), file(`${stem}.d.${kind}ts`, "d.ts")];
  if (/.\.m?ts$/.test(output)) return [file(output, "ts")];
  throw new UsageError(
    `"${output}" does not name a .ts or .js file`,
    "Name a .ts or .mts file, or a .js or .mjs file to get declarations beside it.",
  );
}

/**
 * The content of a file; undefined if it does not exist. Normalizes line endings, which Git may change on checkout.
 */
function currentText({ path, name }: ModuleFile): string | undefined {
  try {
    return readFileSync(path, "utf8").replaceAll("\r\n", "\n");
  } catch (reason) {
    if (isMissing(reason)) return undefined;
    throw new UsageError(`${name} cannot be read: ${messageOf(reason)}`, "Name a readable and writable file.");
  }
}

/** Writes a file atomically, so that a bundler that watches the file never reads half of it. */
function writeModuleFile({ path, name, text }: ModuleFile): void {
  const draft = resolve(dirname(path), `.${basename(path)}.${process.pid}`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(draft, text);
    renameSync(draft, path);
  } catch (reason) {
    if (existsSync(draft)) rmSync(draft);
    throw new UsageError(`${name} cannot be written: ${messageOf(reason)}`, "Name a writable file.");
  }
}

function isMissing(reason: unknown): boolean {
  return reason instanceof Error && "code" in reason && (reason.code === "ENOENT" || reason.code === "ENOTDIR");
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

/**
 * Calls `renew` now and after every list change, until `signal` is aborted or the server ends the subscription. Changes
 * during a call cause one more call. Throws a `UsageError` if the server does not announce list changes.
 */
async function watchLists(client: Client, signal: AbortSignal, renew: () => Promise<unknown>): Promise<void> {
  const { tools, prompts, resources } = client.serverCapabilities;
  const wanted = {
    tools: tools?.listChanged === true,
    prompts: prompts?.listChanged === true,
    resources: resources?.listChanged === true,
  };
  if (!Object.values(wanted).includes(true)) {
    throw new UsageError(
      "the server does not announce list changes",
      "Remove --watch, and run `parley types` again after a change.",
    );
  }
  // Subscribes before reading the lists, so that no change is missed in between.
  await using subscription = await client.subscribe(wanted, { signal });
  const end = () => void subscription.close();
  signal.addEventListener("abort", end, { once: true });
  try {
    await renew();
    for await (const _change of subscription) await renew();
  } finally {
    signal.removeEventListener("abort", end);
  }
}
