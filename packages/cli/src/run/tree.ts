import { setTimeout as wait } from "node:timers/promises";
import { McpError } from "@parley/mcp";
import type { ServerStatus } from "@parley/mcp/host";
import { printTree } from "@parley/mcp/supervision";
import type { CommandRun } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { show, showBlock, TerminalText } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { stateShown } from "./gateway-notes.js";
import { type GatewayReport, gatewayReports } from "./tree-socket.js";

const POLL_MS = 1_000;
/** Moves the terminal's cursor to the first line, and clears the screen. */
const CLEAR = new TerminalText("\u001b[H\u001b[2J", "");

/** `parley tree`: shows the servers of a running gateway. */
export const tree: CommandRun = async ({ words, options, terminal }) => {
  const [word, ...others] = words;
  if (others.length > 0) throw new UsageError(`unexpected argument "${others[0]}"`, "Name one gateway.");
  const reports = await gatewayReports(terminal.io);
  if (reports.length === 0) {
    throw new McpError("connect_failed", "no gateway of this user is running", {
      fix: "Start one: `parley gateway --config <file> --http`.",
    });
  }
  const found = word === undefined ? (reports.length === 1 ? reports[0] : undefined) : findGateway(word, reports);
  if (options.flag("watch")) {
    if (found === undefined) throw new UsageError("several gateways are running", `Name one: ${pidsOf(reports)}.`);
    await watchGateway(terminal, found);
  } else if (terminal.json) terminal.printJson(word === undefined ? { gateways: reports } : found);
  else if (found === undefined) printGateways(terminal, reports);
  else printGateway(terminal, found);
  return EXIT.ok;
};

function findGateway(word: string, reports: readonly GatewayReport[]): GatewayReport {
  const found = reports.filter(({ pid, name }) => String(pid) === word || name === word);
  const [only] = found;
  if (only === undefined) throw new UsageError(`no gateway "${word}" is running`, `Use one of: ${pidsOf(reports)}.`);
  if (found.length > 1)
    throw new UsageError(`${found.length} gateways are named "${word}"`, `Use its pid: ${pidsOf(found)}.`);
  return only;
}

function pidsOf(reports: readonly GatewayReport[]): string {
  return reports
    .slice(0, 20)
    .map(({ pid, name }) => `${pid} (${name})`)
    .join(", ");
}

/**
 * Prints a gateway repeatedly until it ends or the user interrupts: every second on a terminal, otherwise only after a
 * change.
 */
async function watchGateway(terminal: Terminal, first: GatewayReport): Promise<void> {
  const { io } = terminal;
  let shown = "";
  let report: GatewayReport | undefined = first;
  while (report !== undefined && !io.signal.aborted) {
    const text = JSON.stringify(report, (key, value: unknown) =>
      key === "uptimeMs" || key === "latencyMs" ? 0 : value,
    );
    const isScreen = io.stdout.isTTY === true && !terminal.json;
    if (isScreen || text !== shown) present(terminal, report, isScreen, shown === "");
    shown = text;
    await wait(POLL_MS, undefined, { signal: io.signal }).catch(() => {});
    report = (await gatewayReports(terminal.io)).find(({ pid }) => pid === first.pid);
  }
  if (report === undefined) terminal.note("the gateway has ended");
}

function present(terminal: Terminal, report: GatewayReport, isScreen: boolean, isFirst: boolean): void {
  if (terminal.json) return terminal.printJsonLine(report);
  if (isScreen) terminal.print(CLEAR);
  else if (!isFirst) terminal.print();
  printGateway(terminal, report);
}

/** Prints the supervision tree of a gateway, a line for each server, and the last errors. */
function printGateway(terminal: Terminal, report: GatewayReport): void {
  const { bold, dim } = terminal.style;
  terminal.print(show`${bold(report.name)}  pid ${report.pid}  at ${report.serving}  since ${report.startedAt}`);
  for (const line of printTree(report.tree).split("\n")) terminal.print(showBlock(line));
  terminal.print();
  const servers = Object.entries(report.servers);
  const heads = ["server", "state", "restarts", "calls", "tools", "revision"].map((head) => dim(head));
  terminal.printTable([heads, ...servers.map(([name, status]) => rowOf(terminal, name, status))]);
  for (const [name, { lastError }] of servers) {
    if (lastError === undefined) continue;
    terminal.print();
    terminal.print(show`${name}: ${lastError.message}`);
    if ((lastError.fix ?? "") !== "") terminal.print(show`${dim("fix:")} ${lastError.fix ?? ""}`);
  }
}

function rowOf({ style }: Terminal, name: string, status: ServerStatus): (TerminalText | string | number)[] {
  const { state, restarts, calls, tools, protocolVersion, stale, circuit } = status;
  const counts = [`${calls.running} running`];
  if (calls.waiting > 0) counts.push(`${calls.waiting} waiting`);
  if (calls.refused > 0) counts.push(`${calls.refused} refused`);
  if (circuit !== "closed") counts.push(`circuit ${circuit}`);
  const known = stale ? `${tools}, from an earlier run` : tools;
  return [name, stateShown(style, state), restarts, counts.join(", "), known, protocolVersion ?? ""];
}

/** Prints one line for each gateway. */
function printGateways(terminal: Terminal, reports: readonly GatewayReport[]): void {
  const heads = ["pid", "name", "ready", "at", "files"].map((head) => terminal.style.dim(head));
  const rows = reports.map(({ pid, name, serving, servers, files }) => {
    const all = Object.values(servers);
    const ready = all.filter(({ state }) => state === "ready").length;
    return [pid, name, `${ready} of ${all.length}`, serving, files.join(", ")];
  });
  terminal.printTable([heads, ...rows]);
}
