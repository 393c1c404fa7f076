import { resolve } from "node:path";
import type { Client } from "@parley/mcp";
import { compareLock, type LockDifference, lockOf, type ServerLock } from "@parley/mcp/lock";
import type { CommandRun, Invocation } from "../commands/command.js";
import { readConfigServers, usualFiles } from "../target/config-servers.js";
import { DECLINING } from "../target/declining.js";
import { openTarget } from "../target/open-target.js";
import { type ServerTarget, takeTarget } from "../target/target.js";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";
import { UsageError } from "../terminal/usage-error.js";
import { LockStore } from "./lock-store.js";
import { type LockOutcome, printOutcomes } from "./print-outcomes.js";

/** `parley lock`: pins what servers offer, or says in what they differ from their pins. */
export const lock: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  if (options.flag("check") && options.flag("update")) {
    throw new UsageError("--check and --update exclude each other", "Use --check to compare, --update to approve.");
  }
  const file = options.text("output") ?? "mcp.lock.json";
  const store = new LockStore(resolve(terminal.io.cwd, file));
  if (options.flag("check") && !store.exists) {
    throw new UsageError(`there is no ${file}`, "Pin the server first: the same command without --check.");
  }
  const outcomes = options.flag("all") ? await lockAll(invocation, store) : [await lockOne(invocation, store)];
  // Never after a check: it may run where others read the file.
  if (!options.flag("check")) store.write();
  printOutcomes(terminal, file, outcomes);
  return exitCode(outcomes);
};

async function lockOne(invocation: Invocation, store: LockStore): Promise<LockOutcome> {
  const [target, rest] = await takeTarget(invocation);
  const [extra] = rest;
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`, "Name one server, or use --all.");
  await using client = await openTarget(target, invocation, DECLINING);
  const name = invocation.options.text("name") ?? nameOf(target, client);
  return compared(invocation, store, name, await lockOf(client));
}

/** A configured server goes by its name there; others by what they call themselves. */
function nameOf(target: ServerTarget, { serverInfo }: Client): string {
  const isConfigured =
    target.kind !== "module" && target.name !== target.entry.url && target.name !== target.entry.command;
  return isConfigured ? target.name : (serverInfo?.name ?? target.name);
}

/** One that fails keeps nobody from hearing of the others. */
async function lockAll(invocation: Invocation, store: LockStore): Promise<LockOutcome[]> {
  const { words, program, options, terminal } = invocation;
  if (words.length > 0 || program.length > 0 || options.text("name") !== undefined) {
    throw new UsageError("--all takes neither a target nor --name", "Leave out one of them.");
  }
  const config = options.text("config");
  const [file] =
    config === undefined ? usualFiles(terminal.io) : [readConfigServers(resolve(terminal.io.cwd, config), terminal.io)];
  const names = Object.entries(file?.servers ?? {}).flatMap(([name, { disabled }]) =>
    disabled === true ? [] : [name],
  );
  if (file === undefined || names.length === 0) {
    throw new UsageError("there is no configuration with servers", "Name a file with `mcpServers` by --config.");
  }
  const outcomes: LockOutcome[] = [];
  for (const name of names) {
    if (terminal.io.signal.aborted) break;
    try {
      const [target] = await takeTarget({ ...invocation, words: [name] });
      await using client = await openTarget(target, invocation, DECLINING);
      outcomes.push(compared(invocation, store, name, await lockOf(client)));
    } catch (error) {
      outcomes.push({ name, state: "failed", error, drift: [] });
    }
  }
  return outcomes;
}

function compared({ options }: Invocation, store: LockStore, name: string, current: ServerLock): LockOutcome {
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
