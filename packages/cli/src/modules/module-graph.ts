import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { McpError } from "@parley/mcp";
import { createJiti, type Jiti } from "jiti";
import { ABSENT, fileState } from "./file-state.js";
import { findImport } from "./find-import.js";
import { lineOfImport, moduleFailure, thrownFailure } from "./module-failure.js";

/** What a module exports, by name. */
export type Exports = Record<string, unknown>;

/** One file that was evaluated. */
interface LoadedFile {
  /** What it exports so far: files that import each other see it before it is complete. */
  exports(): Exports;
  /** Resolves when the file is evaluated. */
  readonly ready: Promise<void>;
  /** The files whose evaluation this one awaits. */
  readonly awaits: Set<LoadedFile>;
}

/**
 * A module of the user and the files that it imports, evaluated once. Another graph evaluates all of them anew, which is how a
 * changed file comes into effect; packages are loaded by Node, once for the process.
 *
 * Files are compiled one by one, TypeScript and JavaScript alike, with the lines of the source.
 */
export class ModuleGraph {
  readonly #root: string;
  readonly #jiti: Jiti;
  readonly #files = new Map<string, LoadedFile>();
  /** Files that are in Node's cache for this graph. */
  readonly #commonJs = new Set<string>();
  /** How each file was before it was read. */
  readonly #states = new Map<string, string>();

  constructor(path: string) {
    this.#root = existsSync(path) ? realpathSync(path) : path;
    this.#jiti = createJiti(this.#root, { moduleCache: false, fsCache: false, interopDefault: false });
  }

  /**
   * The files that were read, and those that an import looked for in vain, with the state that each had: when one has another
   * state, the module may have changed.
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

  /** Runs code of the module. What it throws gets the file and line of the user's from which it comes. */
  async locate<T>(run: () => T | Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (reason) {
      if (McpError.is(reason) && LOCATED.has(reason)) throw reason;
      throw thrownFailure(reason, this.#root, new Set(this.#files.keys()));
    }
  }

  #file(path: string): LoadedFile {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const file = this.#evaluate(path);
    this.#files.set(path, file);
    // Whoever imports it awaits it; one that fails beside another must not count as unhandled.
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
    // Evaluation begins in the next turn, when the file is known to those that it imports.
    const ready = Promise.resolve().then(async () => {
      const run = this.#compiled(path, source);
      await run(module.exports, createRequire(path), module, path, dirname(path), importing, resolving);
    });
    file = { exports: () => module.exports, ready, awaits };
    return file;
  }

  #read(path: string): string {
    // Before it is read: one that changes meanwhile is seen to have changed.
    this.#states.set(path, fileState(path));
    try {
      return readFileSync(path, "utf8");
    } catch (reason) {
      const why = fileState(path) === ABSENT ? "the file does not exist" : "the file cannot be read";
      throw located(moduleFailure({ file: path, line: 0 }, why, "Check the path and the rights of the file.", reason));
    }
  }

  #compiled(path: string, source: string): Evaluate {
    const ts = /\.[cm]?tsx?$/.test(path);
    const code = this.#jiti.transform({ source, filename: path, ts, async: true, babel: { plugins: [plainMeta] } });
    const [, broken] = /^exports\.__JITI_ERROR__ = (\{.*\})$/s.exec(code) ?? [];
    if (broken !== undefined) throw syntaxFailure(path, broken);
    const prefix = `(async function (${PARAMETERS}) {`;
    const script = new Script(`${prefix}${code}\n})`, { filename: path, columnOffset: -prefix.length });
    // The text above is a function with these parameters.
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
      // A package that is installed later counts as a change too.
      const awaited = isPath(specifier) ? found.tried : [join(installedFolder(specifier, importer), "package.json")];
      for (const path of awaited) this.#states.set(path, fileState(path));
      throw missingFailure(specifier, importer, source);
    }
    const file = this.#file(found.path);
    const by = importing();
    // Files that import each other would wait for each other for ever.
    if (by !== undefined && !reaches(file, by)) {
      by.awaits.add(file);
      await file.ready;
      by.awaits.delete(file);
    }
    return file.exports();
  }

  /** CommonJS, by Node's own loader, whose cache must not have the file from an earlier graph. */
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

/** The names that compiled code uses. */
const PARAMETERS = "exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve";

/** Failures that name their place already. */
const LOCATED = new WeakSet<McpError>();
/** CommonJS files of the user that Node's cache may still have. */
const EVALUATED = new Set<string>();

function complete(exports: Exports): LoadedFile {
  return { exports: () => exports, ready: Promise.resolve(), awaits: new Set() };
}

/** Whether `file` waits, directly or through others, for `other`. */
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

/** The part of Babel's path that the plugin uses. */
interface MetaPath {
  readonly node: { readonly meta: { readonly name: string } };
  replaceWithSourceString(text: string): void;
}

/** `import.meta` without a member that is known, such as `import.meta.main`, is an object without members. */
const plainMeta = () => ({
  visitor: {
    MetaProperty(path: MetaPath) {
      if (path.node.meta.name === "import") path.replaceWithSourceString("({})");
    },
  },
});

function syntaxFailure(path: string, broken: string): McpError {
  // Safe: the compiler writes this object itself.
  const { line, column, message } = JSON.parse(broken) as { line: number; column: number; message: string };
  const [first = "a syntax error"] = message.replace(/^.*?: /, "").split("\n");
  return located(
    moduleFailure({ file: path, line, column: column + 1 }, `syntax error: ${first.trim()}`, "Correct the syntax."),
  );
}

function missingFailure(specifier: string, importer: string, source: string): McpError {
  const place = { file: importer, line: lineOfImport(source, specifier) };
  if (isPath(specifier)) {
    return located(moduleFailure(place, `there is no file ${specifier}`, "Check the path of this import."));
  }
  const name = packageName(specifier);
  return located(
    existsSync(installedFolder(specifier, importer))
      ? moduleFailure(place, `the package ${name} has no entry "${specifier}"`, "Check the path behind its name.")
      : moduleFailure(place, `the package ${name} is not installed`, `Run \`npm install ${name}\` beside the module.`),
  );
}

function isPath(specifier: string): boolean {
  return /^[./]/.test(specifier);
}

/** `@scope/name/part` is a part of `@scope/name`. */
function packageName(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

/** Where a package would be installed for a file. */
function installedFolder(specifier: string, importer: string): string {
  return join(packageFolder(importer), "node_modules", packageName(specifier));
}

/** The folder of the nearest package.json above a file, or the file's own. */
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
    throw located(moduleFailure({ file: path, line: 0 }, `not JSON: ${why}`, "Correct the file.", reason));
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
