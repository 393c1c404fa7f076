import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type LoadedConfig, loadConfig } from "@parley/mcp/config";
import { type ConfigFile, readConfigFile } from "@parley/mcp/node";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/** Possible names of the config file, in the order in which `readConfigFile` looks for them. */
const NAMES = ["json", "jsonc", "js", "mjs", "ts", "mts"].map((ending) => `parley.config.${ending}`);

/**
 * Loads the settings from the file that `PARLEY_CONFIG` names, by default `parley.config.*` in the current folder, and
 * from environment variables.
 */
export async function programConfig(io: Io): Promise<LoadedConfig> {
  const named = io.env["PARLEY_CONFIG"];
  const name = named === undefined || named === "" ? NAMES.find((one) => existsSync(join(io.cwd, one))) : named;
  const file = name === undefined ? undefined : await configFile(resolve(io.cwd, name));
  return loadConfig({ file, env: io.env, userHome: io.home, workspaceFolder: io.cwd });
}

async function configFile(path: string): Promise<ConfigFile | undefined> {
  if (/\.jsonc?$/.test(path)) return readConfigFile({ file: path });
  // Loaded only here, because the import loads a compiler.
  const { ModuleGraph } = await import("../modules/module-graph.js");
  const { default: content } = await new ModuleGraph(path).load();
  if (content !== undefined) return { path, folder: dirname(path), content };
  throw new UsageError(`${path} has no default export`, "Write `export default defineConfig({ … })`.");
}
