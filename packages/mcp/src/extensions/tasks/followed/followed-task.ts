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
import { isPassing, outlivedTask, retryAfterOf, taskOutcome } from "./task-outcome.js";
import { type GivenAnswers, TaskQuestions, unableToAnswer } from "./task-questions.js";

/** Bounds of what a server may ask for as the time between two looks. */
const SHORTEST_MS = 20;
const LONGEST_MS = 300_000;
const DEFAULT_POLL_MS = 1000;
/** The part of a pause that chance adds, so that clients that began together spread. */
const JITTER = 0.1;
/** While the server tells changes by itself, looks only make sure that none was lost. */
const PUSHED_POLL_MS = 30_000;
/** Requests in a row that may fail before the wait does; with growing pauses this is about five minutes. */
const MAX_FAILURES = 16;
/** How long a task is waited for beyond its time to live, because clocks and networks may be slow. */
const GRACE_MS = 60_000;
/** Changes that the reader of an iteration may leave unread; then it misses the oldest. */
const MAX_UNREAD = 64;
/** How long a task is only looked at: a stream for a task that is soon over would cost more than it saves. */
const LISTEN_AFTER_MS = 3000;

/** A request that waits for the end of a task takes as long as the task. */
const UNBOUNDED = { idleMs: Number.POSITIVE_INFINITY, totalMs: Number.POSITIVE_INFINITY };

/** Is told each change, or why there will be none. */
type Watcher = (task: DetailedTask | undefined, error?: unknown) => void;

/** The looks at a task, which all who wait for it share. */
interface Looks {
  readonly pushes: TaskPushes;
  /** Set when the task asks, in the form where `tasks/get` shows its questions. */
  questions: TaskQuestions | undefined;
  /** Aborted when nobody waits any more. */
  readonly stop: AbortController;
  /** Why this client cannot answer what the task asks now, although others may. */
  unable: McpError | undefined;
  /** Ends the waits that need the answer. */
  readonly refusals: Set<(reason: McpError) => void>;
}

type Following = Looks & { readonly over: Promise<DetailedTask> };

/** What the server tells of tasks without being asked, in the older form. */
export interface ToldStatuses {
  /** Tasks that have ended; one may end before the call that created it is answered. */
  readonly ended: BoundedMap<string, DetailedTask>;
  /** Wakes the wait for each task that is followed. */
  readonly following: Map<FollowedTask, () => void>;
}

/** Follows one task while someone waits for it: looks at it in intervals or is told of changes, and answers its questions. */
export class ClientTask implements FollowedTask {
  readonly id: string;
  task: DetailedTask | undefined;
  readonly #client: ExtendedClient;
  readonly #told: ToldStatuses;
  readonly #owned: boolean;
  readonly #watchers = new Set<Watcher>();
  readonly #given: GivenAnswers = { sent: new Set(), kept: new Map() };
  #waiting = 0;
  #following: Following | undefined;
  /** The request for the outcome, in the older form, and why it was refused. */
  #result: Promise<CallToolResult> | undefined;
  #refusal: unknown;
  /** Whether that request began before the task was over, and has not ended. */
  #awaitsEnd = false;
  /** Whether `task` is what `tasks/get` said: what comes with the creation need not have all members. */
  #looked = false;

  /** `owned`: nobody else knows the task, so it is cancelled when this client cannot answer what it asks. */
  constructor(client: ExtendedClient, told: ToldStatuses, id: string, task?: DetailedTask, owned = false) {
    this.#client = client;
    this.#told = told;
    this.#owned = owned;
    this.id = id;
    this.task = task;
  }

  async outcome(signal?: AbortSignal): Promise<CallToolResult> {
    const following = this.#follow();
    let refuse = (_reason: McpError) => {};
    const refused = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    following.refusals.add(refuse);
    if (following.unable !== undefined) refuse(following.unable);
    const unwatch = onAbort(signal, () => refuse(McpError.from(signal?.reason)));
    try {
      return await Promise.race([refused, this.#outcome(following)]);
    } finally {
      unwatch();
      following.refusals.delete(refuse);
      this.#leave();
    }
  }

  async #outcome({ over, pushes, stop }: Following): Promise<CallToolResult> {
    const task = await over;
    // In the older form the outcome has a request of its own.
    const isWhole = task.status === "cancelled" || "result" in task || "error" in task;
    if (isWhole || !(this.#told.ended.has(this.id) || this.#client.era.has("tasks/result"))) return taskOutcome(task);
    // Now it is answered at once, while a request from before may wait on a connection that is gone.
    if (this.#awaitsEnd) this.#result = undefined;
    return this.#patiently(pushes, stop.signal, () => this.#requestResult(pushes, stop.signal));
  }

  async cancel(options?: CallOptions): Promise<void> {
    try {
      await this.#client.request("tasks/cancel", { taskId: this.id }, options);
    } catch (error) {
      // In the older form a task that is over refuses.
      const task = McpError.is(error) && error.remote ? await this.#look().catch(() => undefined) : undefined;
      if (task === undefined || !isFinalStatus(task.status)) throw error;
    }
    await this.#look().catch(() => {});
    this.#following?.pushes.wake();
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
    this.#follow().over.catch((error: unknown) => watch(undefined, error));
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

  /** Someone waits until the task is over, and calls `#leave` afterwards. */
  #follow(): Following {
    this.#waiting++;
    this.#following ??= this.#begin();
    return this.#following;
  }

  #begin(): Following {
    // What was refused once may be granted now.
    if (this.#refusal !== undefined) this.#result = undefined;
    this.#refusal = undefined;
    const pushes = new TaskPushes(this.#client, this.id);
    this.#told.following.set(this, () => pushes.wake());
    const stop = new AbortController();
    const looks: Looks = { pushes, questions: undefined, stop, unable: undefined, refusals: new Set() };
    const over = this.#untilOver(looks).finally(() => end(looks));
    return Object.assign(looks, { over: neverUnhandled(over) });
  }

  #leave(): void {
    this.#waiting--;
    const following = this.#following;
    if (this.#waiting > 0 || following === undefined) return;
    this.#following = undefined;
    this.#told.following.delete(this);
    following.stop.abort(new McpError("cancelled", "nobody waits for the task any more"));
    end(following);
  }

  async #untilOver(looks: Looks): Promise<DetailedTask> {
    const { pushes, stop } = looks;
    const { platform } = this.#client;
    const since = platform.monotonic();
    const look = () => this.#patiently(pushes, stop.signal, () => this.#look(stop.signal));
    let task = this.task;
    // What an earlier wait saw is old by now, unless it was the end; what came with the creation has no outcome.
    if (task === undefined || isFinalStatus(task.status) !== this.#looked) task = await look();
    else task = this.#endTold() ?? task;
    while (!isFinalStatus(task.status)) {
      if (task.ttlMs !== null && platform.monotonic() - since > task.ttlMs + GRACE_MS) throw outlivedTask(task);
      await this.#seeToQuestions(task, looks);
      await pushes.pause(this.#interval(task, pushes));
      task = this.#endTold() ?? (await look());
      // The request for the outcome is the way to the questions: without it nobody would answer them.
      if (this.#refusal !== undefined && !isFinalStatus(task.status)) throw this.#refusal;
    }
    return task;
  }

  /** Lets the application answer what the task asks, and does not wait for it: the task may end meanwhile. */
  async #seeToQuestions(task: DetailedTask, looks: Looks): Promise<void> {
    const asks = task.status === "input_required";
    looks.unable = undefined;
    if (!asks && looks.questions === undefined) return;
    try {
      if (this.#client.era.has("tasks/result")) {
        // The questions are requests to the client that waits for the outcome; one that could only refuse leaves them to others.
        if (asks && !this.#owned) looks.unable = unableToAnswer(this.#client);
        if (asks && looks.unable === undefined)
          neverUnhandled(this.#requestResult(looks.pushes, looks.stop.signal, UNBOUNDED));
      } else {
        looks.questions ??= this.#questions(looks);
        looks.unable = looks.questions.update((asks ? task.inputRequests : undefined) ?? {});
        if (this.#owned && looks.unable !== undefined) throw looks.unable;
      }
    } catch (error) {
      // A client that is closed leaves the question to the next one.
      if (this.#owned && !this.#client.closing.aborted) await this.cancel().catch(() => {});
      throw error;
    }
    if (looks.unable !== undefined) for (const refuse of looks.refusals) refuse(looks.unable);
  }

  #questions({ pushes, stop: { signal } }: Looks): TaskQuestions {
    const send = (inputResponses: Record<string, object>) =>
      this.#patiently(pushes, signal, () =>
        this.#client.request("tasks/update", { taskId: this.id, inputResponses }, { signal }),
      );
    return new TaskQuestions(this.#client, this.#given, send, () => pushes.wake());
  }

  #interval({ pollIntervalMs = DEFAULT_POLL_MS }: DetailedTask, { open }: TaskPushes): number {
    const asked = Math.min(Math.max(pollIntervalMs, SHORTEST_MS), LONGEST_MS);
    const [chance = 0] = this.#client.platform.randomBytes(1);
    return (open ? Math.max(asked, PUSHED_POLL_MS) : asked) * (1 + (JITTER * chance) / 255);
  }

  /** Repeats a request that gets lost on its way, or that the server asks to repeat later. */
  async #patiently<T>(pushes: TaskPushes, stop: AbortSignal, request: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        return await request();
      } catch (error) {
        const over = stop.aborted || this.#client.closing.aborted;
        if (over || !isPassing(error) || failures >= MAX_FAILURES) throw error;
        await pushes.pause(Math.min(Math.max(500 * 2 ** failures, retryAfterOf(error) ?? 0), 30_000));
      }
    }
  }

  async #look(signal?: AbortSignal): Promise<DetailedTask> {
    if (signal?.aborted === true) throw McpError.from(signal.reason);
    const task = readTask(await this.#client.request("tasks/get", { taskId: this.id }, { signal }));
    if (task.taskId !== this.id) {
      throw new McpError("invalid_response", "the server answered with another task", { data: { task } });
    }
    return this.#saw(task);
  }

  /**
   * The end of the task, if the server told it: in the older form the notification has all that `tasks/get` would say.
   *
   * Spec: Tasks, "Task Status Notification",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-notification
   */
  #endTold(): DetailedTask | undefined {
    const task = this.#told.ended.get(this.id);
    return task === undefined ? undefined : this.#saw(task);
  }

  #saw(task: DetailedTask): DetailedTask {
    const before = this.task;
    // Nothing happens to a task that is over, whatever a late answer says.
    if (before !== undefined && this.#looked && isFinalStatus(before.status)) return before;
    this.#looked = true;
    this.task = task;
    if (before === undefined || isFinalStatus(task.status) || hasNews(before, task))
      for (const watch of this.#watchers) watch(task);
    return task;
  }

  #requestResult(pushes: TaskPushes, signal: AbortSignal, timeouts?: typeof UNBOUNDED): Promise<CallToolResult> {
    if (this.#result !== undefined) return this.#result;
    this.#awaitsEnd = timeouts !== undefined;
    const request = this.#client.request("tasks/result", { taskId: this.id }, { timeouts, signal });
    const result = request.then(
      // Whoever called the tool checks its result.
      (value) => value as unknown as CallToolResult,
      (error: unknown) => {
        if (this.#result !== result) throw error;
        if (isPassing(error) || signal.aborted) this.#result = undefined;
        else this.#refusal = error;
        throw error;
      },
    );
    this.#result = result;
    const over = () => {
      if (this.#result === result) this.#awaitsEnd = false;
      pushes.wake();
    };
    neverUnhandled(result.finally(over));
    return result;
  }
}

function end({ pushes, questions }: Looks): void {
  pushes.close();
  questions?.close();
}

/** Whether there is something new to tell; changes within one millisecond have the same time. */
function hasNews(before: DetailedTask, after: DetailedTask): boolean {
  return (["status", "lastUpdatedAt", "statusMessage"] as const).some((member) => before[member] !== after[member]);
}

/** Changes of one task that the server tells by itself. Where it does not, waits end by time alone. */
class TaskPushes {
  readonly #client: ExtendedClient;
  readonly #id: string;
  readonly #unlisten: (() => void)[] = [];
  #since: number | undefined;
  #stream: AbortController | undefined;
  /** Whether the server tells changes now. */
  open = false;
  #pushed = false;
  #wake: (() => void) | undefined;

  constructor(client: ExtendedClient, id: string) {
    this.#client = client;
    this.#id = id;
  }

  /** Ends the wait of now, or the next one. */
  wake(): void {
    this.#pushed = true;
    this.#wake?.();
  }

  /** Waits, at most until the server tells a change, or until the client or this is closed. */
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
        // The wait of the application is what keeps its process alive.
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
      // Whatever ended it: from now on the task is looked at.
      .catch(() => {})
      .finally(() => {
        this.open = false;
        this.#wake?.();
      });
  }
}
