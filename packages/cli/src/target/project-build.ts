import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { memberOf } from "../questions/typed-value.js";

/** The state of the build output that a target runs, and what to change. */
export interface ProjectBuild {
  /** `stale` if a source is newer than the whole output, `missing` if the script does not exist. */
  readonly state: "fresh" | "stale" | "missing";
  readonly cause: string;
  readonly fix: string;
}

/** The members of a `ServerTarget` that name a script. */
type ScriptTarget =
  | { readonly kind: "url" }
  | { readonly kind: "module"; readonly path: string }
  | {
      readonly kind: "command";
      readonly entry: {
        readonly command: string;
        readonly args?: readonly string[] | undefined;
        readonly cwd?: string | undefined;
      };
    };

const OUTPUT_FOLDERS: ReadonlySet<string> = new Set(["dist", "build", "out", "lib"]);
const SCRIPT = /\.[cm]?js$/;
/** Sources whose changes reach the output. Tests and declarations do not. */
const SOURCE = /(?<!\.(?:d|test|spec))\.[cm]?tsx?$/;
/** Files that a build writes. With `tsc -b`, a build that changes nothing writes only its `.tsbuildinfo`. */
const OUTPUT = /\.(?:[cm]?js|tsbuildinfo)$/;

/**
 * Examines the build output that a target runs: a script in `dist`, `build`, `out` or `lib` of a folder with
 * `package.json` and `tsconfig.json`. Returns undefined for other targets and for installed packages. Paths of the
 * target are relative to `cwd`.
 */
export function projectBuild(target: ScriptTarget, cwd: string): ProjectBuild | undefined {
  const script = scriptOf(target, cwd);
  if (script === undefined || script.split(sep).includes("node_modules")) return undefined;
  const folder = outputFolderOf(script);
  if (folder === undefined) return undefined;
  const project = dirname(folder);
  const output = basename(folder);
  const command = hasBuildScript(project) ? "`npm run build`" : undefined;
  const shown = (path: string) => relative(project, path).replaceAll(sep, "/");
  if (!isFile(script)) {
    const build = command === undefined ? "Build the project first." : `Build the project first: ${command}.`;
    const cause = `${shown(script)} does not exist`;
    return { state: "missing", cause, fix: `${build} If it is built, check the path.` };
  }
  const source = newerSource(project, folder);
  const fix = command === undefined ? "Build the project again." : `Run ${command}.`;
  if (source === undefined) return { state: "fresh", cause: `${output} is newer than its sources`, fix };
  return { state: "stale", cause: `${output} is older than ${shown(source)}`, fix };
}

/** The JavaScript file that a target runs. */
function scriptOf(target: ScriptTarget, cwd: string): string | undefined {
  if (target.kind === "module") return SCRIPT.test(target.path) ? target.path : undefined;
  if (target.kind === "url" || !/^node(?:\.exe)?$/i.test(basename(target.entry.command))) return undefined;
  const script = target.entry.args?.find((word) => SCRIPT.test(word));
  return script === undefined ? undefined : resolve(cwd, target.entry.cwd ?? "", script);
}

function outputFolderOf(script: string): string | undefined {
  for (let folder = dirname(script); folder !== dirname(folder); folder = dirname(folder)) {
    const project = dirname(folder);
    const isProject = () => isFile(join(project, "package.json")) && isFile(join(project, "tsconfig.json"));
    if (OUTPUT_FOLDERS.has(basename(folder)) && isProject()) return folder;
  }
  return undefined;
}

function hasBuildScript(project: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    return typeof memberOf(memberOf(manifest, "scripts"), "build") === "string";
  } catch {
    return false;
  }
}

/** The newest source, if it is newer than every file of the output. */
function newerSource(project: string, output: string): string | undefined {
  const sources = newestFile(join(project, "src"), SOURCE);
  const outputs = newestFile(output, OUTPUT);
  // A newer file may be among the outputs that were not read.
  if (sources.path === undefined || !outputs.isWhole) return undefined;
  const info = statSync(join(project, "tsconfig.tsbuildinfo"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.changedMs > Math.max(outputs.changedMs, info) ? sources.path : undefined;
}

/** Maximum number of files and folders read per search: enough for a server, and read within milliseconds. */
const MAX_ENTRIES = 2000;

interface NewestFile {
  readonly path: string | undefined;
  readonly changedMs: number;
  /** False if the folder has too many files or could not be read. */
  readonly isWhole: boolean;
}

/** Finds the newest matching file below a folder. Does not follow links, which may lead anywhere. */
function newestFile(folder: string, pattern: RegExp): NewestFile {
  let newest: { path: string | undefined; changedMs: number } = { path: undefined, changedMs: 0 };
  let read = 0;
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const entries = entriesOf(next);
    if (entries === undefined) return { ...newest, isWhole: false };
    for (const entry of entries) {
      if (++read > MAX_ENTRIES) return { ...newest, isWhole: false };
      const path = join(next, entry.name);
      if (entry.isDirectory() && entry.name !== "node_modules") folders.push(path);
      if (!entry.isFile() || !pattern.test(entry.name)) continue;
      const changedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (changedMs > newest.changedMs) newest = { path, changedMs };
    }
  }
  return { ...newest, isWhole: true };
}

function entriesOf(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
