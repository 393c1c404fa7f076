import type { FollowedTask } from "../../client/task-handle.js";
import type { Question } from "../../era/era.js";
import { McpError } from "../../protocol/error.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";

type Ask = (question: Question) => Promise<object>;

/** The task of a server that a passed call became, if it became one. */
export class CallTask {
  #task: FollowedTask | undefined;
  #over: () => void = () => {};
  #ask: Ask | undefined;
  #asked = 0;
  /** Questions that came before anybody could be asked. */
  readonly #early: (() => void)[] = [];

  get isStarted(): boolean {
    return this.#task !== undefined;
  }

  /** The server made it a task; `over` is to be called when nobody follows it any more. */
  started(task: FollowedTask, over: () => void): void {
    this.#task = task;
    this.#over = over;
  }

  /** Puts a question of the task to whoever follows it. */
  async ask(question: Question, signal: AbortSignal | undefined): Promise<object> {
    if (this.#ask === undefined) await new Promise<void>((resolve) => void this.#early.push(resolve));
    if (signal?.aborted === true || this.#ask === undefined) {
      throw new McpError("cancelled", "nobody waits for this answer");
    }
    return this.#ask(question);
  }

  /** Makes the caller's call a task as well, if the caller takes one, and gives the result of the server's. */
  async follow(call: ServerCall): Promise<object> {
    const task = this.#task;
    if (task === undefined) throw new McpError("internal_error", "the call did not become a task");
    const { signal } = call;
    const cancel = () => void task.cancel().catch(() => {});
    try {
      const { root } = call;
      const { beforeTool } = root;
      root.beforeTool = undefined;
      if (beforeTool === undefined) await call.ctx.startTask();
      else await beforeTool();
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
      this.#ask = (question) => this.#put(question, call);
      for (const go of this.#early.splice(0)) go();
      void this.#tellStatus(task, call);
      return await task.outcome(signal);
    } catch (error) {
      // Whoever followed it is gone, and nobody else knows it.
      cancel();
      throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#ask = undefined;
      for (const go of this.#early.splice(0)) go();
      this.#over();
    }
  }

  #put(question: Question, call: ServerCall): Promise<object> {
    this.#asked++;
    const key = `gateway.task.${this.#asked}`;
    // Raw answers are objects: askers refuse anything else.
    return withAsking(({ forwardQuestion }) => forwardQuestion(call, question, key)) as Promise<object>;
  }

  /** The message of the server's task is that of the caller's, which keeps messages of progress. */
  async #tellStatus(task: FollowedTask, call: ServerCall): Promise<void> {
    let told: string | undefined;
    let progress = 0;
    try {
      for await (const { statusMessage } of task) {
        if (statusMessage === undefined || statusMessage === told) continue;
        told = statusMessage;
        progress++;
        call.ctx.progress(progress, { message: statusMessage });
      }
    } catch {
      // Whoever waits for the result is told why.
    }
  }
}
