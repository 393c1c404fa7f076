import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, extname, join, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { McpError } from "@parley/mcp";
import { createJiti, type Jiti } from "jiti";

/** The exports of a module, by name. */
export type Exports = Record<string, unknown>;

/** One evaluated file. */
interface LoadedFile {
  /**
   * Returns the current exports. The object is incomplete until the file is evaluated, so files that import each other
   * may see only some exports.
   */
  exports(): Exports;
  /** Resolves when the file has been evaluated. */
  readonly ready: Promise<void>;
  /** The files for whose evaluation this file waits. */
  readonly awaits: Set<LoadedFile>;
}

/**
 * A module of the user and the files that it imports, evaluated once. A new graph evaluates all these files again, so
 * that changed files take effect. Node loads packages once per process.
 *
 * Files are compiled one by one, TypeScript and JavaScript alike, and keep their line numbers.
 */
export class ModuleGraph {
  readonly #root: string;
  readonly #jiti: Jiti;
  readonly #files = new Map<string, LoadedFile>();
  /** Files of this graph in Node's CommonJS cache. */
  readonly #commonJs = new Set<string>();
  /** The state of each file before it was read. */
  readonly #states = new Map<string, string>();

  constructor(path: string) {
    this.#root = existsSync(path) ? realpathSync(path) : path;
    this.#jiti = createJiti(this.#root, { moduleCache: false, fsCache: false, interopDefault: false });
  }

  /**
   * The files that were read, and the paths that were tried for unresolved imports, each with its state at that time.
   * If a state differs later, the module may have changed.
   */
  get files(): ReadonlyMap<string, string> {
    return this.#states;
  }

  /** Evaluates the module. Rejects with an `McpError` that names file and line. */
  load(): Promise<Exports> {
    return this.locate(async () => {
      const file = this.#file(this.#root);
      await file.ready;
      return file.exports();
    });
  }

  /**
   * Runs code of the module. If the code throws, rejects with an error that names the file and line of the user's code.
   */
  async locate<T>(run: () => T | Promise<T>): Promise<T> {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = MAX_FRAMES;
    try {
      return await run();
    } catch (reason) {
      if (McpError.is(reason) && LOCATED.has(reason)) throw reason;
      throw thrownFailure(reason, this.#root, new Set(this.#files.keys()));
    } finally {
      // The compiler changes the limit too.
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  #file(path: string): LoadedFile {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const file = this.#evaluate(path);
    this.#files.set(path, file);
    // An importer does not await `ready` if another of its imports fails first. In that case a rejection of `ready`
    // must not be reported as unhandled.
    file.ready.catch(() => {});
    return file;
  }

  #evaluate(path: string): LoadedFile {
    const awaits = new Set<LoadedFile>();
    const source = this.#read(path);
    if (extname(path) === ".json") return complete(jsonOf(path, source));
    if (isCommonJs(path, source)) return complete(this.#required(path));
    const module: { exports: Exports } = { exports: {} };
    let file: LoadedFile | undefined;
    const importing = (specifier: string) => this.#import(specifier, path, source, () => file);
    const resolving = (specifier: string) => this.#jiti.esmResolve(specifier, pathToFileURL(path).href);
    // Evaluates in the next microtask, after `#file` has registered this file, because the imported files may import
    // this file in turn.
    const ready = Promise.resolve().then(async () => {
      const run = this.#compiled(path, source);
      await run(module.exports, createRequire(path), module, path, dirname(path), importing, resolving);
    });
    file = { exports: () => module.exports, ready, awaits };
    return file;
  }

  #read(path: string): string {
    // Recorded before reading, so that a change during the read is noticed.
    this.#states.set(path, fileState(path));
    try {
      return readFileSync(path, "utf8");
    } catch (reason) {
      const why = fileState(path) === ABSENT ? "the file does not exist" : "the file cannot be read";
      throw located(
        moduleFailure({ file: path, line: 0 }, why, "Check the path and the permissions of the file.", reason),
      );
    }
  }

  #compiled(path: string, source: string): Evaluate {
    const ts = /\.[cm]?tsx?$/.test(path);
    const code = this.#jiti.transform({ source, filename: path, ts, async: true, babel: { plugins: [plainMeta] } });
    const [, broken] = /^exports\.__JITI_ERROR__ = (\{.*\})$/s.exec(code) ?? [];
    if (broken !== undefined) throw syntaxFailure(path, source, broken);
    const prefix = `(async function (${PARAMETERS}) {`;
    const script = new Script(`${prefix}${code}\n})`, { filename: path, columnOffset: -prefix.length });
    // Safe: the script evaluates to a function with these parameters.
    return script.runInThisContext() as Evaluate;
  }

  async #import(
    specifier: string,
    importer: string,
    source: string,
    importing: () => LoadedFile | undefined,
  ): Promise<unknown> {
    const found = findImport(specifier, importer, this.#jiti);
    if (found.kind === "package") return this.#jiti.import(found.id);
    if (found.kind === "missing") {
      // Records where the file or package was missing, so that creating it later counts as a change.
      const awaited = isPath(specifier) ? found.tried : [join(installedFolder(specifier, importer), "package.json")];
      for (const path of awaited) this.#states.set(path, fileState(path));
      throw missingFailure(specifier, importer, source);
    }
    const file = this.#file(found.path);
    const by = importing();
    // Files that import each other would deadlock, so an import that closes a cycle does not wait.
    if (by !== undefined && !reaches(file, by)) {
      by.awaits.add(file);
      await file.ready;
      by.awaits.delete(file);
    }
    return file.exports();
  }

  /** Loads CommonJS with Node's own loader, after removing files of earlier graphs from its cache. */
  #required(path: string): Exports {
    const require = createRequire(path);
    for (const [id, module] of Object.entries(require.cache)) {
      if (EVALUATED.has(id) && module !== undefined && !this.#commonJs.has(id)) delete require.cache[id];
    }
    const value: unknown = require(path);
    for (const id of ownModules(require.cache[path])) {
      EVALUATED.add(id);
      this.#commonJs.add(id);
      if (!this.#states.has(id)) this.#states.set(id, fileState(id));
    }
    return { ...(typeof value === "object" ? value : {}), default: value };
  }
}

type Evaluate = (...values: readonly unknown[]) => Promise<void>;

/** The parameters of the function around the compiled code, which uses these names. */
const PARAMETERS = "exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve";

/** Failures whose message names a file and line already. */
const LOCATED = new WeakSet<McpError>();
/** CommonJS files of the user that may still be in Node's cache. */
const EVALUATED = new Set<string>();

function complete(exports: Exports): LoadedFile {
  return { exports: () => exports, ready: Promise.resolve(), awaits: new Set() };
}

/** True if `file` is `other`, or waits for `other` directly or through further files. */
function reaches(file: LoadedFile, other: LoadedFile, seen: Set<LoadedFile> = new Set()): boolean {
  if (file === other) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  return [...file.awaits].some((one) => reaches(one, other, seen));
}

function located(failure: McpError): McpError {
  LOCATED.add(failure);
  return failure;
}

/** The members of Babel's `NodePath` that the plugin uses. */
interface MetaPath {
  readonly node: { readonly meta: { readonly name: string } };
  replaceWithSourceString(text: string): void;
}

/**
 * A Babel plugin that replaces `import.meta`, which is a syntax error in a script, with an empty object. The compiler
 * itself replaces the members that it supports. Other members, such as `import.meta.main`, become undefined.
 */
const plainMeta = () => ({
  visitor: {
    MetaProperty(path: MetaPath) {
      if (path.node.meta.name === "import") path.replaceWithSourceString("({})");
    },
  },
});

function syntaxFailure(path: string, source: string, broken: string): McpError {
  // Safe: the compiler itself writes this object.
  const { line, column, message } = JSON.parse(broken) as { line: number; column: number; message: string };
  const [first = "a syntax error"] = message.replace(/^.*?: /, "").split("\n");
  return located(
    moduleFailure(
      { file: path, line, column: column + 1 },
      `syntax error: ${first.trim()}${excerpt(source, line, column)}`,
      "Correct the syntax.",
    ),
  );
}

/** Maximum number of characters of a source line in an error. */
const MAX_EXCERPT_LENGTH = 80;

/** Returns the source line of an error and a caret below `column`, which counts from 0. Cuts a long line around it. */
function excerpt(source: string, line: number, column: number): string {
  const from = Math.max(0, column - MAX_EXCERPT_LENGTH / 2);
  const text = source.split("\n")[line - 1]?.slice(from, from + MAX_EXCERPT_LENGTH) ?? "";
  // A tab has no fixed width, so that the caret would be at another column.
  return text.trim() === "" ? "" : `\n${text.replace(/\s/g, " ").trimEnd()}\n${" ".repeat(column - from)}^`;
}

function missingFailure(specifier: string, importer: string, source: string): McpError {
  const place = { file: importer, line: lineOfImport(source, specifier) };
  if (isPath(specifier)) {
    return located(moduleFailure(place, `the file ${specifier} does not exist`, "Check the path of this import."));
  }
  const name = packageName(specifier);
  return located(
    name === LIBRARY || isInstalled(specifier, importer)
      ? moduleFailure(
          place,
          `the package ${name} has no entry "${specifier}"`,
          "Check the path after the name of the package.",
        )
      : moduleFailure(
          place,
          `the package ${name} is not installed`,
          `Run \`npm install ${name}\` in the folder of the module${name === "zod" ? ", or write the schema as JSON Schema" : ""}.`,
        ),
  );
}

function isPath(specifier: string): boolean {
  return /^[./]/.test(specifier);
}

/** Returns the package of a specifier: `@scope/name/part` belongs to `@scope/name`. */
function packageName(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

/** True if the package of a specifier is installed in a folder above a file, as Node looks for it. */
function isInstalled(specifier: string, importer: string): boolean {
  for (let folder = dirname(importer); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "node_modules", packageName(specifier)))) return true;
    if (folder === dirname(folder)) return false;
  }
}

/** The folder in which a package would be installed for a file. */
function installedFolder(specifier: string, importer: string): string {
  return join(packageFolder(importer), "node_modules", packageName(specifier));
}

/** The folder of the nearest package.json above a file, else the file's own folder. */
function packageFolder(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
    if (folder === dirname(folder)) return dirname(path);
  }
}

function jsonOf(path: string, source: string): Exports {
  try {
    return { default: JSON.parse(source) };
  } catch (reason) {
    const why = reason instanceof Error ? reason.message : "it cannot be read";
    throw located(moduleFailure({ file: path, line: 0 }, `invalid JSON: ${why}`, "Correct the file.", reason));
  }
}

function isCommonJs(path: string, source: string): boolean {
  if (path.endsWith(".cjs")) return true;
  if (!path.endsWith(".js") || /^\s*(?:import|export)\b/m.test(source)) return false;
  const manifest = join(packageFolder(path), "package.json");
  return !existsSync(manifest) || !/"type"\s*:\s*"module"/.test(readFileSync(manifest, "utf8"));
}

function ownModules(module: NodeJS.Module | undefined, found: Set<string> = new Set()): Set<string> {
  if (module === undefined || found.has(module.id) || module.id.includes("node_modules")) return found;
  found.add(module.id);
  for (const child of module.children) ownModules(child, found);
  return found;
}

/** The state of a file that does not exist. */
const ABSENT = "absent";

/** Identifies the version of a file by its times, size and inode. */
export function fileState(path: string): string {
  try {
    const { mtimeMs, ctimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
  } catch {
    return ABSENT;
  }
}

/**
 * The target of an import: a file of the user, which every graph evaluates again, or a package, which Node loads once.
 */
type FoundImport =
  | { readonly kind: "own"; readonly path: string }
  | { readonly kind: "package"; readonly id: string }
  /** `tried` lists the paths that would have matched. */
  | { readonly kind: "missing"; readonly tried: readonly string[] };

const TYPESCRIPT = /\.[cm]?tsx?$/;

/** Resolves `specifier` in the file `importer`, as Node and TypeScript do. */
function findImport(specifier: string, importer: string, jiti: Jiti): FoundImport {
  if (isBuiltin(specifier) || specifier.startsWith("data:")) return { kind: "package", id: specifier };
  const path = pathOf(specifier, importer);
  if (path !== undefined) return findFile(path);
  try {
    const file = packageFile(specifier, importer, jiti);
    // A linked workspace package counts as the user's own code if it is TypeScript. JavaScript is loaded as a package.
    const isOwn = TYPESCRIPT.test(file) && !isInPackage(file);
    return isOwn || (specifier.startsWith("#") && !isInPackage(file))
      ? { kind: "own", path: file }
      : { kind: "package", id: file };
  } catch {
    return { kind: "missing", tried: [] };
  }
}

const LIBRARY = "@parley/mcp";

/**
 * Resolves an import of a package in the file `importer`. A file that has no copy of the library gets the copy of this
 * program, so that a single file needs no installation.
 */
function packageFile(specifier: string, importer: string, jiti: Jiti): string {
  const isOwn = packageName(specifier) !== LIBRARY || isInstalled(specifier, importer);
  const parentURL = isOwn ? pathToFileURL(importer).href : import.meta.url;
  const found = jiti.esmResolve(specifier, { parentURL });
  return realpathSync(found.startsWith("file:") ? fileURLToPath(found) : found);
}

function pathOf(specifier: string, importer: string): string | undefined {
  if (specifier.startsWith("file:")) return fileURLToPath(specifier);
  // Drops the query of the specifier. In Node, a query makes the file load again, which every graph does anyway.
  const plain = specifier.replace(/[?#].*$/, "");
  return /^(?:\.{1,2}(?:\/|$)|\/|[A-Za-z]:[\\/])/.test(specifier) ? resolve(dirname(importer), plain) : undefined;
}

function findFile(path: string): FoundImport {
  const tried = candidates(path);
  const found = tried.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile() === true);
  if (found === undefined) return { kind: "missing", tried };
  const real = realpathSync(found);
  return isInPackage(real) ? { kind: "package", id: real } : { kind: "own", path: real };
}

/**
 * The paths to try for an import: the path itself, the TypeScript source of a `.js` path, the path with an extension,
 * and an index file in the folder.
 */
function candidates(path: string): string[] {
  const typescript = path.replace(/\.([cm]?)js(x?)$/, ".$1ts$2");
  const endings = [".ts", ".mts", ".js", ".mjs", ".json"];
  return [
    ...new Set([
      path,
      typescript,
      ...endings.map((ending) => path + ending),
      ...["ts", "js"].map((ending) => resolve(path, `index.${ending}`)),
    ]),
  ];
}

function isInPackage(path: string): boolean {
  return path.includes(`${sep}node_modules${sep}`);
}

/** A position in a file, counted from 1. `line` is 0 if it is unknown. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/** The error for a user's module that cannot be loaded: position, reason and fix. */
function moduleFailure(place: Place, message: string, fix: string, cause?: unknown): McpError {
  const { file, line, column } = place;
  const at = line > 0 ? `${file}:${line}${column === undefined ? "" : `:${column}`}` : file;
  const failure = new McpError("invalid_definition", `${at}: ${message}`, { fix, cause });
  // `--debug` shows the stack of the error that the module threw, not the stack of this program.
  if (cause instanceof Error && cause.stack !== undefined) failure.stack = cause.stack;
  return failure;
}

/**
 * Wraps an error that a module threw, during its evaluation or later, with the innermost position in the user's own
 * files.
 */
export function thrownFailure(
  thrown: unknown,
  path: string,
  own: ReadonlySet<string>,
  advice = "Correct this line: the module throws while it is loaded.",
): McpError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const fix = McpError.is(thrown) && thrown.fix !== "" ? thrown.fix : advice;
  const place = placeOf(thrown, own) ?? { file: path, line: 0 };
  return moduleFailure(place, message === "" ? "the module threw an error without a message" : message, fix, thrown);
}

const FRAME = /(?:\(|at )(?:async )?(?:file:\/\/)?([^()]+?):(\d+):(\d+)\)?$/;

function placeOf(thrown: unknown, own: ReadonlySet<string>): Place | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const lines = (thrown.stack ?? "").split("\n").slice(0, MAX_FRAMES);
  // A syntax error names its position in the first line: `/folder/file.js:3`.
  const [, first, firstLine] = /^(.+):(\d+)$/.exec(lines[0] ?? "") ?? [];
  if (first !== undefined && own.has(first)) return { file: first, line: Number(firstLine) };
  for (const frame of lines) {
    const [, file, line, column] = FRAME.exec(frame.trim()) ?? [];
    if (file !== undefined && own.has(file)) return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

const MAX_FRAMES = 100;

/** The line of an import in a source text. 0 if the specifier is not found. */
function lineOfImport(source: string, specifier: string): number {
  const lines = source.split("\n");
  return lines.findIndex((line) => line.includes(`"${specifier}"`) || line.includes(`'${specifier}'`)) + 1;
}
