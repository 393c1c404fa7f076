/** Whether the annotations of a server's tools may decide anything, such as whether a call is sent again or needs consent. */
export type Trust = "trusted" | "untrusted";

/** Which tools of a server are offered, by the names that the server gives them. `deny` wins. */
export interface ToolNames {
  /** Only these. Default: all. */
  readonly allow?: readonly string[] | undefined;
  /** None of these. Default: none. */
  readonly deny?: readonly string[] | undefined;
}

/** One server of a host, whatever application's file it was read from: a program to start or an address, and what the host makes of it. */
export interface HostServer {
  /** The program to start: a path, or a name that is looked up. Never a shell line. */
  readonly command?: string | undefined;
  /** The program's arguments, passed as they are. */
  readonly args?: readonly string[] | undefined;
  /** Variables for the program, beside the short list that every child gets. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Names of variables that the program inherits in addition, or `true` for the whole environment. Default: none. */
  readonly inheritEnv?: boolean | readonly string[] | undefined;
  /** The folder in which the program starts. Default: the current folder of this process. */
  readonly cwd?: string | undefined;
  /** The address of a server that runs already, in place of `command`. */
  readonly url?: string | undefined;
  /** Sent with every HTTP request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How the server is reached. Default: `stdio` for a `command`; for a `url` whatever the server answers to. */
  readonly transport?: "stdio" | "http" | "sse" | undefined;
  /** Longest message that is read, in bytes. Default: that of the host's connections. */
  readonly maxMessageBytes?: number | undefined;
  /** Kept in the list, but not started. Default: false. */
  readonly disabled?: boolean | undefined;
  /** Whether the host fails to start when this server does. Default: false, because one server should not stop the others. */
  readonly required?: boolean | undefined;
  /** Default: `untrusted`. */
  readonly trust?: Trust | undefined;
  /** Milliseconds for starting, the handshake and the first lists. Default: the host's. */
  readonly startMs?: number | undefined;
  /** Milliseconds for one call as a whole. Default: the host's. */
  readonly callMs?: number | undefined;
  /** Which tools are offered. Default: all. */
  readonly tools?: ToolNames | undefined;
  /** Connections that share the calls, where the server may be started more than once. Default: 1. */
  readonly connections?: number | undefined;
  /** Calls that run at once. Default: the host's. */
  readonly concurrency?: number | undefined;
  /** Calls that wait for a free place; further ones are refused. Default: the host's. */
  readonly queue?: number | undefined;
  /** Calls that begin in a second, on average. Default: no limit. */
  readonly perSecond?: number | undefined;
  /** Calls that may begin at once after a quiet time, with `perSecond`. Default: `perSecond`, rounded down, at least 1. */
  readonly burst?: number | undefined;
  /** What precedes the names of its tools and prompts in the catalogue; `false` for nothing. Default: the server's name. */
  readonly prefix?: string | false | undefined;
  /** Whether all clients of a gateway share the server, or each gets one of its own. Default: `shared`. */
  readonly isolation?: "shared" | "client" | undefined;
}
