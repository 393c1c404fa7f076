import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { lateTransport } from "../../transport/late-transport.js";
import type { Transport } from "../../transport/transport.js";
import { platform as nodePlatform } from "../platform.js";
import { shownCommand } from "./shown-command.js";

/** How to start a server as a child process. */
export interface StdioOptions {
  /** The program: a path, or a name that is looked up in `PATH`. Never a shell line. */
  command: string;
  args?: readonly string[];
  /** Variables for the server, beside the short list that every child gets. */
  env?: Readonly<Record<string, string>>;
  /** Names that the server inherits in addition, or `true` for the whole environment; default none. */
  inheritEnv?: boolean | readonly string[];
  cwd?: string;
  /**
   * Where the server's stderr goes. It is always read, and its last 64 KiB are kept for error messages; default that
   * only. `inherit` also copies it to this process's stderr, a function receives it line by line.
   */
  stderr?: "capture" | "inherit" | ((line: string) => void);
  /** Longest message that is read, in bytes; default 16 MiB. */
  maxMessageBytes?: number;
}

/**
 * A transport that starts the server as a child process and talks over its stdin and stdout.
 *
 * The process starts with `open` and ends with `close`, with everything it started, within four seconds. Lines on its
 * stdout that are no messages are skipped and reported as faults. When it ends by itself, everything pending rejects with
 * an `McpError` whose `data` is a `LaunchReportData`. A transport starts one process; to start again, make another one.
 */
export function stdioTransport(options: StdioOptions, platform: Platform = nodePlatform): Transport {
  const { spawn } = platform;
  if (spawn === undefined) {
    throw new McpError("unsupported", "this platform starts no processes", { fix: "Use another transport here." });
  }
  const target = shownCommand(options.command, options.args ?? []);
  return lateTransport(target, async () => {
    const { childTransport } = await import("./child-transport.js");
    return childTransport(options, target, { ...platform, spawn });
  });
}
