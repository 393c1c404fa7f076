import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { McpError } from "@parley/mcp";
import type { ConfigProblem, LoadedConfig } from "@parley/mcp/config";
import type { HostServer } from "@parley/mcp/host";
import type { Invocation } from "../commands/command.js";
import {
  type ConfigFileServers,
  type InputValues,
  knownFilePaths,
  readConfigServers,
} from "../target/config-servers.js";
import { pairsOf } from "../target/target.js";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/** The servers of a gateway. */
export interface GatewayServers {
  readonly servers: Record<string, HostServer>;
  readonly problems: readonly ConfigProblem[];
  /** The files that define the servers. */
  readonly files: readonly string[];
  /** Names that more than one file defines. The first file wins. */
  readonly doubled: readonly string[];
}

/** True if the file is a `parley.config.*` or a module, which hold program settings besides servers. */
export function isProgramConfig(file: string): boolean {
  return /(?:^|[\\/])parley\.config\.[^\\/]+$|\.[cm]?[jt]s$/.test(file);
}

/**
 * Reads the servers of `--config`, or of the applications of `--from`. If neither option is given, reads the servers of
 * `parley.config.*`. If that file has no servers, reads the other configuration files in this folder. `--name` selects
 * some of the servers.
 */
export function gatewayServers({ options, terminal }: Invocation, config: LoadedConfig): GatewayServers {
  const { io } = terminal;
  const [file, applications] = [options.text("config"), options.many("from")];
  const inputs = pairsOf(options.many("input"), "--input");
  if (file !== undefined && applications.length > 0) {
    throw new UsageError("--config and --from cannot be combined", "Use one of them.");
  }
  const all =
    applications.length > 0
      ? merged(applications.flatMap((word) => filesOf(word, io, inputs)))
      : file !== undefined && !isProgramConfig(file)
        ? merged([readable(resolve(io.cwd, file), io, inputs)])
        : ofProgram(config, file, io, inputs);
  return chosen(all, options.many("name"));
}

function ofProgram(
  { servers, problems }: LoadedConfig,
  file: string | undefined,
  io: Io,
  inputs: InputValues,
): GatewayServers {
  const files = [file ?? "parley.config"];
  if (Object.keys(servers).length > 0) return { servers, problems, files, doubled: [] };
  if (file !== undefined) throw new UsageError(`${file} has no servers`, "Add them as an object under `servers`.");
  const found = knownFilePaths(io).filter(({ path }) => existsSync(path));
  const ofFolder = found.filter(({ scope }) => scope === "project");
  if (ofFolder.length > 0) return merged(ofFolder.map(({ path }) => readable(path, io, inputs)));
  const words = [...new Set(found.map(({ application }) => wordOf(application)))];
  throw new UsageError(
    "no configuration with servers was found in this folder",
    words.length === 0
      ? "Name a file with --config."
      : `Name a file with --config, or an application: --from ${words.join(", --from ")}.`,
  );
}

/** Converts an application's title to its name on the command line: `Claude Desktop` becomes `claude-desktop`. */
function wordOf(application: string): string {
  return application.toLowerCase().replace("vs code", "vscode").replace(" cli", "").replaceAll(" ", "-");
}

/**
 * The files of an application, or of all applications whose names begin with the word: `claude` means Claude Desktop
 * and Claude Code.
 */
function filesOf(word: string, io: Io, inputs: InputValues): ConfigFileServers[] {
  const meant = knownFilePaths(io).filter(({ application }) => `${wordOf(application)}-`.startsWith(`${word}-`));
  const found = meant.filter(({ path }) => existsSync(path));
  if (found.length > 0) return found.map(({ path }) => readable(path, io, inputs));
  const paths = meant.map(({ path }) => path).join(", ");
  throw new UsageError(
    `no configuration file of the application "${word}" exists; looked for ${paths}`,
    "Name a file with --config, or another application.",
  );
}

function readable(path: string, io: Io, inputs: InputValues): ConfigFileServers {
  try {
    return readConfigServers(path, io, { inputs });
  } catch (reason) {
    if (McpError.is(reason)) throw new UsageError(`${path}: ${reason.message}`, reason.fix ?? "Correct the file.");
    throw reason;
  }
}

function merged(files: readonly ConfigFileServers[]): GatewayServers {
  const servers: Record<string, HostServer> = {};
  const doubled: string[] = [];
  for (const file of files) {
    for (const [name, entry] of Object.entries(file.servers)) {
      if (Object.hasOwn(servers, name)) doubled.push(name);
      else servers[name] = entry;
    }
  }
  const problems = files.flatMap((file) => file.problems.map((one) => ({ ...one, path: `${file.path}: ${one.path}` })));
  return { servers, problems, files: files.map(({ path }) => path), doubled };
}

function chosen(all: GatewayServers, names: readonly string[]): GatewayServers {
  const known = Object.keys(all.servers);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const listed = `${known.slice(0, 20).join(", ")}${known.length > 20 ? ", …" : ""}`;
    throw new UsageError(`no server "${unknown}" in ${all.files.join(", ")}`, `Use one of: ${listed}.`);
  }
  const servers = Object.fromEntries(
    Object.entries(all.servers).filter(([name]) => names.length === 0 || names.includes(name)),
  );
  const problems = all.problems.filter(({ server }) => server === undefined || Object.hasOwn(servers, server));
  if (Object.values(servers).every(({ disabled }) => disabled === true)) {
    const [first] = problems.filter(({ severity }) => severity === "error");
    throw new UsageError(
      `no server of ${all.files.join(", ")} can be used${first === undefined ? "" : `: ${first.path}: ${first.message}`}`,
      first?.fix ?? "Add a server, or enable one.",
    );
  }
  return { ...all, servers, problems };
}
