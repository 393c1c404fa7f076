/** How calls of a tool are treated. A tool's own value replaces the one in the server's option `tools`. */
export interface ToolPolicy {
  /**
   * Converts arguments that came as text (`"5"`, `"[1,2]"`) to the type in the schema, and lists them in `ctx.coercions`.
   * Default: true, because models often send numbers and lists as text.
   */
  coerce?: boolean | undefined;
  /**
   * Whether arguments that the schema does not have are reported to the model or ignored. Default: `"report"`, which refuses
   * what a closed schema refuses, and otherwise only what looks like a misspelling of an argument that is absent.
   */
  unknownArguments?: "report" | "ignore" | undefined;
  /** Milliseconds that the handler may run, not counting the time it waits for answers of the client. Default: no limit. */
  timeoutMs?: number | undefined;
  /** Largest size of the result as JSON, in bytes; at least 1024. Default: no limit. */
  maxResultBytes?: number | undefined;
  /** What happens to a larger result: it is cut, or stored for `resources/read` and linked. Default: `"truncate"`. */
  overflow?: "truncate" | "link" | undefined;
}
