import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import type { HostServer } from "@parley/mcp/host";
import type { Invocation } from "../commands/command.js";
import { readConfigServers, readKnownFiles } from "../target/config-servers.js";
import { resolveTarget, type ServerTarget, variablesOf } from "../target/target.js";
import type { Io } from "../terminal/io.js";
import { parleysOnPath } from "../terminal/parley-command.js";

/** A server entry for the configuration file of an application. */
export interface NamedEntry {
  readonly name: string;
  readonly entry: HostServer;
}

/**
 * Builds the entry for the target of a command line. Paths on the command line become absolute, so that the entry works
 * from any folder.
 */
export async function targetEntry(invocation: Invocation): Promise<NamedEntry> {
  const { io } = invocation.terminal;
  const [target] = await resolveTarget(invocation, { startsModules: true });
  if (target.kind === "module")
    return { name: moduleName(target.path), entry: { ...moduleEntry(target.path, io), ...programOptions(invocation) } };
  const [word] = invocation.words;
  const isConfigured = invocation.program.length === 0 && word !== undefined && !/^[a-z]+:/i.test(word);
  if (isConfigured)
    return { name: word, entry: { ...configuredEntry(word, invocation), ...overridesOf(target, invocation) } };
  if (target.kind === "url") {
    const { url, headers = {} } = target.entry;
    const entry = { url, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
    return { name: new URL(url).hostname.replace(/^(?:mcp|www|api)\.(?=.*\.)/, ""), entry };
  }
  const { command, args = [], env = {}, cwd } = target.entry;
  const folder = invocation.options.text("cwd");
  const entry = {
    command: absolute(command, io.cwd),
    args: args.map((arg) => absolute(arg, io.cwd)),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(folder === undefined || cwd === undefined ? {} : { cwd }),
  };
  return { name: programName(command, args), entry };
}

/** Settings of the command line for a module that is started as a program. */
function programOptions({ options, terminal: { io } }: Invocation): HostServer {
  const env = variablesOf(options.many("env"));
  const folder = options.text("cwd");
  return {
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(folder === undefined ? {} : { cwd: resolve(io.cwd, folder) }),
  };
}

/** Settings of the command line that override those of a configured server. */
function overridesOf(target: ServerTarget, { options }: Invocation): HostServer {
  if (target.kind === "module") return {};
  const { env, headers } = target.entry;
  return {
    ...(options.many("env").length > 0 && env !== undefined ? { env } : {}),
    ...(options.many("header").length > 0 && headers !== undefined ? { headers } : {}),
  };
}

/** Returns a configured server with its references unresolved, so that no secret is copied. */
function configuredEntry(name: string, { options, terminal: { io } }: Invocation): HostServer {
  const file = options.text("config");
  const path =
    file === undefined
      ? readKnownFiles(io).find(({ servers }) => Object.hasOwn(servers, name))?.path
      : resolve(io.cwd, file);
  return path === undefined ? {} : (readConfigServers(path, io, { expand: false }).servers[name] ?? {});
}

/**
 * Returns the command that starts a module with this program. Uses absolute paths if `parley` is installed, because the
 * PATH of an application may differ from the PATH of a shell. Otherwise uses `npx`.
 */
function moduleEntry(path: string, io: Io): HostServer {
  const words = ["run", path, "--stdio"];
  const [program] = parleysOnPath(io);
  const script = program === undefined ? undefined : realpathSync(program);
  // The entry must not refer to a copy in the cache of npx, which may be deleted at any time.
  const lasts = script !== undefined && /\.[cm]?js$/.test(script) && !/[\\/]_npx[\\/]/.test(script);
  // Uses the path of the running Node, because an application may not find `node` by name.
  if (lasts) return { command: process.execPath, args: [script, ...words] };
  return { command: "npx", args: ["-y", "@parley/cli", ...words] };
}

/** Makes the path of an existing file absolute. Other words stay unchanged. */
function absolute(word: string, cwd: string): string {
  const isPath = /[./\\]/.test(word) && !word.startsWith("-") && !isAbsolute(word) && !word.startsWith("@");
  return isPath && existsSync(resolve(cwd, word)) ? resolve(cwd, word) : word;
}

function moduleName(path: string): string {
  const own = basename(path).replace(/\.[cm]?[jt]s$/, "");
  if (!/^(?:server|index|main)$/.test(own)) return own;
  const folders = dirname(path).split(/[\\/]/);
  const folder = folders.findLast((name) => !/^(?:src|dist|build|lib)$/.test(name));
  return folder === undefined || folder === "" ? own : folder;
}

/** Derives the name from the package or script that a runner such as npx or node runs, otherwise from the program. */
function programName(command: string, args: readonly string[]): string {
  const runs = /^(?:npx|bunx|pnpx|uvx|uv|node|deno|bun|python3?)(?:\.\w+)?$/.test(basename(command));
  const word = (runs ? args.find((arg) => !/^-|^run$/.test(arg)) : undefined) ?? command;
  return basename(word.replace(/(.)@[^/@]*$/, "$1"))
    .replace(/\.\w+$/, "")
    .replace(/^(?:mcp-)?server-(?=.)/, "");
}
