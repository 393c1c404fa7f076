import { existsSync, realpathSync } from "node:fs";
import { resolve, sep } from "node:path";
import type { Client } from "@parley/mcp";
import type { CommandRun, Invocation } from "../../commands/command.js";
import { openTarget } from "../../target/open-target.js";
import { takeTarget } from "../../target/target.js";
import { EXIT } from "../../terminal/exit-code.js";
import { show, showBlock } from "../../terminal/shown.js";
import type { Terminal } from "../../terminal/terminal.js";
import { UsageError } from "../../terminal/usage-error.js";
import { changedFiles, savedFrom } from "./saved-skill.js";
import { SKILLS_FOLDER, skillFolder } from "./skills-of.js";

/** What the module of a skill is called with. */
export interface SkillContext {
  /** Connected to the server that the user named; absent if none was. */
  readonly client?: Client;
  /** The words behind the skill's name. */
  readonly args: readonly string[];
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
}

/** `parley skills run`: runs the module of a skill as code of the user, who has seen what it is. */
export const runSkill: CommandRun = async (invocation) => {
  const { words, options, terminal } = invocation;
  const [word, ...args] = words;
  if (word === undefined) throw new UsageError("no skill is named", "Name a folder with a SKILL.md.");
  const folder = realpathSync(skillFolder(word, options.text("folder") ?? SKILLS_FOLDER, terminal.io));
  const path = modulePath(folder, options.text("module"));
  const server = options.text("server");
  const named = server !== undefined || invocation.program.length > 0;
  if (!(await agreed(folder, path, server ?? invocation.program.join(" "), invocation))) return EXIT.interrupted;
  const target = named
    ? (await takeTarget({ ...invocation, words: server === undefined ? [] : [server] }))[0]
    : undefined;
  await using client = target === undefined ? undefined : await openTarget(target, invocation);
  const context = { ...(client === undefined ? {} : { client }), args, signal: terminal.io.signal };
  print(await perform(path, context), terminal);
  return EXIT.ok;
};

/** Where the code of a skill may be. */
const PLACES = ["index", "run", "main", "scripts/index", "scripts/run", "scripts/main"];
const ENDINGS = [".ts", ".mts", ".js", ".mjs"];

/** The module to run, which is inside the skill. Throws a `UsageError` where there is none. */
function modulePath(folder: string, named: string | undefined): string {
  const places = PLACES.flatMap((place) => ENDINGS.map((ending) => `${place}${ending}`));
  const found = (named === undefined ? places : [named]).map((path) => resolve(folder, path)).find(existsSync);
  if (found === undefined) {
    throw new UsageError(
      named === undefined ? `the skill has no module to run` : `the skill has no file ${named}`,
      "Give it an index.ts that exports a function as default, or name a module of it by --module.",
    );
  }
  const real = realpathSync(found);
  const inside = real.startsWith(`${folder}${sep}`) && ENDINGS.some((ending) => real.endsWith(ending));
  if (inside) return real;
  throw new UsageError(`${named ?? found} is no module of the skill`, "Name a .ts or .js file inside its folder.");
}

/** Shows what would run with which rights, and asks. Throws a `UsageError` where nobody can be asked. */
async function agreed(
  folder: string,
  path: string,
  server: string,
  { options, terminal }: Invocation,
): Promise<boolean> {
  const saved = savedFrom(folder);
  const { noteStyle } = terminal;
  terminal.note(show`runs ${noteStyle.bold(path)}, with all rights of your user`);
  if (saved !== undefined) terminal.note(show`saved from ${saved.server.name} (${saved.uri}), which wrote this code`);
  const changed = saved === undefined ? [] : changedFiles(folder, saved);
  if (changed.length > 0)
    terminal.note(show`${noteStyle.yellow("changed since it was saved: ")}${changed.slice(0, 20).join(", ")}`);
  if (server !== "") terminal.note(show`it may call everything that ${server} offers`);
  if (options.flag("yes")) return true;
  if (!terminal.interactive)
    throw new UsageError("nobody can be asked whether to run it", "Read the code, then give --yes.");
  const { confirm, isCancel } = await import("@clack/prompts");
  const { stdin: input, stderr: output, signal } = terminal.io;
  const answer = await confirm({ message: "Run it?", initialValue: false, input, output, signal });
  return !isCancel(answer) && answer;
}

async function perform(path: string, context: SkillContext): Promise<unknown> {
  // Brings a compiler.
  const { ModuleGraph } = await import("../../modules/module-graph.js");
  const graph = new ModuleGraph(path);
  const exported = await graph.load();
  const run = exported["default"] ?? exported["run"];
  if (typeof run !== "function")
    throw new UsageError(
      `${path} exports no function`,
      "Export one as default: `export default async ({ client, args }) => …`.",
    );
  return graph.locate(() => run(context) as unknown);
}

function print(value: unknown, terminal: Terminal): void {
  if (terminal.json) terminal.printJson({ result: value ?? null });
  else if (typeof value === "string") terminal.print(showBlock(value));
  else if (value !== undefined) terminal.printJson(value);
}
