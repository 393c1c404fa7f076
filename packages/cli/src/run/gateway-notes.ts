import type { Host, HostedState, ServerStatus } from "@parley/mcp/host";
import { shellAdvice } from "../terminal/shell-advice.js";
import type { Style } from "../terminal/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { joinText, show, type TerminalText } from "../terminal/terminal-text.js";
import type { GatewayServers } from "./gateway-servers.js";

/** Prints the problems of the files before anything is started. */
export function noteProblems(terminal: Terminal, { problems, doubled }: GatewayServers): void {
  const { red, yellow, dim } = terminal.noteStyle;
  for (const { severity, path, message, fix } of problems) {
    const what = severity === "error" ? red("disabled") : yellow("ignored ");
    terminal.note(show`${what} ${path}: ${message}`);
    if (fix !== "") terminal.note(show`${dim("fix:    ")} ${shellAdvice(fix)}`);
  }
  for (const name of new Set(doubled))
    terminal.note(show`${yellow("ignored ")} ${name}: an earlier file has a server with this name`);
}

/**
 * Prints a line whenever the state of a server changes, with the cause and the fix of a failure. Returns a function
 * that stops printing.
 */
export function noteStatus(terminal: Terminal, host: Host): () => void {
  const printed = new Map<string, string>();
  return host.on("status", ({ server, status }) => {
    const { state, lastError } = status;
    // Skip the event if neither the state nor the error changed. The host also emits it when other fields change, and
    // when a server fails again for the same reason.
    const line = `${state} ${state === "ready" ? "" : lastError?.message}`;
    if (printed.get(server) === line) return;
    printed.set(server, line);
    for (const one of statusLines(terminal.noteStyle, server, status)) terminal.note(one);
  });
}

function statusLines(style: Style, server: string, status: ServerStatus): TerminalText[] {
  const { state, lastError, tools, protocolVersion, serverInfo } = status;
  const head = joinText([stateShown(style, state), show` ${server}`]);
  if (state === "ready") {
    const who = serverInfo === undefined ? "" : `${serverInfo.name} ${serverInfo.version}, `;
    return [show`${head}: ${who}${protocolVersion ?? ""}, ${tools} ${tools === 1 ? "tool" : "tools"}`];
  }
  if (lastError === undefined || state === "starting" || state === "stopped") return [head];
  const isLogin = lastError.kind === "auth_required" || lastError.kind === "authorization_failed";
  const fix = isLogin ? `Run \`parley login ${server}\`.` : shellAdvice(lastError.fix ?? "");
  return [show`${head}: ${lastError.message}`, ...(fix === "" ? [] : [show`${style.dim("fix:      ")} ${fix}`])];
}

/** A state in its colour, padded to the length of the longest state. */
export function stateShown(style: Style, state: HostedState): TerminalText {
  const text = state.padEnd(10);
  if (state === "ready") return style.green(text);
  if (state === "failed") return style.red(text);
  return state === "restarting" ? style.yellow(text) : style.dim(text);
}
