import { printTree, type ServerStatus } from "@parley/mcp/host";
import { type Shown, show, showBlock } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";
import { stateShown } from "./gateway-notes.js";
import type { GatewayReport } from "./tree-socket.js";

/** Prints a gateway: its supervision, and a line for each server, with what is wrong. */
export function printGateway(terminal: Terminal, report: GatewayReport): void {
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

function rowOf({ style }: Terminal, name: string, status: ServerStatus): (Shown | string | number)[] {
  const { state, restarts, calls, tools, protocolVersion, stale, circuit } = status;
  const counts = [`${calls.running} running`];
  if (calls.waiting > 0) counts.push(`${calls.waiting} waiting`);
  if (calls.refused > 0) counts.push(`${calls.refused} refused`);
  if (circuit !== "closed") counts.push(`circuit ${circuit}`);
  const known = stale ? `${tools}, of an earlier run` : tools;
  return [name, stateShown(style, state), restarts, counts.join(", "), known, protocolVersion ?? ""];
}

/** Prints one line for each gateway. */
export function printGateways(terminal: Terminal, reports: readonly GatewayReport[]): void {
  const heads = ["pid", "name", "ready", "at", "files"].map((head) => terminal.style.dim(head));
  const rows = reports.map(({ pid, name, serving, servers, files }) => {
    const all = Object.values(servers);
    const ready = all.filter(({ state }) => state === "ready").length;
    return [pid, name, `${ready} of ${all.length}`, serving, files.join(", ")];
  });
  terminal.printTable([heads, ...rows]);
}
