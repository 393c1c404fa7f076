import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Client, McpError } from "@parley/mcp";
import {
  compareLock,
  driftText,
  type LockDifference,
  lockOf,
  readLock,
  type ServerLock,
  writeLock,
} from "@parley/mcp/lock";
import type { CommandRun, Invocation } from "../commands/command.js";
import { readConfigServers, readKnownFiles } from "../target/config-servers.js";
import { DECLINE_QUESTIONS } from "../target/decline-questions.js";
import { openTarget } from "../target/open-target.js";
import { resolveTarget, type ServerTarget } from "../target/target.js";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { show, type TerminalText } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";

/** `parley lock`: pins the offers of servers, or shows how they differ from their pins. */
export const lock: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  if (options.flag("check") && options.flag("update")) {
    throw new UsageError("--check and --update cannot be combined", "Use --check to compare, --update to approve.");
  }
  const file = options.text("output") ?? "mcp.lock.json";
  const store = new LockStore(resolve(terminal.io.cwd, file));
  if (options.flag("check") && !store.exists) {
    throw new UsageError(`${file} does not exist`, "Pin the server first: run the same command without --check.");
  }
  const outcomes = options.flag("all") ? await lockAll(invocation, store) : [await lockOne(invocation, store)];
  // Not called for a check: `write` would also normalize the format of an unchanged lock.
  if (!options.flag("check")) store.write();
  printOutcomes(terminal, file, outcomes);
  return exitCode(outcomes);
};

async function lockOne(invocation: Invocation, store: LockStore): Promise<LockOutcome> {
  const [target, rest] = await resolveTarget(invocation);
  const [extra] = rest;
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`, "Name one server, or use --all.");
  await using client = await openTarget(target, invocation, DECLINE_QUESTIONS);
  const name = invocation.options.text("name") ?? nameOf(target, client);
  return compareOrPin(invocation, store, name, await lockOf(client));
}

/** Returns the configured name of a server, otherwise the name that the server declares. */
function nameOf(target: ServerTarget, { serverInfo }: Client): string {
  const isConfigured =
    target.kind !== "module" && target.name !== target.entry.url && target.name !== target.entry.command;
  return isConfigured ? target.name : (serverInfo?.name ?? target.name);
}

/** Locks every server of a configuration. A failing server does not stop the others. */
async function lockAll(invocation: Invocation, store: LockStore): Promise<LockOutcome[]> {
  const { words, program, options, terminal } = invocation;
  if (words.length > 0 || program.length > 0 || options.text("name") !== undefined) {
    throw new UsageError("--all cannot be combined with a target or --name", "Remove one of them.");
  }
  const config = options.text("config");
  const [file] =
    config === undefined
      ? readKnownFiles(terminal.io)
      : [readConfigServers(resolve(terminal.io.cwd, config), terminal.io)];
  const names = Object.entries(file?.servers ?? {}).flatMap(([name, { disabled }]) =>
    disabled === true ? [] : [name],
  );
  if (file === undefined || names.length === 0) {
    throw new UsageError("no configuration with servers was found", "Name a file with `mcpServers`: --config <file>.");
  }
  const outcomes: LockOutcome[] = [];
  for (const name of names) {
    if (terminal.io.signal.aborted) break;
    try {
      const [target] = await resolveTarget({ ...invocation, words: [name] });
      await using client = await openTarget(target, invocation, DECLINE_QUESTIONS);
      outcomes.push(compareOrPin(invocation, store, name, await lockOf(client)));
    } catch (error) {
      outcomes.push({ name, state: "failed", error, drift: [] });
    }
  }
  return outcomes;
}

function compareOrPin({ options }: Invocation, store: LockStore, name: string, current: ServerLock): LockOutcome {
  const pinned = store.get(name);
  const drift: LockDifference[] = pinned === undefined ? [] : compareLock(pinned, current);
  if (pinned === undefined && options.flag("check")) {
    return { name, state: "missing", drift, current, known: store.names };
  }
  if (pinned !== undefined && drift.length === 0) return { name, state: "unchanged", drift, current };
  if (pinned !== undefined && !options.flag("update")) return { name, state: "drift", drift, current };
  store.set(name, current);
  return { name, state: pinned === undefined ? "pinned" : "updated", drift, current };
}

function exitCode(outcomes: readonly LockOutcome[]): ExitCode {
  if (outcomes.some(({ state }) => state === "drift" || state === "missing")) return EXIT.findings;
  return outcomes.some(({ state }) => state === "failed") ? EXIT.unreachable : EXIT.ok;
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The locks of one file. The file is written only if its text changes. */
class LockStore {
  readonly path: string;
  /** False if the file does not exist yet. */
  readonly exists: boolean;
  readonly #before: string;
  readonly #servers: Map<string, ServerLock>;

  /** Throws a `UsageError` for a file that cannot be read. */
  constructor(path: string) {
    this.path = path;
    const text = readText(path);
    this.exists = text !== undefined;
    this.#before = text ?? "";
    this.#servers = new Map(text === undefined ? [] : Object.entries(locksIn(path, text)));
  }

  get names(): string[] {
    return [...this.#servers.keys()];
  }

  get(name: string): ServerLock | undefined {
    return this.#servers.get(name);
  }

  set(name: string, lock: ServerLock): void {
    this.#servers.set(name, lock);
  }

  /** Replaces the file in one step, so that readers never see a partly written file. */
  write(): void {
    const text = writeLock(Object.fromEntries(this.#servers));
    if (text === this.#before) return;
    const draft = `${this.path}.${randomUUID()}.new`;
    try {
      writeFileSync(draft, text);
      renameSync(draft, this.path);
    } catch (reason) {
      rmSync(draft, { force: true });
      const why = reason instanceof Error ? reason.message : String(reason);
      throw new UsageError(`${this.path} cannot be written: ${why}`, "Name a writable file with --output.");
    }
  }
}

function readText(path: string): string | undefined {
  try {
    const { size } = statSync(path);
    if (size > MAX_FILE_BYTES)
      throw new UsageError(`${path} is too large for a lock file (${size} bytes)`, "Name a lock file with --output.");
    return readFileSync(path, "utf8");
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (reason instanceof UsageError) throw reason;
    const why = reason instanceof Error ? reason.message : String(reason);
    throw new UsageError(`${path} cannot be read: ${why}`, "Name a lock file with --output.");
  }
}

function locksIn(path: string, text: string): Readonly<Record<string, ServerLock>> {
  try {
    return readLock(text).servers;
  } catch (reason) {
    const { message, fix } = McpError.from(reason);
    throw new UsageError(`${path}: ${message}`, fix);
  }
}

/** The outcome for one server. */
interface LockOutcome {
  readonly name: string;
  readonly state: "pinned" | "unchanged" | "updated" | "drift" | "missing" | "failed";
  readonly drift: readonly LockDifference[];
  readonly current?: ServerLock;
  /** The names of all servers in the file, if this server is not among them. */
  readonly known?: readonly string[];
  readonly error?: unknown;
}

/** Maximum number of difference lines printed per server. `--json` prints all. */
const MAX_SHOWN_LINES = 1_000;

/** Prints the outcome for each server. */
function printOutcomes(terminal: Terminal, file: string, outcomes: readonly LockOutcome[]): void {
  if (terminal.json) {
    terminal.printJson({ file, servers: Object.fromEntries(outcomes.map((one) => [one.name, jsonOf(one)])) });
    return;
  }
  for (const outcome of outcomes) {
    terminal.print(headline(terminal, file, outcome));
    printDrift(terminal, outcome.drift);
    const advice = adviceOf(outcome);
    if (advice !== undefined) terminal.note(show`${terminal.noteStyle.dim("fix:   ")}${advice}`);
  }
}

function jsonOf({ state, drift, current, error }: LockOutcome): object {
  const failure = error === undefined ? undefined : McpError.from(error);
  return {
    state,
    drift,
    ...(current === undefined ? {} : { counts: countsOf(current) }),
    ...(failure === undefined ? {} : { error: { kind: failure.kind, message: failure.message, fix: failure.fix } }),
  };
}

function countsOf({ tools, prompts, resourceTemplates }: ServerLock) {
  const count = (items: object) => Object.keys(items).length;
  return { tools: count(tools), prompts: count(prompts), resourceTemplates: count(resourceTemplates) };
}

function headline(terminal: Terminal, file: string, { name, state, current, error }: LockOutcome): TerminalText {
  const { bold, green, red, yellow, dim } = terminal.style;
  const offered = current === undefined ? "" : sizeOf(current);
  switch (state) {
    case "pinned":
      return show`${green("pinned")} ${bold(name)} in ${file}: ${offered}`;
    case "unchanged":
      return show`${green("unchanged")} ${bold(name)}: ${offered} ${dim("as pinned")}`;
    case "updated":
      return show`${yellow("updated")} ${bold(name)} in ${file}: ${offered}`;
    case "drift":
      return show`${red("changed")} ${bold(name)}, compared with ${file}`;
    case "missing":
      return show`${red("not pinned")} ${bold(name)}: it is not in ${file}`;
    case "failed":
      return show`${red("failed")} ${bold(name)}: ${McpError.from(error).message}`;
  }
}

function sizeOf(lock: ServerLock): string {
  const { tools, prompts, resourceTemplates } = countsOf(lock);
  const named = [
    [tools, "tool"],
    [prompts, "prompt"],
    [resourceTemplates, "resource template"],
  ] as const;
  const parts = named
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}${count === 1 ? "" : "s"}`);
  return parts.length === 0 ? "no tools, prompts or resource templates" : parts.join(", ");
}

function printDrift(terminal: Terminal, drift: readonly LockDifference[]): void {
  if (drift.length === 0) return;
  const lines = driftText(drift).split("\n");
  for (const line of lines.slice(0, MAX_SHOWN_LINES)) terminal.print(styled(terminal, line));
  if (lines.length > MAX_SHOWN_LINES)
    terminal.print(`  … ${lines.length - MAX_SHOWN_LINES} more lines; --json prints all`);
}

/** Colours removed lines red and added lines green. */
function styled({ style }: Terminal, line: string): TerminalText {
  if (line.startsWith("    - ")) return show`  ${style.red(line)}`;
  if (line.startsWith("    + ")) return show`  ${style.green(line)}`;
  return line.startsWith(" ") ? show`  ${style.dim(line)}` : show`  ${style.bold(line)}`;
}

function adviceOf({ state, known = [], error }: LockOutcome): string | undefined {
  if (state === "drift") return "Use the server only if you trust the changes. To approve them: --update.";
  if (state === "failed") return McpError.from(error).fix;
  if (state !== "missing") return undefined;
  const others = known.length === 0 ? "" : ` The file has: ${known.slice(0, 10).join(", ")}.`;
  return `Pin it: run the same command without --check. If it is pinned under another name, pass that name: --name <name>.${others}`;
}
