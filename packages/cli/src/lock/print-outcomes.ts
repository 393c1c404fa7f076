import { McpError } from "@parley/mcp";
import { driftText, type LockDifference, type ServerLock } from "@parley/mcp/lock";
import { type Shown, show } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";

/** What became of one server. */
export interface LockOutcome {
  readonly name: string;
  readonly state: "pinned" | "unchanged" | "updated" | "drift" | "missing" | "failed";
  readonly drift: readonly LockDifference[];
  readonly current?: ServerLock;
  /** The names that the file has, where it does not have this one. */
  readonly known?: readonly string[];
  readonly error?: unknown;
}

/** Lines of differences that people are shown; programs get all. */
const MOST_LINES = 1_000;

/** Prints what became of the servers. */
export function printOutcomes(terminal: Terminal, file: string, outcomes: readonly LockOutcome[]): void {
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

function headline(terminal: Terminal, file: string, { name, state, current, error }: LockOutcome): Shown {
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
      return show`${red("not pinned")} ${bold(name)}: ${file} does not have it`;
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
  return parts.length === 0 ? "nothing" : parts.join(", ");
}

function printDrift(terminal: Terminal, drift: readonly LockDifference[]): void {
  if (drift.length === 0) return;
  const lines = driftText(drift).split("\n");
  for (const line of lines.slice(0, MOST_LINES)) terminal.print(styled(terminal, line));
  if (lines.length > MOST_LINES) terminal.print(`  … ${lines.length - MOST_LINES} more lines; --json has all`);
}

/** Removed lines red, added ones green, as in every difference. */
function styled({ style }: Terminal, line: string): Shown {
  if (line.startsWith("    - ")) return show`  ${style.red(line)}`;
  if (line.startsWith("    + ")) return show`  ${style.green(line)}`;
  return line.startsWith(" ") ? show`  ${style.dim(line)}` : show`  ${style.bold(line)}`;
}

function adviceOf({ state, known = [], error }: LockOutcome): string | undefined {
  if (state === "drift") return "Use the server only if you trust what changed; approve it by --update.";
  if (state === "failed") return McpError.from(error).fix;
  if (state !== "missing") return undefined;
  const others = known.length === 0 ? "" : ` The file has: ${known.slice(0, 10).join(", ")}.`;
  return `Pin it: the same command without --check; or name its entry by --name.${others}`;
}
