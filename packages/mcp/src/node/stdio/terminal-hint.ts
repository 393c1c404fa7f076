import { printableLine } from "../../encoding/printable.js";
import type { Implementation } from "../../protocol/implementation.js";
import { builtin } from "../builtin.js";

/** The parts of `process` that the command line of this program is built from. */
type Launch = Pick<NodeJS.Process, "execPath" | "execArgv" | "argv" | "platform" | "cwd">;

/**
 * Returns the text for a person who started a stdio server in a terminal: what the program is, and commands to try. A
 * separate module, because applications start servers with a pipe and never load it.
 */
export function terminalHint(info: Implementation | undefined, launch: Launch = process): string {
  const who = info === undefined ? "This program" : printableLine(`${info.title ?? info.name} ${info.version}`);
  const command = commandLine(launch);
  return [
    `${who} is an MCP server. An application starts this program and speaks JSON-RPC with it on stdin and stdout.`,
    "To try it, run one of these instead:",
    `  npx @parley/cli inspect -- ${command}`,
    `  npx @parley/cli list -- ${command}`,
    `  npx @parley/cli call <tool> name=value -- ${command}`,
    "Ctrl-C ends it.",
    "",
  ].join("\n");
}

/** The command that started this process. Paths inside the current folder are relative to it. */
function commandLine({ execPath, execArgv, argv, platform, cwd }: Launch): string {
  const { basename, isAbsolute, relative } = builtin("node:path");
  const script = argv[1] ?? "";
  const inside = script === "" ? "" : relative(cwd(), script);
  const path = inside.startsWith("..") || isAbsolute(inside) ? script : inside;
  const words = [basename(execPath).replace(/\.exe$/i, ""), ...execArgv, path, ...argv.slice(2)];
  return words
    .filter((word) => word !== "")
    .map((word) => printableLine(quoted(word, platform)))
    .join(" ");
}

function quoted(word: string, platform: string): string {
  const isWindows = platform === "win32";
  if ((isWindows ? /^[\w@+=:,./\\-]+$/ : /^[\w@%+=:,./-]+$/).test(word)) return word;
  return isWindows ? `"${word.replaceAll('"', '\\"')}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
