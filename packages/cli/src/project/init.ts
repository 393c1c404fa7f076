import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { CommandRun, Invocation } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { isPackageName, packageName } from "./package-name.js";
import { type ProjectOptions, type ProjectTransport, projectFiles } from "./project-files.js";

/** `parley init`: creates a project with a server that runs without further changes. */
export const init: CommandRun = async (invocation) => {
  const { words, terminal } = invocation;
  const { io } = terminal;
  const folder = resolve(io.cwd, words[0] ?? ".");
  checkUnused(folder);
  const chosen = await choices(folder, invocation);
  if (chosen === undefined) return EXIT.interrupted;
  const files = projectFiles({ ...chosen, version: manifest.version });
  // Checked again, because another program may have written files during the questions.
  checkUnused(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { flag: "wx" });
  }
  const place = relative(io.cwd, folder);
  if (terminal.json) terminal.printJson({ folder, name: chosen.name, files: Object.keys(files) });
  else {
    terminal.print(
      show`created ${terminal.style.bold(chosen.name)} in ${place === "" ? "this folder" : place}; now run:`,
    );
    terminal.print();
    if (place !== "") terminal.print(show`  cd ${/^[\w./-]+$/.test(place) ? place : `'${place}'`}`);
    for (const line of ["npm install", "npm test", "npx parley call src/server.ts add a=1 b=2"])
      terminal.print(show`  ${line}`);
  }
  return EXIT.ok;
};

/** Throws a `UsageError` if `folder` is a file, or has entries other than `.git`. */
function checkUnused(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw new UsageError(`${folder} is not a folder`, "Name a new folder.");
  const used = readdirSync(folder).filter((name) => name !== ".git");
  if (used.length > 0) throw new UsageError(`${folder} is not empty`, "Name a new folder: parley init my-server.");
}

type Choices = Omit<ProjectOptions, "version">;

/** Reads the choices from the command line, and asks for the rest. Undefined if the user cancels. */
async function choices(folder: string, invocation: Invocation): Promise<Choices | undefined> {
  const { options, terminal } = invocation;
  const suggested: Choices = {
    name: packageName(basename(folder)),
    description: "An MCP server.",
    transport: "both",
  };
  const name = options.text("name");
  if (name !== undefined) checkName(name);
  const given: Partial<Choices> = {
    ...(name === undefined ? {} : { name }),
    ...optional("description", options.text("description")),
    // Safe: commander accepts only the declared choices.
    ...optional("transport", options.text("transport") as ProjectTransport | undefined),
  };
  if (!terminal.interactive || options.flag("yes")) return { ...suggested, ...given };
  const { askProject } = await import("./ask-project.js");
  return askProject(suggested, given, terminal.io);
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  // TypeScript does not infer the type of a computed member.
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}

function checkName(name: string): void {
  if (isPackageName(name)) return;
  throw new UsageError(`"${name}" is not a valid package name`, "Use lowercase letters, digits and `-`.");
}
