import { connect } from "@parley/mcp";
import { ALL_COMMANDS } from "../commands/all-commands.js";
import type { CommandDeclaration, OptionDeclaration } from "../commands/command.js";
import { configuredNames, knownFilePaths, readConfigServers } from "../target/config-servers.js";
import { savedLogins } from "../target/saved-logins.js";
import type { Io } from "../terminal/io.js";
import type { Terminal } from "../terminal/terminal.js";

/** Time limit for connecting to a server and listing its offers. Short, because a person waits at the shell. */
const SERVER_TIMEOUT_MS = 3_000;
const MAX_WORDS = 500;
/** Words without characters that a shell interprets. Servers choose the names, so all other words are dropped. */
const PLAIN = /^[\w.:/@+%=,-]+$/;

/**
 * Lists the candidates for the last of these words: commands, options and their values, names of configured servers,
 * and the offers of a server.
 *
 * Contacts only servers at a URL and servers in the user's own configuration files, because completing a word must
 * not run code from the current folder. Any failure yields no candidates.
 */
export async function completedWords(words: readonly string[], terminal: Terminal): Promise<string[]> {
  const [typed = "", before = ""] = [words.at(-1), words.at(-2)];
  const { command, next, rest } = commandOf(words.slice(0, -1));
  const offered = await offeredWords({ command, next, rest, before, typed }, terminal.io).catch(() => []);
  // Offers options only for a word that begins with a dash: a name chosen by a server or a file could look like an
  // option.
  const fits = (word: string) => word.startsWith(typed) && (typed.startsWith("-") || !word.startsWith("-"));
  return [...new Set(offered)].filter((word) => fits(word) && PLAIN.test(word)).slice(0, MAX_WORDS);
}

interface CompletionRequest {
  readonly command: CommandDeclaration | undefined;
  /** Subcommands that can follow. */
  readonly next: readonly CommandDeclaration[];
  /** The words after the command, without options. */
  readonly rest: readonly string[];
  readonly before: string;
  readonly typed: string;
}

async function offeredWords({ command, next, rest, before, typed }: CompletionRequest, io: Io): Promise<string[]> {
  const choices = command?.options.find((option) => flagsOf(option).includes(before))?.choices;
  if (choices !== undefined) return [...choices];
  if (typed.startsWith("-")) return [...(command?.options.flatMap(longFlag) ?? []), "--help"];
  if (command === undefined || next.length > 0) return next.map(({ name }) => name);
  const places = command.words.replace(/--?\w+ <[^>]*>/g, "").match(/<[^>]*>|\[[^\]]*\]/g) ?? [];
  const place = places[rest.length] ?? "";
  if (/target|url or name/.test(place)) return configuredNames(undefined, io);
  const [target] = rest;
  if (target === undefined || !/target/.test(places[0] ?? "")) return [];
  return offersOf(target, place, io);
}

/** Finds the command that the words name, the subcommands that can follow, and the words after the command. */
function commandOf(words: readonly string[]): Pick<CompletionRequest, "command" | "next" | "rest"> {
  let command: CommandDeclaration | undefined;
  let next: readonly CommandDeclaration[] = ALL_COMMANDS;
  const rest: string[] = [];
  let isValue = false;
  for (const word of words) {
    const found = rest.length === 0 ? next.find(({ name }) => name === word) : undefined;
    if (isValue) isValue = false;
    else if (word.startsWith("-")) isValue = command?.options.some((option) => takesValue(option, word)) === true;
    else if (found === undefined) rest.push(word);
    else [command, next] = [found, found.commands ?? []];
  }
  return { command, next, rest };
}

/**
 * Lists the tools, prompts or resources of a server, depending on the placeholder in the command's usage: `<tool>`,
 * `<prompt>` or `<uri>`.
 */
async function offersOf(target: string, place: string, io: Io): Promise<string[]> {
  if (!/<(?:tool|prompt|uri)/.test(place)) return [];
  const where = whereOf(target, io);
  if (where === undefined) return [];
  const auth = savedLogins({}, io);
  // Uses its own controller and timer, as `Checkup` does: the timer of `AbortSignal.timeout` does not keep the process
  // alive, and Node 20 may garbage-collect a signal inside `AbortSignal.any`.
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = setTimeout(end, SERVER_TIMEOUT_MS);
  io.signal.addEventListener("abort", end, { once: true });
  const { signal } = ended;
  const options = { name: "parley", signal, onWarning: () => {} };
  try {
    await using client = await connect(where, auth === undefined ? options : { ...options, auth });
    if (place.startsWith("<tool")) return (await client.allTools({ signal })).map(({ name }) => name);
    if (place.startsWith("<uri")) return (await client.allResources({ signal })).map(({ uri }) => uri);
    return (await client.allPrompts({ signal })).map(({ name }) => name);
  } finally {
    clearTimeout(timer);
    io.signal.removeEventListener("abort", end);
  }
}

function whereOf(target: string, io: Io): Parameters<typeof connect>[0] | undefined {
  if (/^https?:/i.test(target)) return URL.canParse(target) ? target : undefined;
  for (const { path, scope } of knownFilePaths(io)) {
    if (scope !== "user") continue;
    const entry = entryIn(path, target, io);
    if (entry?.url !== undefined) return entry.url;
    if (entry?.command !== undefined) return { ...entry, command: entry.command, stderr: "capture" };
  }
  return undefined;
}

function entryIn(path: string, name: string, io: Io) {
  try {
    const { servers } = readConfigServers(path, io);
    return Object.hasOwn(servers, name) && servers[name]?.disabled !== true ? servers[name] : undefined;
  } catch {
    return undefined;
  }
}

function flagsOf({ flags }: OptionDeclaration): string[] {
  return flags.split(/[ ,]+/).filter((part) => part.startsWith("-"));
}

function longFlag(option: OptionDeclaration): string[] {
  return flagsOf(option).filter((flag) => flag.startsWith("--"));
}

function takesValue(option: OptionDeclaration, word: string): boolean {
  return option.flags.includes("<") && flagsOf(option).includes(word);
}
