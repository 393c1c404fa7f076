import type { Sender } from "../http/http.js";
import type { Platform } from "../platform/platform.js";
import type { Transport } from "./transport.js";

/** A server that is started as a child process. */
export interface CommandTarget {
  /** The program: a path, or a name that is searched in `PATH`. Never a shell line. */
  command: string;
  /** The arguments, passed as they are. Default: none. */
  args?: readonly string[] | undefined;
  /** Environment variables for the server, in addition to the few that every child process gets. Default: none. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The working directory of the server. Default: that of this process. */
  cwd?: string | undefined;
  /** Names of further variables of this process that the server inherits, or `true` for all of them. Default: none. */
  inheritEnv?: boolean | readonly string[] | undefined;
  /**
   * Handling of the server's stderr. `capture` stores the last lines for error messages. `inherit` also copies stderr
   * to that of this process. A function also receives each line. Default: `capture`.
   */
  stderr?: "capture" | "inherit" | ((line: string) => void) | undefined;
  /** Maximum length of a message that is read, in bytes. Default: `maxMessageBytes` of `connect`, or 16 MiB. */
  maxMessageBytes?: number | undefined;
}

/** The transports of a runtime. The export conditions of the package select the implementation. */
export interface RuntimeTransports {
  /** Starts a server as a child process. Throws an `McpError` with a fix in runtimes without processes. */
  command(target: CommandTarget, platform: Platform): Transport;
  /** Returns the fastest HTTP sender of the runtime. */
  sender(platform: Platform): Sender;
}
