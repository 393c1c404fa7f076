import { printableLine } from "../../encoding/printable.js";
import { shownUrl } from "../../http/shown-url.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { checkCommand } from "../../transport/check-command.js";
import { lateTransport } from "../../transport/late-transport.js";
import type { Transport } from "../../transport/transport.js";
import { platform as nodePlatform } from "../platform.js";

/** How to start a server as a child process. */
export interface StdioOptions {
  /** Program to start: a path, or a name to look up in `PATH`. Not a shell command line. */
  command: string;
  /** Arguments of the program. They are passed unchanged, without a shell. Default: none. */
  args?: readonly string[] | undefined;
  /**
   * Environment variables for the server, in addition to the few variables that every child inherits. Default: none.
   */
  env?: Readonly<Record<string, string>> | undefined;
  /** Names of further variables to inherit, or `true` for the whole environment. Default: none. */
  inheritEnv?: boolean | readonly string[] | undefined;
  /** Working directory of the program. Default: the current folder of this process. */
  cwd?: string | undefined;
  /**
   * Handling of the server's stderr. `capture` stores the last 64 KiB for error messages. `inherit` also copies stderr
   * to the stderr of this process. A function also receives stderr line by line. Default: `capture`.
   */
  stderr?: "capture" | "inherit" | ((line: string) => void) | undefined;
  /** Maximum size of a received message, in bytes. Default: 16 MiB. */
  maxMessageBytes?: number | undefined;
}

/**
 * Creates a transport that starts the server as a child process and communicates over its stdin and stdout.
 *
 * `open` starts the process. `close` ends the process and its descendants within four seconds. Lines on its stdout that
 * are not messages are skipped and reported as faults. If the process exits by itself, all pending requests reject with
 * an `McpError` whose `data` is a `LaunchReportData`. A transport starts one process; to restart, create another
 * transport.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function stdioTransport(options: StdioOptions, platform: Platform = nodePlatform): Transport {
  checkOptions("stdioTransport", options, "command args env inheritEnv cwd stderr maxMessageBytes");
  checkCommand(options);
  const { spawn } = platform;
  if (spawn === undefined) {
    throw new McpError("unsupported", "this platform cannot start processes", { fix: "Use another transport." });
  }
  const target = shownCommand(options.command, options.args ?? []);
  return lateTransport(target, async () => {
    const { childTransport } = await import("./child-transport.js");
    return childTransport(options, target, { ...platform, spawn });
  });
}

const SECRET_NAME = "[\\w.-]*(?:key|token|secret|passw|credential|auth(?!or(?!iz)))[\\w.-]*";
/** Matches `--api-key=…`, `API_TOKEN=…` and `Authorization: …`. */
const NAMED = new RegExp(`^(-{0,2}${SECRET_NAME}\\s*[:=]\\s*).`, "is");
/** Matches `--api-key`, whose value is the next argument. */
const FLAG = new RegExp(`^-{1,2}${SECRET_NAME}$`, "i");

/**
 * Maximum length of a displayed argument. Longer arguments are shortened: they are programs or data, which do not help
 * to identify the server.
 */
const MAX_SHOWN = 120;

function shortened(arg: string): string {
  return printableLine(arg.length > MAX_SHOWN ? `${arg.slice(0, MAX_SHOWN)}…` : arg);
}

/**
 * Formats a command for error messages. Hides the values of arguments whose name suggests a key, token or password.
 */
export function shownCommand(command: string, args: readonly string[]): string {
  const shown = args.map((arg, index) => {
    if (index > 0 && FLAG.test(args[index - 1] ?? "")) return "…";
    const name = NAMED.exec(arg)?.[1];
    if (name !== undefined) return `${name}…`;
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(arg) ? shownUrl(arg) : arg;
  });
  return [command, ...shown.map(shortened)].join(" ");
}
