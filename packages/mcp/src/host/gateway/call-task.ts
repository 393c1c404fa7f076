import type { FollowedTask } from "../../client/contract/task-handle.js";
import type { Question } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { META } from "../../protocol/meta.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";

type Ask = (question: Question) => Promise<object>;

/** Messages that are kept while the caller's task is stored. */
const MOST_HELD = 64;

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** The task of a server that a passed call became, if it became one. */
export class CallTask {
  #task: FollowedTask | undefined;
  #over: () => void = () => {};
  #ask: Ask | undefined;
  #asked = 0;
  #following: Promise<object> | undefined;
  /** The caller's call, once it is a task as well. */
  #begun: ServerCall | undefined;
  /** The progress that was told so far. */
  #reached = 0;
  /** What is to be told then. */
  readonly #held = new Map<unknown, () => void>();
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

  progress(progress: { progress: number; total?: number | undefined; message?: string | undefined }): void {
    this.noted(progress.progress);
    if (this.#begun !== undefined) this.#begun.ctx.progress(progress.progress, progress);
    else this.#held.set("progress", () => this.progress(progress));
  }

  /** Progress that the caller is told of. */
  noted(progress: number): void {
    if (progress > this.#reached) this.#reached = progress;
  }

  /** Does what is about a task when the caller's call is one, too. */
  whenBegun(act: () => void): void {
    if (this.#begun !== undefined) act();
    else if (this.#held.size < MOST_HELD) this.#held.set(act, act);
  }

  /** Makes the caller's call a task as well, if the caller takes one, and gives the result of the server's. */
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
      for (const tell of this.#held.values()) tell();
      this.#held.clear();
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
      this.#ask = (question) => this.#put(question, call);
      for (const go of this.#early.splice(0)) go();
      void this.#tellStatus(task, call);
      return withoutTask(await task.outcome(signal));
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
    try {
      for await (const { status, statusMessage } of task) {
        // The message of an ended task may be the text of an unexpected error; the caller's task has the one of its own outcome.
        if (ENDED.has(status)) return;
        if (statusMessage === undefined || statusMessage === told) continue;
        told = statusMessage;
        // So little more than before that progress which the server itself reports is never below it.
        this.#reached += Number.EPSILON * Math.max(2 * Math.abs(this.#reached), 1);
        call.ctx.progress(this.#reached, { message: statusMessage });
      }
    } catch {
      // Whoever waits for the result is told why.
    }
  }
}

/** A result without the id of the server's task, which the caller does not know. */
function withoutTask(result: object): object {
  const { _meta: meta, ...rest } = result as { _meta?: unknown };
  if (!isObject(meta) || !Object.hasOwn(meta, META.relatedTask)) return result;
  const { [META.relatedTask]: _task, ...others } = meta;
  return Object.keys(others).length === 0 ? rest : { ...rest, _meta: others };
}
