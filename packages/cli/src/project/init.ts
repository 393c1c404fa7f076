import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { CommandRun, Invocation } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import { parleyCommand } from "../terminal/parley-command.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { isPackageName, packageName } from "./package-name.js";
import { packageSpecs } from "./package-specs.js";
import { type ProjectOptions, type ProjectTransport, projectFiles } from "./project-files.js";

/** The choices of a user for a new project. */
export interface ProjectChoices extends Omit<ProjectOptions, "packages"> {
  /** True if the packages are installed. */
  readonly install: boolean;
}

/** Returns the command that creates a project with a server that runs without further changes. `line` starts it. */
export function initBy(line: string): CommandRun {
  return async (invocation) => {
    const { options, terminal, words } = invocation;
    const { io } = terminal;
    const asks = terminal.interactive && !options.flag("yes");
    const questions = asks ? await import("./ask-project.js") : undefined;
    const isUnnamed = words[0] === undefined && folderProblem(io.cwd) !== undefined;
    const word =
      isUnnamed && questions !== undefined ? await questions.askFolder(folderProblem, io) : (words[0] ?? ".");
    if (word === undefined) return EXIT.interrupted;
    const folder = resolve(io.cwd, word);
    checkUnused(folder, line);
    const { suggested, given } = choices(folder, invocation);
    const chosen =
      questions === undefined ? { ...suggested, ...given } : await questions.askProject(suggested, given, io);
    if (chosen === undefined) return EXIT.interrupted;
    // Checked again, because another program may have written files during the questions.
    checkUnused(folder, line);
    const files = projectFiles({ ...chosen, packages: packageSpecs() });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text, { flag: "wx" });
    }
    const installed = chosen.install && (await installPackages(folder, terminal));
    if (terminal.json) terminal.printJson({ folder, name: chosen.name, files: Object.keys(files), installed });
    else printNext(folder, chosen.name, installed, terminal);
    return installed === chosen.install ? EXIT.ok : EXIT.failed;
  };
}

/** Prints the commands to run next. */
function printNext(folder: string, name: string, installed: boolean, terminal: Terminal): void {
  const { io, style } = terminal;
  const place = relative(io.cwd, folder);
  terminal.print(show`created ${style.bold(name)} in ${place === "" ? "this folder" : place}; now run:`);
  terminal.print();
  const parley = parleyCommand(io);
  const lines = [
    ...(place === "" ? [] : [`cd ${/^[\w./-]+$/.test(place) ? place : `'${place}'`}`]),
    ...(installed ? [] : ["npm install"]),
    "npm test",
    `${parley} call src/server.ts add a=1 b=2`,
    `${parley} inspect src/server.ts`,
  ];
  for (const line of lines) terminal.print(show`  ${line}`);
}

/**
 * Runs `npm install`, and returns true if it succeeded. The output of npm goes to stderr, because stdout is for the
 * result.
 */
async function installPackages(folder: string, terminal: Terminal): Promise<boolean> {
  const { env, platform, signal, stderr } = terminal.io;
  // On Windows, npm is a script that only a shell starts.
  const child = spawn("npm", ["install"], { cwd: folder, env, shell: platform === "win32", signal, stdio: "pipe" });
  child.stdin.end();
  child.stdout.pipe(stderr, { end: false });
  child.stderr.pipe(stderr, { end: false });
  const problem = await once(child, "close").then(
    ([code]) => (code === 0 ? undefined : `exit code ${code}`),
    (reason: Error) => reason.message,
  );
  signal.throwIfAborted();
  if (problem === undefined) return true;
  terminal.note(show`${terminal.noteStyle.red("error: ")}\`npm install\` failed: ${problem}`);
  return false;
}

/** The reason why a project cannot be created in `folder`: it is a file, or has entries other than `.git`. */
function folderProblem(folder: string): string | undefined {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isDirectory()) return `${folder} is not a folder`;
  return readdirSync(folder).every((name) => name === ".git") ? undefined : `${folder} is not empty`;
}

function checkUnused(folder: string, line: string): void {
  const problem = folderProblem(folder);
  if (problem !== undefined) throw new UsageError(problem, `Name a new folder: \`${line} my-server\`.`);
}

/** The choices that the command line makes, and defaults for the others. */
function choices(
  folder: string,
  { options }: Invocation,
): { readonly suggested: ProjectChoices; readonly given: Partial<ProjectChoices> } {
  const name = options.text("name");
  if (name !== undefined) checkName(name);
  return {
    suggested: {
      name: packageName(basename(folder)),
      description: "An MCP server.",
      transport: "both",
      // Without questions, a script decides: it may use another package manager, or have no network.
      install: false,
    },
    given: {
      ...optional("name", name),
      ...optional("description", options.text("description")),
      // Safe: commander accepts only the declared choices.
      ...optional("transport", options.text("transport") as ProjectTransport | undefined),
      ...optional("install", options.flag("install") || undefined),
    },
  };
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  // TypeScript does not infer the type of a computed member.
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}

function checkName(name: string): void {
  if (isPackageName(name)) return;
  throw new UsageError(`"${name}" is not a valid package name`, "Use lowercase letters, digits and `-`.");
}
