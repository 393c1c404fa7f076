import { shownRevision } from "@parley/mcp/protocol";
import type { CommandRun } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import { show, showIndented, type TerminalText } from "../terminal/terminal-text.js";
import { openServer } from "./open-server.js";

/** `parley info`: prints a server's name, revision and capabilities. */
export const info: CommandRun = async (invocation) => {
  const { terminal } = invocation;
  const { signal } = terminal.io;
  const began = performance.now();
  await using server = await openServer(invocation);
  const { client } = server;
  const connectMs = rounded(performance.now() - began);
  const asked = performance.now();
  await client.ping({ signal });
  const latencyMs = rounded(performance.now() - asked);
  const { protocolVersion, era } = shownRevision(client.protocolVersion);
  const { serverInfo, serverCapabilities: capabilities, instructions } = client;
  // Revisions with a handshake use a session; others do not.
  const session = era === "stateful";
  if (terminal.json) {
    terminal.printJson({
      server: serverInfo,
      protocolVersion,
      era,
      session,
      capabilities,
      instructions,
      connectMs,
      latencyMs,
    });
    return EXIT.ok;
  }
  const { bold, dim, cyan } = terminal.style;
  const { name = "unnamed", title } = serverInfo ?? {};
  const { extensions = {}, ...declared } = capabilities;
  const rows: [string, TerminalText][] = [
    ["server", show`${bold(title ?? name)}${title === undefined || title === name ? "" : dim(` (${name})`)}`],
    ["version", show`${serverInfo?.version ?? "unknown"}`],
    ["revision", show`${protocolVersion} ${dim(`(${era})`)}`],
    ["session", show`${session ? "one for this connection" : "none; every request is independent"}`],
    ["latency", show`${latencyMs} ms ${dim(`(connected in ${connectMs} ms)`)}`],
    [
      "offers",
      show`${cyan(
        Object.keys(declared)
          .map((name) => declaredWords(name, declared[name]))
          .join(", "),
      )}`,
    ],
  ];
  const ids = Object.keys(extensions);
  if (ids.length > 0) rows.push(["extensions", show`${cyan(ids.join(", "))}`]);
  if (serverInfo?.websiteUrl !== undefined) rows.push(["website", show`${serverInfo.websiteUrl}`]);
  terminal.printTable(rows.map(([label, value]) => [dim(label), value]));
  if (instructions !== undefined && instructions !== "") {
    terminal.print(show`${dim("instructions")}`);
    terminal.print(showIndented(instructions));
  }
  return EXIT.ok;
};

/** Formats a capability with its flags: `resources (subscribe, listChanged)`. */
function declaredWords(name: string, value: unknown): string {
  const flags = Object.entries(Object(value) as object).flatMap(([flag, on]) => (on === false ? [] : [flag]));
  return flags.length === 0 ? name : `${name} (${flags.join(", ")})`;
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
