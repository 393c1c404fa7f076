import { existsSync, readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { OutputChunk, Plugin } from "rolldown";
import { UsageError } from "../terminal/usage-error.js";
import type { PublishFinding } from "./publish-finding.js";
import { messageOf } from "./publish-project.js";

/** The file that starts a server, and how. */
export interface ServerEntry {
  /** A program, or a module that exports a server. */
  readonly path: string;
  /** The export with the server. Absent for a program. */
  readonly exportName?: string | undefined;
  /** The words that the program gets. */
  readonly args: readonly string[];
}

/** The JavaScript of a server with everything that it imports. */
export interface ServerBundle {
  /** The files by name; `ENTRY_FILE` is started. Empty if bundling failed, which is then a finding. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly findings: readonly PublishFinding[];
}

/** The file of a bundle that is started. */
export const ENTRY_FILE = "index.mjs";

/**
 * Bundles a server into one file that needs only Node. Packages that are not installed stay imports if a dependency
 * asks for them, because such imports are usually optional. Throws a `UsageError` if the bundler is not installed.
 */
export async function bundleServer(entry: ServerEntry, folder: string): Promise<ServerBundle> {
  const { rolldown } = await loadBundler(folder);
  const problems = new BundleProblems(folder);
  const input = entry.exportName === undefined ? entry.path : join(dirname(entry.path), "parley-bundle-entry.mjs");
  const build = await rolldown({
    input: { index: input },
    cwd: folder,
    platform: "node",
    // Servers may use syntax that Node 20 lacks, such as `await using`.
    transform: { target: "node20" },
    plugins: [startingModule(input, entry), ownLibrary(), nativeAddons(problems)],
    // Paths in comments would differ between computers, and with them the hash of the bundle.
    experimental: { attachDebugInfo: "none" },
    onLog: (_level, { code, message, id }) => {
      if (code === "UNRESOLVED_IMPORT" && id !== undefined && !IN_PACKAGE.test(id)) problems.unresolved(id, message);
    },
  });
  try {
    const { output } = await build.generate({
      format: "esm",
      codeSplitting: false,
      entryFileNames: ENTRY_FILE,
      comments: { legal: true, annotation: false, jsdoc: false },
    });
    const chunks = reachableChunks(output.filter((file) => file.type === "chunk"));
    for (const path of chunks.flatMap(({ moduleIds }) => moduleIds)) problems.inspect(path);
    return {
      files: new Map(chunks.map(({ fileName, code }) => [fileName, Buffer.from(code)])),
      findings: problems.findings,
    };
  } catch (reason) {
    problems.failed(entry.path, reason);
    return { files: new Map(), findings: problems.findings };
  } finally {
    await build.close();
  }
}

/** A path inside an installed package. */
const IN_PACKAGE = /[\\/]node_modules[\\/]/;
/** Code that refers to files beside a module. They are not part of the bundle. */
const FILE_REFERENCE =
  /new URL\(\s*["'`]\.{1,2}\/[^)]*import\.meta\.url|import\.meta\.(?:dirname|filename)|\b__dirname\b/;

/** Collects what cannot be bundled, each problem once. */
class BundleProblems {
  readonly findings: PublishFinding[] = [];
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  unresolved(path: string, message: string): void {
    this.#add({
      code: "bundle-unresolved",
      place: this.#shown(path),
      message: messageOf(message),
      fix: "Install the package, or correct the path.",
    });
  }

  nativeAddon(path: string): void {
    this.#add({
      code: "bundle-native-addon",
      place: this.#shown(path),
      message: "a native addon works on one platform only, and cannot be bundled",
      fix: "Replace the package by one without native code, or publish to npm only, without --mcpb.",
    });
  }

  failed(path: string, reason: unknown): void {
    const { errors } = reason as { errors?: readonly unknown[] };
    this.#add({
      code: "bundle-failed",
      place: this.#shown(path),
      message: messageOf(errors?.[0] ?? reason).slice(0, 500),
      fix: "Correct the source.",
    });
  }

  /** Looks for addons and for references to files in a module of the bundle. */
  inspect(path: string): void {
    const addon = addonPackage(path);
    if (addon !== undefined) this.nativeAddon(addon);
    if (IN_PACKAGE.test(path) || !existsSync(path)) return;
    for (const [index, line] of readFileSync(path, "utf8").split("\n").entries()) {
      // Comments often show such code.
      if (!FILE_REFERENCE.test(line.replace(/^\s*(?:\/\/|\*|\/\*).*$/, ""))) continue;
      this.#add({
        code: "bundle-file-reference",
        severity: "warning",
        place: `${this.#shown(path)}:${index + 1}`,
        message: "the line refers to a file beside the module, which is not in the bundle",
        fix: "Import the content, or write it as a string into a module.",
      });
    }
  }

  #add(finding: Omit<PublishFinding, "severity"> & Partial<PublishFinding>): void {
    const isKnown = this.findings.some(({ code, place }) => code === finding.code && place === finding.place);
    if (!isKnown || finding.code === "bundle-unresolved") this.findings.push({ severity: "error", ...finding });
  }

  #shown(path: string): string {
    return relative(this.#folder, path).replaceAll(sep, "/");
  }
}

/** Loads the bundler of the project, or the one that is installed beside this program. */
async function loadBundler(folder: string): Promise<typeof import("rolldown")> {
  for (const from of [join(folder, "package.json"), fileURLToPath(import.meta.url)]) {
    let path: string;
    try {
      path = createRequire(from).resolve("rolldown");
    } catch {
      continue;
    }
    return import(pathToFileURL(path).href);
  }
  throw new UsageError("the bundler rolldown is not installed", "Run `npm install --save-dev rolldown`.");
}

/** Provides the entry that serves an exported server on stdin and stdout. */
function startingModule(input: string, { path, exportName }: ServerEntry): Plugin {
  const code = [
    `import * as exported from ${JSON.stringify(`./${basename(path)}`)};`,
    'import { serveStdio } from "@parley/mcp/node";',
    `const server = exported[${JSON.stringify(exportName ?? "")}];`,
    'await serveStdio(typeof server === "function" ? await server() : server);',
  ].join("\n");
  if (exportName === undefined) return { name: "starting-module" };
  return {
    name: "starting-module",
    resolveId: (id) => (id === input ? id : undefined),
    load: (id) => (id === input ? code : undefined),
  };
}

/** Finds the library beside this program for a module whose folder does not have it. */
function ownLibrary(): Plugin {
  const here = fileURLToPath(import.meta.url);
  return {
    name: "own-library",
    resolveId: {
      filter: { id: /^@parley\/mcp(?:\/|$)/ },
      async handler(id, importer) {
        if (importer === here) return undefined;
        const found = await this.resolve(id, importer, { skipSelf: true });
        return found ?? this.resolve(id, here, { skipSelf: true });
      },
    },
  };
}

/** Reports compiled addons, and leaves them out. */
function nativeAddons(problems: BundleProblems): Plugin {
  return {
    name: "native-addons",
    load: {
      filter: { id: /\.node$/ },
      handler(id) {
        problems.nativeAddon(id);
        return "export default undefined;";
      },
    },
  };
}

/** Returns the folder of a package that compiles an addon when it is installed. */
function addonPackage(path: string): string | undefined {
  const [, folder] = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path) ?? [];
  return folder !== undefined && existsSync(join(folder, "binding.gyp")) ? folder : undefined;
}

/** The chunks that the entry imports. The bundler also returns chunks that became empty. */
function reachableChunks(chunks: readonly OutputChunk[]): OutputChunk[] {
  const found = new Set(chunks.filter(({ isEntry }) => isEntry));
  for (const { imports, dynamicImports } of found) {
    for (const name of [...imports, ...dynamicImports]) {
      const chunk = isBuiltin(name) ? undefined : chunks.find(({ fileName }) => fileName === name);
      if (chunk !== undefined) found.add(chunk);
    }
  }
  return [...found];
}
