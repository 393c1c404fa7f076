import type * as Fs from "node:fs";
import type * as Url from "node:url";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";

/** Location of the configuration file. */
export interface ReadConfigFileOptions {
  /**
   * Path of the file, relative to `folder`. Default: the environment variable `PARLEY_CONFIG`, otherwise the first of
   * the standard names that exists.
   */
  readonly file?: string | undefined;
  /** Folder to search. Default: the current folder. */
  readonly folder?: string | undefined;
}

/** A configuration file, for `loadConfig` of `@parley/mcp/config`. */
export interface ConfigFile {
  /** Absolute path of the file. */
  readonly path: string;
  /** Folder that contains the file. Relative paths in the configuration start from here. */
  readonly folder: string;
  /** Text of a JSON file, or the default export of a module. */
  readonly content: unknown;
}

/** Names of configuration files, in the order of the search. */
const NAMES = ["json", "jsonc", "js", "mjs", "ts", "mts"].map((ending) => `parley.config.${ending}`);
/** Maximum size of a JSON file, in bytes. A larger file is rejected. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/**
 * Reads `parley.config.json`, or the `.jsonc`, `.js`, `.mjs`, `.ts` or `.mts` file of that name. Modules are imported
 * and executed, so use only files that you trust as much as the program. Resolves to undefined if no file is named and
 * none of these exists. Rejects with `invalid_definition` if the file cannot be read, is too long, or is a module
 * without a default export.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/host-config.md | Configuration}
 */
export async function readConfigFile(options: ReadConfigFileOptions = {}): Promise<ConfigFile | undefined> {
  checkOptions("readConfigFile", options, "file folder");
  const fs = builtin("node:fs");
  const paths = builtin("node:path");
  const folder = paths.resolve(options.folder ?? ".");
  const wanted = options.file ?? process.env["PARLEY_CONFIG"];
  const name = wanted ?? NAMES.find((one) => fs.existsSync(paths.join(folder, one)));
  if (name === undefined || name === "") return undefined;
  const path = paths.resolve(folder, name);
  const content = /\.jsonc?$/.test(path) ? jsonText(fs, path) : await exported(builtin("node:url"), path);
  return { path, folder: paths.dirname(path), content };
}

function jsonText(fs: typeof Fs, path: string): string {
  try {
    const { size } = fs.statSync(path);
    if (size <= MAX_CONFIG_BYTES) return fs.readFileSync(path, "utf8");
  } catch (error) {
    throw unreadable(path, error);
  }
  throw new McpError("invalid_definition", `${path} is longer than ${MAX_CONFIG_BYTES} bytes (MAX_CONFIG_BYTES)`, {
    fix: "Check that the path is that of a configuration file.",
  });
}

async function exported(urls: typeof Url, path: string): Promise<unknown> {
  let module: { default?: unknown };
  try {
    module = await import(/* @vite-ignore */ urls.pathToFileURL(path).href);
  } catch (error) {
    throw unreadable(path, error);
  }
  if (module.default !== undefined) return module.default;
  throw new McpError("invalid_definition", `${path} has no default export`, {
    fix: "Write `export default defineConfig({ … })`.",
  });
}

function unreadable(path: string, cause: unknown): McpError {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? ` (${String(cause.code)})` : "";
  return new McpError("invalid_definition", `the configuration file ${path} cannot be read${code}`, {
    fix: "Check that it exists and runs by itself; a TypeScript file needs a runtime that reads TypeScript.",
    cause,
  });
}
