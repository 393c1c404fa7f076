import type { ExtendedClient } from "../../client/extension.js";
import type { CallOptions } from "../../client/options.js";
import type { FollowedTask } from "../../client/task-handle.js";
import { readTask } from "../../era/task-shape.js";
import { RpcError } from "../../jsonrpc/error.js";
import { fromWire, McpError } from "../../protocol/error.js";
import type { DetailedTask, InputRequiredTask } from "../../protocol/features/tasks.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { TaskPushes } from "./task-pushes.js";

/** Bounds of what a server may ask for as the time between two looks. */
const SHORTEST_MS = 20;
const LONGEST_MS = 300_000;
const DEFAULT_POLL_MS = 1000;
/** While the server tells changes by itself, looks only make sure that none was lost. */
const PUSHED_POLL_MS = 30_000;
/** Looks in a row that may fail before the wait does; with growing pauses this is about five minutes. */
const MAX_FAILURES = 16;
/** Questions of one task; each may be a dialog or a paid model call. */
const MAX_QUESTIONS = 64;

/** Failures of the way to the server, which say nothing of the task. */
const PASSING: ReadonlySet<string> = new Set([
  "connection_closed",
  "transport_error",
  "timeout",
  "session_lost",
  "connect_failed",
]);

/** Follows one task: looks at it in intervals or is told of changes, and answers its questions. */
export class ClientTask implements FollowedTask {
  readonly id: string;
  task: DetailedTask | undefined;
  readonly #client: ExtendedClient;
  readonly #pushes: TaskPushes;
  readonly #watchers = new Set<(task: DetailedTask | undefined, error?: unknown) => void>();
  readonly #answered = new Set<string>();
  #following: Promise<DetailedTask> | undefined;

  constructor(client: ExtendedClient, id: string, task?: DetailedTask) {
    this.#client = client;
    this.id = id;
    this.task = task;
    this.#pushes = new TaskPushes(client, id);
  }

  async outcome(signal?: AbortSignal): Promise<CallToolResult> {
    const task = await this.#followed(signal);
    // In the older form the outcome has a request of its own.
    if (this.#client.era.has("tasks/result")) return this.#result(signal);
    if (task.status === "cancelled") throw cancelledTask(task);
    if (task.status === "failed") throw failedTask(task);
    if (task.status === "completed" && task.result !== undefined) return task.result as unknown as CallToolResult;
    throw new McpError("invalid_response", `the task is ${task.status} and has no result`, { data: { task } });
  }

  async #result(signal: AbortSignal | undefined): Promise<CallToolResult> {
    const options = { timeouts: { idleMs: Number.POSITIVE_INFINITY, totalMs: Number.POSITIVE_INFINITY }, signal };
    const result = await this.#client.request("tasks/result", { taskId: this.id }, options);
    // Whoever called the tool checks its result.
    return result as unknown as CallToolResult;
  }

  async cancel(options?: CallOptions): Promise<void> {
    await this.#client.request("tasks/cancel", { taskId: this.id }, options);
    await this.#look().catch(() => {});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<DetailedTask, void> {
    const queue: DetailedTask[] = this.task === undefined ? [] : [this.task];
    let wake = () => {};
    let failure: { error: unknown } | undefined;
    const watch = (task: DetailedTask | undefined, error?: unknown) => {
      // A slow reader needs the newest status, not all of them.
      if (task !== undefined) queue.splice(0, queue.length > 64 ? 1 : 0) && queue.push(task);
      else failure = { error };
      wake();
    };
    this.#watchers.add(watch);
    this.#followed(undefined).catch((error: unknown) => watch(undefined, error));
    try {
      for (;;) {
        const next = queue.shift();
        if (next !== undefined) {
          yield next;
          if (isOver(next)) return;
        } else if (failure !== undefined) throw failure.error;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      this.#watchers.delete(watch);
    }
  }

  /** Waits until the task is over, or in the older form until it has to be asked for its outcome. */
  #followed(signal: AbortSignal | undefined): Promise<DetailedTask> {
    if (this.task !== undefined && isOver(this.task)) return Promise.resolve(this.task);
    this.#following ??= this.#follow().finally(() => {
      this.#following = undefined;
      this.#pushes.close();
    });
    return withSignal(this.#following, signal);
  }

  async #follow(): Promise<DetailedTask> {
    let task = this.task ?? (await this.#look());
    while (!isOver(task)) {
      if (task.status === "input_required") {
        if (this.#client.era.has("tasks/result")) return task;
        await this.#answer(task);
      }
      await this.#pushes.pause(this.#interval(task));
      task = await this.#lookPatiently();
    }
    return task;
  }

  #interval({ pollIntervalMs = DEFAULT_POLL_MS }: DetailedTask): number {
    const asked = Math.min(Math.max(pollIntervalMs, SHORTEST_MS), LONGEST_MS);
    return this.#pushes.open ? Math.max(asked, PUSHED_POLL_MS) : asked;
  }

  async #lookPatiently(): Promise<DetailedTask> {
    for (let failures = 0; ; failures++) {
      try {
        return await this.#look();
      } catch (error) {
        const passing = McpError.is(error) && PASSING.has(error.kind) && !this.#client.closing.aborted;
        if (!passing || failures >= MAX_FAILURES) throw error;
        await this.#pushes.pause(Math.min(500 * 2 ** failures, 30_000));
      }
    }
  }

  async #look(): Promise<DetailedTask> {
    const task = readTask(await this.#client.request("tasks/get", { taskId: this.id }));
    if (task.taskId !== this.id) {
      throw new McpError("invalid_response", "the server answered with another task", { data: { task } });
    }
    const changed = this.task?.lastUpdatedAt !== task.lastUpdatedAt || this.task.status !== task.status;
    this.task = task;
    if (changed) for (const watch of this.#watchers) watch(task);
    return task;
  }

  /**
   * Answers each question once. A task whose question cannot be answered is cancelled, because nobody else will answer it.
   *
   * Spec: Tasks extension, "Input Required", https://modelcontextprotocol.io/extensions/tasks/overview
   */
  async #answer({ inputRequests }: InputRequiredTask): Promise<void> {
    const open = Object.entries(inputRequests ?? {}).filter(([key]) => !this.#answered.has(key));
    if (open.length === 0) return;
    for (const [key] of open) this.#answered.add(key);
    try {
      if (this.#answered.size > MAX_QUESTIONS) {
        throw new McpError("too_many_questions", `the task asked more than ${MAX_QUESTIONS} questions`);
      }
      const answers = await Promise.all(
        open.map(async ([key, question]) => [key, await this.#client.answer(question as never)] as const),
      );
      await this.#client.request("tasks/update", { taskId: this.id, inputResponses: Object.fromEntries(answers) });
    } catch (error) {
      await this.cancel().catch(() => {});
      throw error;
    }
  }
}

function isOver({ status }: DetailedTask): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

function cancelledTask({ statusMessage }: DetailedTask): McpError {
  return new McpError("cancelled", `the task was cancelled${statusMessage === undefined ? "" : `: ${statusMessage}`}`);
}

function failedTask(task: DetailedTask): McpError {
  const { code, message, data } =
    "error" in task && task.error !== undefined
      ? task.error
      : ({} as { code?: number; message?: string; data?: unknown });
  const text = typeof message === "string" ? message : (task.statusMessage ?? "the task failed");
  return fromWire(new RpcError(typeof code === "number" ? code : -32603, text, data));
}

function withSignal<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(McpError.from(signal.reason));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
