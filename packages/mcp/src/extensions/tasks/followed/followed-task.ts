import type { ExtendedClient } from "../../../client/contract/extension.js";
import type { CallOptions } from "../../../client/contract/options.js";
import type { FollowedTask } from "../../../client/contract/task-handle.js";
import { neverUnhandled } from "../../../encoding/maybe-promise.js";
import { readTask } from "../../../era/task-shape.js";
import { isObject } from "../../../jsonrpc/message.js";
import type { BoundedMap } from "../../../platform/bounded-map.js";
import { onAbort } from "../../../platform/on-abort.js";
import { McpError } from "../../../protocol/error.js";
import { type DetailedTask, isFinalStatus } from "../../../protocol/features/tasks.js";
import type { CallToolResult } from "../../../protocol/features/tools.js";
import { isTransientFailure, outlivedTaskError, retryAfterOf, taskOutcome } from "./task-outcome.js";
import { type QuestionAnswers, TaskQuestions, unableToAnswer } from "./task-questions.js";

/** Bounds for the poll interval that a server may request, and the interval if it requests none. */
const MIN_POLL_MS = 20;
const MAX_POLL_MS = 300_000;
const DEFAULT_POLL_MS = 1000;
/**
 * The largest random addition to a pause, as a fraction of the pause. Without it, clients that started together would
 * always poll together.
 */
const JITTER = 0.1;
/** Minimum poll interval while the server sends notifications. Polling then only guards against lost notifications. */
const PUSHED_POLL_MS = 30_000;
/**
 * Maximum number of times that a failed request is repeated before the wait fails. With the growing pauses, this takes
 * about five minutes.
 */
const MAX_FAILURES = 16;
/** Time to wait for a task beyond its time to live, because clocks and networks may be slow. */
const GRACE_MS = 60_000;
/** Maximum number of unread changes that an iteration buffers. Beyond that, the oldest change is dropped. */
const MAX_UNREAD = 64;
/**
 * Time for which a task is only polled, before the client opens a notification stream. For a short task, a stream costs
 * more than it saves.
 */
const LISTEN_AFTER_MS = 3000;

/** Timeouts of a request that waits for the end of a task, and may take as long as the task. */
const UNBOUNDED = { idleMs: Number.POSITIVE_INFINITY, totalMs: Number.POSITIVE_INFINITY };

/** Receives each changed state of the task, or the error after which no change follows. */
type Watcher = (task: DetailedTask | undefined, error?: unknown) => void;

/** The state of polling a task, shared by all waiters. */
interface PollState {
  readonly pushes: TaskPushes;
  /** Set when the task has asked a question, in revisions where `tasks/get` returns the questions. */
  questions: TaskQuestions | undefined;
  /** Aborted when no waiter is left. */
  readonly stop: AbortController;
  /** The reason why this client cannot answer the open questions, although other clients may. */
  unable: McpError | undefined;
  /** Functions that each reject the promise of one caller that waits for the outcome. */
  readonly refusals: Set<(reason: McpError) => void>;
}

type RunningPoll = PollState & { readonly ended: Promise<DetailedTask> };

/** Task statuses that the server sends as notifications, in revision 2025-11-25. */
export interface PushedStatuses {
  /**
   * Tasks that have ended, by id. Includes tasks that are not followed yet, because a task may end before the call that
   * created it is answered.
   */
  readonly ended: BoundedMap<string, DetailedTask>;
  /** The function that wakes the poll, for each followed task. */
  readonly following: Map<FollowedTask, () => void>;
}

/** Follows one task while a caller waits for it: polls it or receives its notifications, and answers its questions. */
export class ClientTask implements FollowedTask {
  readonly id: string;
  task: DetailedTask | undefined;
  readonly #client: ExtendedClient;
  readonly #statuses: PushedStatuses;
  readonly #owned: boolean;
  readonly #watchers = new Set<Watcher>();
  readonly #answers: QuestionAnswers = { sent: new Set(), unconfirmed: new Map() };
  #waiters = 0;
  #running: RunningPoll | undefined;
  /** The `tasks/result` request of revision 2025-11-25, and the error that refused it. */
  #result: Promise<CallToolResult> | undefined;
  #refusal: unknown;
  /** True while a `tasks/result` request is open that was sent before the task ended. */
  #awaitsEnd = false;
  /**
   * True if `task` came from `tasks/get` or from a status notification. The task in the response to the call may lack
   * members.
   */
  #wasPolled = false;

  /**
   * If `owned` is true, no other client knows the task. This client then cancels the task if it cannot answer the
   * task's questions.
   */
  constructor(client: ExtendedClient, statuses: PushedStatuses, id: string, task?: DetailedTask, owned = false) {
    this.#client = client;
    this.#statuses = statuses;
    this.#owned = owned;
    this.id = id;
    this.task = task;
  }

  async outcome(signal?: AbortSignal): Promise<CallToolResult> {
    const running = this.#follow();
    let refuse = (_reason: McpError) => {};
    const refused = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    running.refusals.add(refuse);
    if (running.unable !== undefined) refuse(running.unable);
    const unwatch = onAbort(signal, () => refuse(McpError.from(signal?.reason)));
    try {
      return await Promise.race([refused, this.#outcome(running)]);
    } finally {
      unwatch();
      running.refusals.delete(refuse);
      this.#leave();
    }
  }

  async #outcome({ ended, pushes, stop }: RunningPoll): Promise<CallToolResult> {
    const task = await ended;
    // In revision 2025-11-25, `tasks/get` does not return the outcome. The outcome must be requested with
    // `tasks/result`.
    const isWhole = task.status === "cancelled" || "result" in task || "error" in task;
    if (isWhole || !(this.#statuses.ended.has(this.id) || this.#client.era.has("tasks/result")))
      return taskOutcome(task);
    // Replace a request that was sent before the task ended: its connection may have failed. A new request is answered
    // at once.
    if (this.#awaitsEnd) this.#result = undefined;
    return this.#withRetries(pushes, stop.signal, () => this.#requestResult(pushes, stop.signal));
  }

  async cancel(options?: CallOptions): Promise<void> {
    try {
      await this.#client.request("tasks/cancel", { taskId: this.id }, options);
    } catch (error) {
      // In revision 2025-11-25 the server refuses to cancel a task that has ended. The caller does not receive this
      // error.
      const task = McpError.is(error) && error.remote ? await this.#poll().catch(() => undefined) : undefined;
      if (task === undefined || !isFinalStatus(task.status)) throw error;
    }
    await this.#poll().catch(() => {});
    this.#running?.pushes.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<DetailedTask, void> {
    const unread: DetailedTask[] = this.task === undefined ? [] : [this.task];
    let wake = () => {};
    let failure: { error: unknown } | undefined;
    const watch: Watcher = (task, error) => {
      if (unread.length >= MAX_UNREAD) unread.shift();
      if (task !== undefined) unread.push(task);
      else failure = { error };
      wake();
    };
    this.#watchers.add(watch);
    this.#follow().ended.catch((error: unknown) => watch(undefined, error));
    try {
      for (;;) {
        const next = unread.shift();
        if (next !== undefined) {
          yield next;
          if (isFinalStatus(next.status)) return;
        } else if (failure !== undefined) throw failure.error;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      this.#watchers.delete(watch);
      this.#leave();
    }
  }

  /** Adds a waiter, and starts polling if this is the first waiter. The caller must call `#leave` afterwards. */
  #follow(): RunningPoll {
    this.#waiters++;
    this.#running ??= this.#begin();
    return this.#running;
  }

  #begin(): RunningPoll {
    // A new wait requests the result again, because the server may now grant the request that it refused before.
    if (this.#refusal !== undefined) this.#result = undefined;
    this.#refusal = undefined;
    const pushes = new TaskPushes(this.#client, this.id);
    this.#statuses.following.set(this, () => pushes.wake());
    const stop = new AbortController();
    const state: PollState = { pushes, questions: undefined, stop, unable: undefined, refusals: new Set() };
    const ended = this.#untilEnded(state).finally(() => end(state));
    return Object.assign(state, { ended: neverUnhandled(ended) });
  }

  #leave(): void {
    this.#waiters--;
    const running = this.#running;
    if (this.#waiters > 0 || running === undefined) return;
    this.#running = undefined;
    this.#statuses.following.delete(this);
    running.stop.abort(new McpError("cancelled", "every wait for the task has ended"));
    end(running);
  }

  async #untilEnded(state: PollState): Promise<DetailedTask> {
    const { pushes, stop } = state;
    const { platform } = this.#client;
    const since = platform.monotonic();
    const poll = () => this.#withRetries(pushes, stop.signal, () => this.#poll(stop.signal));
    let task = this.task;
    // Poll first if the known state is outdated or has no outcome. It is outdated if it comes from an earlier wait and
    // is not final. It has no outcome if it comes from the response that created the task.
    if (task === undefined || isFinalStatus(task.status) !== this.#wasPolled) task = await poll();
    else task = this.#pushedEnd() ?? task;
    while (!isFinalStatus(task.status)) {
      if (task.ttlMs !== null && platform.monotonic() - since > task.ttlMs + GRACE_MS) throw outlivedTaskError(task);
      await this.#handleQuestions(task, state);
      await pushes.pause(this.#interval(task, pushes));
      task = this.#pushedEnd() ?? (await poll());
      // The questions arrive on the stream of `tasks/result`. The server refused that request, so the questions would
      // stay unanswered.
      if (this.#refusal !== undefined && !isFinalStatus(task.status)) throw this.#refusal;
    }
    return task;
  }

  /**
   * Starts to answer the open questions of the task. Does not wait for the answers, because the task may end first.
   */
  async #handleQuestions(task: DetailedTask, state: PollState): Promise<void> {
    const asks = task.status === "input_required";
    state.unable = undefined;
    if (!asks && state.questions === undefined) return;
    try {
      if (this.#client.era.has("tasks/result")) {
        // The server sends the questions to the client that requests the outcome. A client that cannot answer any
        // question does not request the outcome, so that another client can answer.
        if (asks && !this.#owned) state.unable = unableToAnswer(this.#client);
        if (asks && state.unable === undefined)
          neverUnhandled(this.#requestResult(state.pushes, state.stop.signal, UNBOUNDED));
      } else {
        state.questions ??= this.#questions(state);
        state.unable = state.questions.update((asks ? task.inputRequests : undefined) ?? {});
        if (this.#owned && state.unable !== undefined) throw state.unable;
      }
    } catch (error) {
      // If the client is closing, do not cancel the task: the application's next client may answer the questions.
      if (this.#owned && !this.#client.closing.aborted) await this.cancel().catch(() => {});
      throw error;
    }
    if (state.unable !== undefined) for (const refuse of state.refusals) refuse(state.unable);
  }

  #questions({ pushes, stop: { signal } }: PollState): TaskQuestions {
    const send = (inputResponses: Record<string, object>) =>
      this.#withRetries(pushes, signal, () =>
        this.#client.request("tasks/update", { taskId: this.id, inputResponses }, { signal }),
      );
    return new TaskQuestions(this.#client, this.#answers, send, () => pushes.wake());
  }

  #interval({ pollIntervalMs = DEFAULT_POLL_MS }: DetailedTask, { open }: TaskPushes): number {
    const asked = Math.min(Math.max(pollIntervalMs, MIN_POLL_MS), MAX_POLL_MS);
    const [chance = 0] = this.#client.platform.randomBytes(1);
    return (open ? Math.max(asked, PUSHED_POLL_MS) : asked) * (1 + (JITTER * chance) / 255);
  }

  /** Repeats a request that failed because of the connection, or that the server asks to repeat later. */
  async #withRetries<T>(pushes: TaskPushes, stop: AbortSignal, request: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        return await request();
      } catch (error) {
        const isStopped = stop.aborted || this.#client.closing.aborted;
        if (isStopped || !isTransientFailure(error) || failures >= MAX_FAILURES) throw error;
        await pushes.pause(Math.min(Math.max(500 * 2 ** failures, retryAfterOf(error) ?? 0), 30_000));
      }
    }
  }

  async #poll(signal?: AbortSignal): Promise<DetailedTask> {
    if (signal?.aborted === true) throw McpError.from(signal.reason);
    const task = readTask(await this.#client.request("tasks/get", { taskId: this.id }, { signal }));
    if (task.taskId !== this.id) {
      throw new McpError("invalid_response", "the server answered with another task", { data: { task } });
    }
    return this.#update(task);
  }

  /**
   * Returns the end of the task if the server sent it as a notification. In revision 2025-11-25 the notification has
   * all members of `tasks/get`.
   *
   * Spec: Tasks, "Task Status Notification",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-notification
   */
  #pushedEnd(): DetailedTask | undefined {
    const task = this.#statuses.ended.get(this.id);
    return task === undefined ? undefined : this.#update(task);
  }

  #update(task: DetailedTask): DetailedTask {
    const before = this.task;
    // A task that has ended cannot change. Ignore late answers.
    if (before !== undefined && this.#wasPolled && isFinalStatus(before.status)) return before;
    this.#wasPolled = true;
    this.task = task;
    if (before === undefined || isFinalStatus(task.status) || hasChanged(before, task))
      for (const watch of this.#watchers) watch(task);
    return task;
  }

  #requestResult(pushes: TaskPushes, signal: AbortSignal, timeouts?: typeof UNBOUNDED): Promise<CallToolResult> {
    if (this.#result !== undefined) return this.#result;
    this.#awaitsEnd = timeouts !== undefined;
    const request = this.#client.request("tasks/result", { taskId: this.id }, { timeouts, signal });
    const result = request.then(
      // The code that called the tool validates the result.
      (value) => value as unknown as CallToolResult,
      (error: unknown) => {
        if (this.#result !== result) throw error;
        if (isTransientFailure(error) || signal.aborted) this.#result = undefined;
        else this.#refusal = error;
        throw error;
      },
    );
    this.#result = result;
    const settled = () => {
      if (this.#result === result) this.#awaitsEnd = false;
      pushes.wake();
    };
    neverUnhandled(result.finally(settled));
    return result;
  }
}

function end({ pushes, questions }: PollState): void {
  pushes.close();
  questions?.close();
}

/**
 * True if a member changed that clients see. Compares more than `lastUpdatedAt`, because changes within one millisecond
 * have the same time.
 */
function hasChanged(before: DetailedTask, after: DetailedTask): boolean {
  return (["status", "lastUpdatedAt", "statusMessage"] as const).some((member) => before[member] !== after[member]);
}

/**
 * Pauses between the polls of one task. A notification about the task ends a pause early. If the server sends no
 * notifications, each pause ends by its timer.
 */
class TaskPushes {
  readonly #client: ExtendedClient;
  readonly #id: string;
  readonly #unlisten: (() => void)[] = [];
  #since: number | undefined;
  #stream: AbortController | undefined;
  /** True while the server sends notifications for the task. */
  open = false;
  #pushed = false;
  #wake: (() => void) | undefined;

  constructor(client: ExtendedClient, id: string) {
    this.#client = client;
    this.#id = id;
  }

  /** Ends the current pause, or the next pause if there is none now. */
  wake(): void {
    this.#pushed = true;
    this.#wake?.();
  }

  /** Waits until the time has passed, a notification arrives, or the client or this object is closed. */
  async pause(ms: number): Promise<void> {
    const { platform, closing } = this.#client;
    this.#since ??= platform.monotonic();
    if (this.#stream === undefined && platform.monotonic() - this.#since >= LISTEN_AFTER_MS) this.#listen();
    if (!this.#pushed && !closing.aborted) {
      await new Promise<void>((resolve) => {
        const end = () => {
          timer.cancel();
          unwatch();
          resolve();
        };
        // Keeps the process alive, because the application waits for the task.
        const timer = platform.timer(ms, end, true);
        const unwatch = onAbort(closing, end);
        this.#wake = end;
      });
    }
    this.#wake = undefined;
    this.#pushed = false;
  }

  close(): void {
    this.open = false;
    this.#stream?.abort();
    for (const unlisten of this.#unlisten.splice(0)) unlisten();
    this.wake();
  }

  #listen(): void {
    const stream = new AbortController();
    this.#stream = stream;
    if (!this.#client.era.has("subscriptions/listen")) return;
    this.#unlisten.push(
      this.#client.on("notifications/tasks", ({ taskId }) => {
        if (taskId === this.#id) this.wake();
      }),
      this.#client.on("notifications/subscriptions/acknowledged", ({ notifications }) => {
        const ids = isObject(notifications) ? notifications["taskIds"] : undefined;
        if (Array.isArray(ids) && ids.includes(this.#id)) this.open = true;
      }),
    );
    const notifications = { taskIds: [this.#id] };
    this.#client
      .request("subscriptions/listen", { notifications }, { signal: stream.signal })
      // Ignores the error, because the task is polled instead from now on.
      .catch(() => {})
      .finally(() => {
        this.open = false;
        this.#wake?.();
      });
  }
}
