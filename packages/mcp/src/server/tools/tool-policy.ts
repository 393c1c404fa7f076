/** How the calls of a tool are treated. What is left out is taken from the server's options. */
export interface ToolPolicy {
  /** Turns stringified arguments (`"5"`, `"[1,2]"`) into what the schema asks for; told in `ctx.coercions`. Default: true. */
  coerce?: boolean | undefined;
  /** Report arguments that the schema does not have (default), or ignore them. */
  unknownArguments?: "report" | "ignore" | undefined;
  /** Milliseconds that the handler may run, without the time that it waits for answers of the client. Default: no limit. */
  timeoutMs?: number | undefined;
  /** Bytes that the result may have as JSON. Default: no limit. */
  maxResultBytes?: number | undefined;
  /** What happens to a larger result: cut (default), or kept for `resources/read` and linked. */
  overflow?: "truncate" | "link" | undefined;
}
