import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { HostServer } from "@parley/mcp/host";
import type { Invocation } from "../commands/command.js";
import { UsageError } from "../terminal/usage-error.js";
import { projectBuild } from "./project-build.js";

/** The server that a command line names. */
export type ServerTarget =
  | { readonly kind: "url"; readonly name: string; readonly entry: HostServer & { readonly url: string } }
  | { readonly kind: "command"; readonly name: string; readonly entry: HostServer & { readonly command: string } }
  /** A module that exports a server. */
  | { readonly kind: "module"; readonly name: string; readonly path: string };

/** File extensions of modules. Words without such an extension, except URLs, are names of configured servers. */
const MODULE = /\.(?:[cm]?[jt]s)$/;
const ADDRESS = /^[a-z][a-z+.-]*:\/\//i;

/**
 * Resolves the target of a command line: the program after `--`, or the first word. Returns the target with the
 * remaining words. With `startsModules`, options of programs such as `--env` also apply to modules, because the command
 * runs modules as programs. With `logsIn`, `--client-id` needs no `--grant`. Rejects with a `UsageError` if no server
 * matches.
 */
export async function resolveTarget(
  invocation: Invocation,
  { startsModules = false, logsIn = false } = {},
): Promise<[ServerTarget, readonly string[]]> {
  const [target, rest] = await firstTarget(invocation);
  if (!logsIn) checkGrant(invocation);
  await checkInputs([target], invocation);
  if (!startsModules || target.kind !== "module") checkTargetOptions([target], invocation);
  else checkTargetOptions([{ ...target, kind: "command" }], invocation);
  return [target, rest];
}

/** Resolves every target of a command line: each word, and the program after `--`. Rejects like `resolveTarget`. */
export async function resolveTargets(invocation: Invocation): Promise<ServerTarget[]> {
  const targets: ServerTarget[] = [];
  for (const word of invocation.words) targets.push(await targetOf(word, invocation));
  if (invocation.program.length > 0) targets.push((await firstTarget({ ...invocation, words: [] }))[0]);
  checkGrant(invocation);
  await checkInputs(targets, invocation);
  checkTargetOptions(targets, invocation);
  return targets;
}

async function firstTarget(invocation: Invocation): Promise<[ServerTarget, readonly string[]]> {
  const { words, program, options, terminal } = invocation;
  const { cwd } = terminal.io;
  const [command, ...args] = program;
  if (command !== undefined) {
    const folder = options.text("cwd");
    const env = variablesOf(options.many("env"));
    const entry = { command, args, env, cwd: folder === undefined ? cwd : resolve(cwd, folder), inheritEnv: true };
    return [{ kind: "command", name: command, entry }, words];
  }
  const [first, ...rest] = words;
  if (first === undefined) throw await missingTarget(invocation);
  return [await targetOf(first, invocation), rest];
}

async function missingTarget({ options, terminal: { io } }: Invocation): Promise<UsageError> {
  const { configuredNames } = await import("./config-servers.js");
  const names = configuredNames(options.text("config"), io);
  const known = names.length === 0 ? "" : `${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
  return new UsageError(
    "which server?",
    `Use a URL, a path to a module, a program behind \`--\`, or the name of a configured server${known === "" ? "" : `: ${known}`}.`,
  );
}

async function targetOf(word: string, { options, terminal }: Invocation): Promise<ServerTarget> {
  const { io } = terminal;
  if (ADDRESS.test(word)) {
    const headers = headersOf(options.many("header"));
    return { kind: "url", name: word, entry: { url: checkedUrl(word), headers } };
  }
  const path = resolve(io.cwd, word);
  if (MODULE.test(word) && options.text("config") === undefined) {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return { kind: "module", name: word, path };
    throw missingModule(word, path);
  }
  // Imported only if the word is a name, because the import loads the library's host.
  const { findConfigServer, neededInputs } = await import("./config-servers.js");
  const file = options.text("config");
  if (file === undefined) checkName(word, path);
  const given = pairsOf(options.many("input"), "--input");
  const needed = neededInputs(word, file, io).filter(
    ({ id, default: preset }) => !given.has(id) && preset === undefined,
  );
  // Imported only if the user must be asked, which is rare.
  const asked =
    needed.length > 0 && terminal.interactive
      ? await (await import("../questions/ask-inputs.js")).askInputs(terminal, word, needed)
      : [];
  const entry = findConfigServer(word, file, io, new Map([...given, ...asked]));
  const headers = { ...entry.headers, ...headersOf(options.many("header")) };
  if (entry.url !== undefined) return { kind: "url", name: word, entry: { ...entry, url: entry.url, headers } };
  const env = { ...entry.env, ...variablesOf(options.many("env")) };
  const folder = options.text("cwd");
  const cwd = folder === undefined ? {} : { cwd: resolve(io.cwd, folder) };
  return { kind: "command", name: word, entry: { ...entry, command: entry.command ?? "", env, ...cwd } };
}

/** The error for a module that does not exist. */
export function missingModule(word: string, path: string): UsageError {
  const build = projectBuild({ kind: "module", path }, "");
  const fix = build?.fix ?? "Check the path. It is relative to the current folder.";
  return new UsageError(`the file ${word} does not exist`, fix);
}

/**
 * The kind of target that each option applies to. An option that applies to none of the targets is rejected, because it
 * would have no effect.
 */
const OPTION_TARGETS = [
  ["header", "url", "a server at a URL"],
  ["env", "command", "a program"],
  ["cwd", "command", "a program"],
  ["grant", "url", "a server at a URL"],
] as const;

function checkTargetOptions(targets: readonly Pick<ServerTarget, "kind" | "name">[], { options }: Invocation): void {
  for (const [option, meant, words] of OPTION_TARGETS) {
    const given = options.text(option) !== undefined || options.many(option).length > 0;
    if (!given || targets.some(({ kind }) => kind === meant)) continue;
    const [first] = targets;
    const what = targets.length === 1 ? `, and ${first?.name} is not one` : "";
    throw new UsageError(`--${option} works only with ${words}${what}`, "Remove it.");
  }
}

/** Rejects `--client-id` and `--client-secret-env` without `--grant`, because they would have no effect. */
function checkGrant({ options }: Invocation): void {
  if (options.text("grant") !== undefined) return;
  for (const [name, flag] of [
    ["clientId", "--client-id"] as const,
    ["clientSecretEnv", "--client-secret-env"] as const,
  ]) {
    if (options.text(name) === undefined) continue;
    throw new UsageError(`${flag} works only with --grant`, "Add --grant client-credentials, or remove it.");
  }
}

/** Rejects an `--input` whose id no configuration file refers to, because it is probably a typo. */
async function checkInputs(
  targets: readonly ServerTarget[],
  { options, program, terminal }: Invocation,
): Promise<void> {
  const given = [...pairsOf(options.many("input"), "--input").keys()];
  if (given.length === 0) return;
  const [command] = program;
  const isConfigured = ({ kind, name }: ServerTarget) =>
    kind !== "module" && !ADDRESS.test(name) && !(kind === "command" && name === command);
  if (!targets.some(isConfigured)) {
    throw new UsageError(
      "--input works only with a server of a configuration file",
      "Remove it, or name a configured server.",
    );
  }
  const { knownInputs } = await import("./config-servers.js");
  const known = knownInputs(options.text("config"), terminal.io);
  const unknown = given.find((id) => !known.includes(id));
  if (unknown === undefined) return;
  const fix = known.length === 0 ? "Remove it." : `Use one of: ${known.slice(0, 20).join(", ")}.`;
  throw new UsageError(`the configuration has no input "${unknown}"`, fix);
}

/**
 * Rejects words that look like an incomplete URL or a path, with better advice than that of an unknown server name.
 */
function checkName(word: string, path: string): void {
  if (/^(?:localhost|\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/|$)/i.test(word) && /[:/]/.test(word)) {
    throw new UsageError(`"${word}" is not a URL`, `Write it in full: http://${word}`);
  }
  if (/^\.{0,2}\//.test(word) || statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
    throw new UsageError(`${word} is not a module`, "Name a file that ends in .ts, .mts, .js, .mjs or .cjs.");
  }
}

function checkedUrl(word: string): string {
  if (!/^https?:/i.test(word)) {
    throw new UsageError(
      `"${word}" is not an HTTP URL`,
      "Use a URL that begins with http:// or https://, or start the server behind `--`.",
    );
  }
  if (URL.canParse(word)) return word;
  throw new UsageError(`"${word}" is not a URL`, "Write it in full, such as http://127.0.0.1:3000/mcp.");
}

/** Parses `--header "Name: value"`. */
function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) return [name, value] as const;
      // Does not quote the line, which may contain a token.
      throw new UsageError("a --header is not of the form Name: value", 'Write it as --header "Name: value".');
    }),
  );
}

/** Parses `--env NAME=value`. */
export function variablesOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(pairsOf(pairs, "--env"));
}

/** Parses options of the form `name=value`. Errors do not quote the value, which may be secret. */
export function pairsOf(pairs: readonly string[], option: string): Map<string, string> {
  return new Map(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)] as const;
      throw new UsageError(`an ${option} is not of the form NAME=value`, `Write it as ${option} NAME=value.`);
    }),
  );
}
