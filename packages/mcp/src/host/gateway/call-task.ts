import type { FollowedTask } from "../../client/contract/task-handle.js";
import type { Question } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { META } from "../../protocol/meta.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";

type Ask = (question: Question) => Promise<object>;

/** Maximum number of messages that are held until the caller's task exists. Further log messages are dropped. */
const MAX_HELD = 64;

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** The server's task for a forwarded call, if the server created one. */
export class CallTask {
  #task: FollowedTask | undefined;
  #onEnd: () => void = () => {};
  #ask: Ask | undefined;
  #asked = 0;
  #following: Promise<object> | undefined;
  /** The call to follow. Undefined until the caller's own task exists. */
  #begun: ServerCall | undefined;
  /** The highest progress published so far. */
  #reached = 0;
  /** Messages to send when the caller's task exists. */
  readonly #held = new Map<unknown, () => void>();
  /** Functions that resume questions which arrived before the caller could be asked. */
  readonly #early: (() => void)[] = [];

  get isStarted(): boolean {
    return this.#task !== undefined;
  }

  /** Sets the task that the server created. `over` is called when the task is no longer followed. */
  started(task: FollowedTask, over: () => void): void {
    this.#task = task;
    this.#onEnd = over;
  }

  /** Forwards a question of the task to the caller that follows it. Waits until the caller can be asked. */
  async ask(question: Question, signal: AbortSignal | undefined): Promise<object> {
    if (this.#ask === undefined) await new Promise<void>((resolve) => void this.#early.push(resolve));
    if (signal?.aborted === true || this.#ask === undefined) {
      throw new McpError("cancelled", "the caller no longer follows this task");
    }
    return this.#ask(question);
  }

  progress(progress: { progress: number; total?: number | undefined; message?: string | undefined }): void {
    this.recordProgress(progress.progress);
    if (this.#begun !== undefined) this.#begun.ctx.progress(progress.progress, progress);
    else this.#held.set("progress", () => this.progress(progress));
  }

  /** Records progress that was reported to the caller. */
  recordProgress(progress: number): void {
    if (progress > this.#reached) this.#reached = progress;
  }

  /** Runs `act` as soon as the caller's own task exists. */
  runWhenBegun(act: () => void): void {
    if (this.#begun !== undefined) act();
    else if (this.#held.size < MAX_HELD) this.#held.set(act, act);
  }

  /**
   * Turns the caller's call into a task as well, if the caller accepts one, and resolves with the result of the
   * server's task.
   */
  follow(call: ServerCall): Promise<object> {
    this.#following ??= this.#follow(call);
    return this.#following;
  }

  get isFollowed(): boolean {
    return this.#following !== undefined;
  }

  async #follow(call: ServerCall): Promise<object> {
    const task = this.#task;
    if (task === undefined) throw new McpError("internal_error", "the call did not become a task");
    const { signal } = call;
    const cancel = () => void task.cancel().catch(() => {});
    try {
      const { admission } = call.root;
      const beforeTool = admission?.beforeTool;
      if (admission !== undefined) admission.beforeTool = undefined;
      if (beforeTool === undefined) await call.ctx.startTask();
      else await beforeTool();
      this.#begun = call;
      for (const send of this.#held.values()) send();
      this.#held.clear();
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
      this.#ask = (question) => this.#forwardQuestion(question, call);
      for (const go of this.#early.splice(0)) go();
      void this.#publishStatus(task, call);
      return withoutTask(await task.outcome(signal));
    } catch (error) {
      // Following the task failed, for example because the caller is gone. No other client knows the server's task, so
      // cancel it.
      cancel();
      throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#ask = undefined;
      for (const go of this.#early.splice(0)) go();
      this.#onEnd();
    }
  }

  #forwardQuestion(question: Question, call: ServerCall): Promise<object> {
    this.#asked++;
    const key = `gateway.task.${this.#asked}`;
    // Safe: askers reject every answer that is not an object.
    return withAsking(({ forwardQuestion }) => forwardQuestion(call, question, key)) as Promise<object>;
  }

  /**
   * Publishes the status messages of the server's task as progress messages of the caller's call. They become the
   * status messages of the caller's task.
   */
  async #publishStatus(task: FollowedTask, call: ServerCall): Promise<void> {
    let last: string | undefined;
    try {
      for await (const { status, statusMessage } of task) {
        // The message of an ended task may be the text of an unexpected error. The caller's task gets its message from
        // its own outcome.
        if (ENDED.has(status)) return;
        if (statusMessage === undefined || statusMessage === last) continue;
        last = statusMessage;
        // Adds only a tiny amount: progress must increase with each message, and the server's later progress must not
        // be below this value.
        this.#reached += Number.EPSILON * Math.max(2 * Math.abs(this.#reached), 1);
        call.ctx.progress(this.#reached, { message: statusMessage });
      }
    } catch {
      // The call that waits for the result reports the error.
    }
  }
}

/** Removes the id of the server's task, which the caller does not know. */
function withoutTask(result: object): object {
  const { _meta: meta, ...rest } = result as { _meta?: unknown };
  if (!isObject(meta) || !Object.hasOwn(meta, META.relatedTask)) return result;
  const { [META.relatedTask]: _task, ...others } = meta;
  return Object.keys(others).length === 0 ? rest : { ...rest, _meta: others };
}
