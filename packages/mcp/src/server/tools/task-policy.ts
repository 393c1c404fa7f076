/** Whether a tool runs as a task: where the client can take one, always, or never. */
export type TaskSupport = "optional" | "required" | "never";

/**
 * How a tool runs as a task.
 *
 * With a `storage` that processes share, a task outlives its process: another one runs the handler again from its beginning, where
 * finished steps and answered questions resolve with what is stored. A step runs at most once, and the work between steps may be
 * repeated. A task that ended stays as it ended, and one that expires ends its handler by `ctx.signal`.
 */
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
   * How often the handler may begin again after its process ended before the first step was done or in the middle of a step, which
   * then runs once more. Default: 0, because such work may have been done; the task fails and says so. After a finished step or a
   * question it goes on without that, unless ten processes in a row ended with it and it got no further.
   */
  retry?: number | undefined;
}
