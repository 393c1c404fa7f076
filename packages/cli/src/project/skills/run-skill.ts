import { existsSync, realpathSync } from "node:fs";
import { resolve, sep } from "node:path";
import type { Client } from "@parley/mcp";
import type { CommandRun, Invocation } from "../../commands/command.js";
import { openTarget } from "../../target/open-target.js";
import { resolveTarget } from "../../target/target.js";
import { EXIT } from "../../terminal/exit-code.js";
import type { Terminal } from "../../terminal/terminal.js";
import { show, showBlock } from "../../terminal/terminal-text.js";
import { UsageError } from "../../terminal/usage-error.js";
import { SKILLS_FOLDER, skillFolder } from "./open-skills.js";
import { changedFiles, savedFrom } from "./saved-skill.js";

/** The argument of a skill's function. */
export interface SkillContext {
  /** Connected to the server that the user named. Absent if the user named no server. */
  readonly client?: Client;
  /** The words after the skill's name. */
  readonly args: readonly string[];
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
}

/**
 * `parley skills run`: runs the module of a skill as the user's own code, after showing its origin and asking the user.
 */
export const runSkill: CommandRun = async (invocation) => {
  const { words, options, terminal } = invocation;
  const [word, ...args] = words;
  if (word === undefined) throw new UsageError("which skill?", "Name a folder with a SKILL.md.");
  const folder = realpathSync(skillFolder(word, options.text("folder") ?? SKILLS_FOLDER, terminal.io));
  const path = modulePath(folder, options.text("module"));
  const server = options.text("server");
  const named = server !== undefined || invocation.program.length > 0;
  if (!(await confirmRun(folder, path, server ?? invocation.program.join(" "), invocation))) return EXIT.interrupted;
  const target = named
    ? (await resolveTarget({ ...invocation, words: server === undefined ? [] : [server] }))[0]
    : undefined;
  await using client = target === undefined ? undefined : await openTarget(target, invocation);
  const context = { ...(client === undefined ? {} : { client }), args, signal: terminal.io.signal };
  print(await perform(path, context), terminal);
  return EXIT.ok;
};

/** The paths at which the module of a skill may be, without file extension, in the order of the search. */
const PLACES = ["index", "run", "main", "scripts/index", "scripts/run", "scripts/main"];
const ENDINGS = [".ts", ".mts", ".js", ".mjs"];

/** Finds the module to run, which must be inside the skill. Throws a `UsageError` if there is none. */
function modulePath(folder: string, named: string | undefined): string {
  const places = PLACES.flatMap((place) => ENDINGS.map((ending) => `${place}${ending}`));
  const found = (named === undefined ? places : [named]).map((path) => resolve(folder, path)).find(existsSync);
  if (found === undefined) {
    throw new UsageError(
      named === undefined ? `the skill has no module to run` : `the skill has no file ${named}`,
      "Add an index.ts that exports a function as default, or name another module with --module.",
    );
  }
  const real = realpathSync(found);
  const inside = real.startsWith(`${folder}${sep}`) && ENDINGS.some((ending) => real.endsWith(ending));
  if (inside) return real;
  throw new UsageError(`${named ?? found} is not a module of the skill`, "Name a .ts or .js file inside its folder.");
}

/**
 * Shows which module would run and with which permissions, and asks for confirmation. With `--yes`, does not ask.
 * Throws a `UsageError` if it must ask without a terminal.
 */
async function confirmRun(
  folder: string,
  path: string,
  server: string,
  { options, terminal }: Invocation,
): Promise<boolean> {
  const saved = savedFrom(folder);
  const { noteStyle } = terminal;
  terminal.note(show`runs ${noteStyle.bold(path)} with all permissions of your user`);
  if (saved !== undefined)
    terminal.note(show`saved from ${saved.server.name} (${saved.uri}), which provided this code`);
  const changed = saved === undefined ? [] : changedFiles(folder, saved);
  if (changed.length > 0)
    terminal.note(show`${noteStyle.yellow("changed since it was saved: ")}${changed.slice(0, 20).join(", ")}`);
  if (server !== "") terminal.note(show`it can call everything that ${server} offers`);
  if (options.flag("yes")) return true;
  if (!terminal.interactive)
    throw new UsageError("cannot ask for confirmation without a terminal", "Read the code, then add --yes.");
  const { confirm, isCancel } = await import("@clack/prompts");
  const { stdin: input, stderr: output, signal } = terminal.io;
  const answer = await confirm({ message: "Run it?", initialValue: false, input, output, signal });
  return !isCancel(answer) && answer;
}

async function perform(path: string, context: SkillContext): Promise<unknown> {
  // Loaded only here, because the import loads a compiler.
  const { ModuleGraph } = await import("../../modules/module-graph.js");
  const graph = new ModuleGraph(path);
  const exported = await graph.load();
  const run = exported["default"] ?? exported["run"];
  if (typeof run !== "function")
    throw new UsageError(
      `${path} does not export a function`,
      "Export one as default: `export default async ({ client, args }) => …`.",
    );
  return graph.locate(() => run(context) as unknown);
}

function print(value: unknown, terminal: Terminal): void {
  if (terminal.json) terminal.printJson({ result: value ?? null });
  else if (typeof value === "string") terminal.print(showBlock(value));
  else if (value !== undefined) terminal.printJson(value);
}
