import type { Sender } from "../http/http.js";
import type { Platform } from "../platform/platform.js";
import type { Transport } from "./transport.js";

/** A server to be started as a child process. */
export interface CommandTarget {
  /** The program: a path, or a name that is looked up. Never a shell line. */
  command: string;
  args?: readonly string[] | undefined;
  /** Variables for the server, beside the short list that every child gets. */
  env?: Readonly<Record<string, string>> | undefined;
  cwd?: string | undefined;
  /** Names that the server inherits in addition, or `true` for the whole environment. */
  inheritEnv?: boolean | readonly string[] | undefined;
  /** Where the server's stderr goes, beside the ring that is kept for error messages. */
  stderr?: "capture" | "inherit" | ((line: string) => void) | undefined;
  /** Longest message that is read, in bytes. Default: `maxMessageBytes` of `connect`, or 16 MiB. */
  maxMessageBytes?: number | undefined;
}

/** What a runtime brings for reaching servers; chosen by package condition. */
export interface RuntimeTransports {
  /** Starts a server as a child process. Throws an `McpError` with a fix where processes do not exist. */
  command(target: CommandTarget, platform: Platform): Transport;
  /** The fastest way to send HTTP requests here. */
  sender(platform: Platform): Sender;
}
