import type { ExtendedClient } from "../../../client/contract/extension.js";
import type { CallOptions } from "../../../client/contract/options.js";
import type { FollowedTask } from "../../../client/contract/task-handle.js";
import { neverUnhandled } from "../../../encoding/maybe-promise.js";
import { readTask } from "../../../era/task-shape.js";
import { onAbort } from "../../../platform/on-abort.js";
import { McpError } from "../../../protocol/error.js";
import type { DetailedTask } from "../../../protocol/features/tasks.js";
import type { CallToolResult } from "../../../protocol/features/tools.js";
import { hasEnded, hasNews, isPassing, outlivedTask, retryAfterOf, taskOutcome } from "./task-outcome.js";
import { TaskPushes } from "./task-pushes.js";
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

/** A request that waits for the end of a task takes as long as the task. */
const UNBOUNDED = { idleMs: Number.POSITIVE_INFINITY, totalMs: Number.POSITIVE_INFINITY };

/** Is told each change, or why there will be none. */
type Watcher = (task: DetailedTask | undefined, error?: unknown) => void;

/** The looks at a task, which all who wait for it share. */
interface Looks {
  readonly pushes: TaskPushes;
  readonly questions: TaskQuestions;
  /** Aborted when nobody waits any more. */
  readonly stop: AbortController;
  /** Why this client cannot answer what the task asks now, although others may. */
  unable: McpError | undefined;
  /** Ends the waits that need the answer. */
  readonly refusals: Set<(reason: McpError) => void>;
}

interface Following extends Looks {
  readonly over: Promise<DetailedTask>;
}

/** Follows one task while someone waits for it: looks at it in intervals or is told of changes, and answers its questions. */
export class ClientTask implements FollowedTask {
  readonly id: string;
  task: DetailedTask | undefined;
  readonly #client: ExtendedClient;
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
  constructor(client: ExtendedClient, id: string, task?: DetailedTask, owned = false) {
    this.#client = client;
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
    try {
      return await withSignal(Promise.race([this.#outcome(following), refused]), signal);
    } finally {
      following.refusals.delete(refuse);
      this.#leave();
    }
  }

  async #outcome({ over, pushes, stop }: Following): Promise<CallToolResult> {
    const task = await over;
    // In the older form the outcome has a request of its own.
    if (task.status === "cancelled" || !this.#client.era.has("tasks/result")) return taskOutcome(task);
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
      if (task === undefined || !hasEnded(task)) throw error;
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
          if (hasEnded(next)) return;
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
    const stop = new AbortController();
    const send = (inputResponses: Record<string, object>) =>
      this.#patiently(pushes, stop.signal, () =>
        this.#client.request("tasks/update", { taskId: this.id, inputResponses }, { signal: stop.signal }),
      );
    const questions = new TaskQuestions(this.#client, this.#given, send, () => pushes.wake());
    const looks: Looks = { pushes, questions, stop, unable: undefined, refusals: new Set() };
    const over = this.#untilOver(looks).finally(() => end(looks));
    return Object.assign(looks, { over: neverUnhandled(over) });
  }

  #leave(): void {
    this.#waiting--;
    const following = this.#following;
    if (this.#waiting > 0 || following === undefined) return;
    this.#following = undefined;
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
    if (task === undefined || hasEnded(task) !== this.#looked) task = await look();
    while (!hasEnded(task)) {
      if (task.ttlMs !== null && platform.monotonic() - since > task.ttlMs + GRACE_MS) throw outlivedTask(task);
      await this.#seeToQuestions(task, looks);
      await pushes.pause(this.#interval(task, pushes));
      task = await look();
      // The request for the outcome is the way to the questions: without it nobody would answer them.
      if (this.#refusal !== undefined && !hasEnded(task)) throw this.#refusal;
    }
    return task;
  }

  /** Lets the application answer what the task asks, and does not wait for it: the task may end meanwhile. */
  async #seeToQuestions(task: DetailedTask, looks: Looks): Promise<void> {
    const asks = task.status === "input_required";
    try {
      if (this.#client.era.has("tasks/result")) {
        // The questions are requests to whoever waits for the outcome; one that could only refuse leaves them to others.
        looks.unable = asks && !this.#owned ? unableToAnswer(this.#client) : undefined;
        const able = asks && looks.unable === undefined;
        if (able) neverUnhandled(this.#requestResult(looks.pushes, looks.stop.signal, UNBOUNDED));
      } else {
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
    const before = this.task;
    // Nothing happens to a task that is over, whatever a late answer says.
    if (before !== undefined && this.#looked && hasEnded(before)) return before;
    this.#looked = true;
    this.task = task;
    if (before === undefined || hasEnded(task) || hasNews(before, task))
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
  questions.close();
}

function withSignal<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const unwatch = onAbort(signal, () => reject(McpError.from(signal.reason)));
    work.then(resolve, reject).finally(unwatch);
  });
}
