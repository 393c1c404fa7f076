/** Whether a tool runs as a task: where the client can take one, always, or never. */
export type TaskSupport = "optional" | "required" | "never";

/** How a tool runs as a task. */
export interface TaskPolicy {
  /** Where the client can take a task, or always: calls of other clients are then refused. */
  support: TaskSupport;
  /**
   * When the task begins: with the call, or when the handler calls `ctx.startTask()`. Questions before that are part of the
   * call. Default: `call`.
   */
  begin?: "call" | "handler" | undefined;
  /** Milliseconds from its creation that the task and its result are kept. Default: that of the extension. */
  ttlMs?: number | undefined;
  /** Milliseconds that clients should wait between two looks at it. Default: that of the extension. */
  pollIntervalMs?: number | undefined;
  /**
   * How often the handler may begin again after its process ended before the first step or in the middle of one. Default: 0,
   * because work may then happen twice; the task fails and says why. After a finished step or a question it always goes on.
   */
  retry?: number | undefined;
}
