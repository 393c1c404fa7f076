import * as fs from "node:fs";
import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { McpError } from "@parley/mcp";
import {
  type ConfigInput,
  type KnownConfigFile,
  knownConfigFiles,
  type ReadServers,
  readServers,
} from "@parley/mcp/config";
import type { HostServer } from "@parley/mcp/host";
import { parse as parseToml } from "smol-toml";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/** The servers of one configuration file. */
export interface ConfigFileServers extends ReadServers {
  readonly path: string;
  /** The application that owns the file; absent for a file named by the user. */
  readonly application?: string;
}

/** Values for `${input:…}` from the command line, by id. */
export type InputValues = ReadonlyMap<string, string>;

/**
 * Finds a server by name in `file`, or in the first known file that has it. Throws a `UsageError` if no server has this
 * name, or if the server's entry is invalid.
 */
export function findConfigServer(name: string, file: string | undefined, io: Io, inputs?: InputValues): HostServer {
  const files =
    file === undefined ? readKnownFiles(io, { inputs }) : [readConfigServers(resolve(io.cwd, file), io, { inputs })];
  const found = files.find(({ servers }) => Object.hasOwn(servers, name));
  const entry = found?.servers[name];
  if (found === undefined || entry === undefined) throw unknownName(name, files, file);
  const problem = found.problems.find(({ server, severity }) => server === name && severity === "error");
  if (problem !== undefined) throw new UsageError(`${found.path}: ${problem.path}: ${problem.message}`, problem.fix);
  return entry;
}

/** The inputs that a server's entry refers to, as its file declares them. */
export function neededInputs(name: string, file: string | undefined, io: Io): ConfigInput[] {
  const files =
    file === undefined
      ? readKnownFiles(io, { expand: false })
      : [readConfigServers(resolve(io.cwd, file), io, { expand: false })];
  const found = files.find(({ servers }) => Object.hasOwn(servers, name));
  const ids = inputsIn(found?.servers[name] ?? {});
  return ids.slice(0, MAX_INPUTS).map((id) => found?.inputs.find((input) => input.id === id) ?? { id });
}

/** The ids of all inputs that the entries of `file` refer to. Without `file`, reads the entries of all known files. */
export function knownInputs(file: string | undefined, io: Io): string[] {
  const reading = { expand: false };
  const files =
    file === undefined ? readKnownFiles(io, reading) : [readConfigServers(resolve(io.cwd, file), io, reading)];
  return inputsIn(files.map(({ servers }) => servers));
}

function inputsIn(entries: unknown): string[] {
  const text = JSON.stringify(entries);
  return [...new Set([...text.matchAll(/\$\{input:([^}"\\]+)\}/g)].map(([, id = ""]) => id))];
}

/** Maximum number of inputs that the user is asked for, per server. The user is not asked for further inputs. */
const MAX_INPUTS = 50;

/**
 * Reads every existing configuration file of the known applications, project files first. Skips unreadable and invalid
 * files.
 */
export function readKnownFiles(io: Io, reading: ReadingOptions = {}): ConfigFileServers[] {
  return knownFilePaths(io).flatMap(({ application, path }) => {
    try {
      return existsSync(path) ? [{ ...readConfigServers(path, io, reading), application }] : [];
    } catch {
      // A broken file that the user did not name must not fail the command.
      return [];
    }
  });
}

/** Paths of the configuration files of known applications, for this user and folder; project files first. */
export function knownFilePaths({ platform, home, env, cwd }: Io): KnownConfigFile[] {
  const system = platform === "darwin" || platform === "win32" ? platform : "linux";
  const known = knownConfigFiles(system, home, env);
  const complete = known.map((file) => (isAbsolute(file.path) ? file : { ...file, path: join(cwd, file.path) }));
  return [...complete.filter(({ scope }) => scope === "project"), ...complete.filter(({ scope }) => scope === "user")];
}

/** Options for reading a file. */
interface ReadingOptions {
  /** Replaces references such as `${env:NAME}` by their values. Default: true. */
  readonly expand?: boolean | undefined;
  readonly inputs?: InputValues | undefined;
}

/** Reads one configuration file, TOML or JSON. Throws a `UsageError` if the file is unreadable or invalid. */
export function readConfigServers(
  path: string,
  io: Io,
  { expand = true, inputs }: ReadingOptions = {},
): ConfigFileServers {
  const config = parseConfig(path, readText(path));
  const options = { env: io.env, files: fs, baseFolder: dirname(path), userHome: io.home, workspaceFolder: io.cwd };
  const input = (id: string, declared: ConfigInput | undefined) => inputs?.get(id) ?? declared?.default;
  try {
    return { ...readServers(config, { ...options, expand, input }), path };
  } catch (reason) {
    if (McpError.is(reason)) throw new UsageError(`${path}: ${reason.message}`, reason.fix);
    throw reason;
  }
}

/** Names of all servers in `file`, or, without `file`, in the known files. Empty if `file` is unreadable. */
export function configuredNames(file: string | undefined, io: Io): string[] {
  try {
    const reading = { expand: false };
    const files =
      file === undefined ? readKnownFiles(io, reading) : [readConfigServers(resolve(io.cwd, file), io, reading)];
    return [...new Set(files.flatMap(({ servers }) => Object.keys(servers)))];
  } catch {
    return [];
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (reason) {
    const why = (reason as NodeJS.ErrnoException).code === "ENOENT" ? "does not exist" : "cannot be read";
    throw new UsageError(`${path} ${why}`, "Name a file with `mcpServers` or `servers`: --config <file>.");
  }
}

function parseConfig(path: string, text: string): unknown {
  if (!path.endsWith(".toml")) return text;
  try {
    return parseToml(text);
  } catch (reason) {
    const [line = ""] = String(reason instanceof Error ? reason.message : reason).split("\n");
    throw new UsageError(`${path} is not valid TOML: ${line}`, "Correct the file.");
  }
}

function unknownName(name: string, files: readonly ConfigFileServers[], file: string | undefined): UsageError {
  const known = [...new Set(files.flatMap(({ servers }) => Object.keys(servers)))];
  const where = file === undefined ? "in the configuration files of known applications" : `in ${file}`;
  const fix =
    known.length === 0
      ? "Use a URL, a path such as ./server.ts, a program behind `--`, or --config <file>."
      : `Use one of: ${known.slice(0, 20).join(", ")}${known.length > 20 ? ", …" : ""}.`;
  return new UsageError(`no server "${name}" ${where}`, fix);
}
