import { isThenable, type MaybePromise } from "../../../encoding/maybe-promise.js";
import { thrownMessage } from "../../../encoding/thrown-message.js";
import { isObject } from "../../../jsonrpc/message.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import { type KeyValue, StorageFailure } from "../../../storage/storage.js";
import { type OwnedTask, OwnedTasks } from "./owned-tasks.js";
import { hasEnded, type TaskRecord } from "./task-record.js";

/** Limits that apply to a new task. */
export interface TaskBounds {
  /** Maximum number of stored tasks of the task's owner. */
  readonly kept: number;
  /** Maximum number of running tasks of the task's owner. */
  readonly running: number;
  /** Maximum number of stored tasks that this process created. Default: unlimited. */
  readonly total?: number;
  /** The tasks that run in this process, by id. */
  readonly runs?: ReadonlyMap<string, unknown>;
}

/** Maximum time that the storage may take for one operation, in milliseconds. A slower operation fails. */
export const STORAGE_MS = 10_000;
/**
 * Maximum number of tasks to read when looking for finished tasks to evict. Tasks are read, because a task that does
 * not run in this process may still run in another.
 */
const MAX_READS = 16;
/** Minimum time between two sweeps for expired tasks of this process, in milliseconds. */
const SWEEP_MS = 1000;

/**
 * Maximum number of attempts to write a value that another process writes at the same time. Each failed attempt means
 * that another process succeeded. After the last attempt, the write fails.
 */
const MAX_ATTEMPTS = 64;
/** Maximum number of tasks to verify when too many tasks of a principal seem to run. */
const CHECKED_TASKS = 8;
/**
 * Minimum age of a list entry before it is compared with the stored task, in milliseconds. A task enters the list of
 * its owner before it is stored, so a younger entry may belong to a task that is still being stored.
 */
const CREATION_MS = 60_000;
/**
 * Maximum number of failed removals that are stored for a retry. Beyond that, records stay stored until they expire.
 */
const MAX_PENDING_REMOVALS = 1000;

/** Number of random bytes in a task id, so that ids cannot be guessed. `TASK_ID` matches the encoded id. */
export const TASK_ID_BYTES = 24;
export const TASK_ID = /^[\w-]{32}$/;

/** The tasks of one server in its storage. */
export class TaskStore {
  readonly #kv: KeyValue;
  readonly #platform: Platform;
  readonly #base: string;
  readonly #maxLength: number;
  readonly #owned: OwnedTasks;
  readonly #changed: (before: TaskRecord, after: TaskRecord) => void;
  /** The expiry times of the tasks that this process created, oldest first. */
  readonly #created = new Map<string, number>();
  #swept = Number.NEGATIVE_INFINITY;
  /** Tasks whose removal failed so far. */
  readonly #pendingRemovals = new Map<string, TaskRecord>();
  #checks = 0;

  /** `changed` is called after each change that clients can see, and after a change of the lease. */
  constructor(
    kv: KeyValue,
    platform: Platform,
    server: string,
    maxLength: number,
    changed: (before: TaskRecord, after: TaskRecord) => void = () => {},
  ) {
    this.#kv = kv;
    this.#changed = changed;
    this.#platform = platform;
    this.#base = `server/${server}/tasks`;
    this.#maxLength = maxLength;
    this.#owned = new OwnedTasks(kv, platform, `${this.#base}-of`);
  }

  /**
   * Stores a new task. Evicts finished tasks if there are too many, and throws `limit_exceeded` if it cannot evict
   * enough. Removes its own partial writes if it fails.
   */
  async create(record: TaskRecord, bounds: TaskBounds): Promise<void> {
    const { id, owner, ttlMs } = record;
    const text = this.#text(record);
    await this.#makeRoom(record, bounds);
    try {
      if (owner !== null) await this.#claim(record, owner, bounds);
      try {
        await this.#kv.set(this.#key(id), text, { ttlMs, ifVersion: 0 });
      } catch (error) {
        await this.discard(record);
        throw error;
      }
    } catch (error) {
      this.#created.delete(id);
      throw error;
    }
  }

  /** Counts a new task of this process. Evicts the oldest finished tasks if there are too many. */
  async #makeRoom(
    { id, createdAt, ttlMs }: TaskRecord,
    { total = Number.POSITIVE_INFINITY, runs }: TaskBounds,
  ): Promise<void> {
    const created = this.#created;
    created.set(id, createdAt + ttlMs);
    if (created.size <= total) return;
    this.#sweep();
    let reads = 0;
    for (const [one, until] of created) {
      if (created.size <= total) return;
      if (one === id || reads === MAX_READS) break;
      if (runs?.has(one) === true) continue;
      reads++;
      // Do not count the task while it is read, so that two new tasks do not evict the same one.
      created.delete(one);
      const found = await this.read(one);
      if (found !== undefined && !hasEnded(found)) created.set(one, until);
      else if (found !== undefined) await this.discard(found);
    }
    if (created.size <= total) return;
    created.delete(id);
    throw new TooManyTasks("tasks are already stored", "kept", total);
  }

  #sweep(): void {
    const now = this.#platform.now();
    if (now - this.#swept < SWEEP_MS) return;
    this.#swept = now;
    for (const [one, until] of this.#created) if (until <= now) this.#created.delete(one);
  }

  async #claim(record: TaskRecord, owner: string, bounds: TaskBounds): Promise<void> {
    const { id, createdAt, ttlMs } = record;
    const entry = { id, since: createdAt, until: createdAt + ttlMs, runs: !hasEnded(record) };
    let dropped: readonly OwnedTask[] = [];
    const add = () =>
      this.#owned.update(owner, (owned) => {
        dropped = tasksToEvict(owned, entry, bounds);
        return [...owned.filter((one) => !dropped.includes(one)), entry];
      });
    try {
      await add();
    } catch (error) {
      // The list may count a finished task as running, if a process ended after storing the end of the task and before
      // updating the list.
      if (!McpError.is(error) || error.kind !== "limit_exceeded" || !(await this.#recount(owner))) throw error;
      await add();
    }
    for (const one of dropped) {
      try {
        await this.#kv.delete(this.#key(one.id));
      } catch {
        // Ignore the failure, because the record expires anyway.
      }
    }
  }

  /**
   * Checks some of the tasks that an owner's list counts as running. If the list was wrong, corrects it and resolves
   * with true.
   */
  async #recount(owner: string): Promise<boolean> {
    const now = this.#platform.now();
    const running = (await this.#owned.read(owner)).filter(({ runs, since }) => runs && now - since > CREATION_MS);
    if (running.length === 0) return false;
    const from = this.#checks % running.length;
    this.#checks += CHECKED_TASKS;
    const some = [...running.slice(from), ...running.slice(0, from)].slice(0, CHECKED_TASKS);
    const wrong = new Set<string>();
    for (const { id } of some) {
      const record = await this.read(id);
      if (record === undefined || hasEnded(record)) wrong.add(id);
    }
    if (wrong.size === 0) return false;
    await this.#owned.update(owner, (owned) => owned.map((one) => (wrong.has(one.id) ? { ...one, runs: false } : one)));
    return true;
  }

  async read(id: string): Promise<TaskRecord | undefined> {
    const found = await this.#kv.get(this.#key(id));
    // Safe: only this class writes under these keys.
    return found === undefined ? undefined : (JSON.parse(found.value) as TaskRecord);
  }

  /**
   * Replaces a record with the result of `change`, and retries if others write at the same time. `change` may return
   * the same record for no change, and its errors are passed on. Resolves with undefined if the task no longer exists.
   */
  async update(id: string, change: (record: TaskRecord) => TaskRecord): Promise<TaskRecord | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#kv.get(this.#key(id));
      if (found === undefined) return undefined;
      const record = JSON.parse(found.value) as TaskRecord;
      const changed = change(record);
      if (changed === record) return record;
      const now = this.#platform.now();
      const ttlMs = record.createdAt + record.ttlMs - now;
      if (ttlMs <= 0) return undefined;
      // The clocks of processes may differ, but `updatedAt` never goes back.
      const next = { ...changed, updatedAt: Math.max(now, record.updatedAt) };
      const options = { ttlMs, ifVersion: found.version };
      if ((await this.#kv.set(this.#key(id), this.#text(next), options)) === undefined) continue;
      if (differs(record, next)) this.#changed(record, next);
      return next;
    }
    throw new McpError("internal_error", "other processes changed the task during every attempt to write it", {
      fix: "Try again later.",
    });
  }

  /**
   * Removes a task that is evicted, or that no client knows. If that fails, `retryDiscards` tries again. Never rejects.
   */
  async discard(record: TaskRecord): Promise<void> {
    try {
      await this.#remove(record);
      this.#pendingRemovals.delete(record.id);
    } catch (error) {
      this.#platform.warn(`an unused task could not be removed: ${thrownMessage(error)}`);
      if (this.#pendingRemovals.size < MAX_PENDING_REMOVALS) this.#pendingRemovals.set(record.id, record);
    }
  }

  /** True if the removal of the task is still pending. */
  isPendingRemoval(id: string): boolean {
    return this.#pendingRemovals.has(id);
  }

  /** Retries the pending removals. Resolves with the ids of the tasks that are now removed. Never rejects. */
  async retryDiscards(): Promise<string[]> {
    const records = [...this.#pendingRemovals.values()];
    for (const record of records) {
      if (record.createdAt + record.ttlMs <= this.#platform.now()) this.#pendingRemovals.delete(record.id);
      else await this.discard(record);
    }
    return records.map(({ id }) => id).filter((id) => !this.isPendingRemoval(id));
  }

  async #remove({ id, owner }: TaskRecord): Promise<void> {
    await this.#kv.delete(this.#key(id));
    if (owner !== null) await this.#owned.update(owner, (owned) => owned.filter((one) => one.id !== id));
  }

  /** Marks a task in the list of its owner as no longer running. */
  async markEnded({ id, owner }: TaskRecord): Promise<void> {
    if (owner === null) return;
    const rests = (one: OwnedTask) => (one.id === id ? { ...one, runs: false } : one);
    await this.#owned.update(owner, (owned) =>
      owned.some((one) => one.id === id && one.runs) ? owned.map(rests) : owned,
    );
  }

  /** Returns the ids of an owner's tasks, oldest first. */
  async owned(owner: string): Promise<string[]> {
    return (await this.#owned.read(owner)).map(({ id }) => id);
  }

  #text(record: TaskRecord): string {
    const text = JSON.stringify(record);
    if (text.length <= this.#maxLength) return text;
    throw new McpError("limit_exceeded", `the task needs more than ${this.#maxLength} characters`, {
      data: { limit: "taskLength", value: this.#maxLength },
      fix: "Return less from the tool and its steps, or raise `limits.taskLength` of the tasks extension.",
    });
  }

  #key(id: string): string {
    return `${this.#base}/${id}`;
  }
}

/** True if clients can see a difference, or if the lease has changed. */
function differs(before: TaskRecord, after: TaskRecord): boolean {
  return (
    before.status !== after.status ||
    before.statusMessage !== after.statusMessage ||
    before.lease.token !== after.lease.token ||
    JSON.stringify(before.questions) !== JSON.stringify(after.questions)
  );
}

/**
 * Returns the oldest finished tasks that a new task evicts. Throws if too few tasks have finished, or if too many are
 * running.
 */
function tasksToEvict(owned: readonly OwnedTask[], { runs }: OwnedTask, { kept, running }: TaskBounds): OwnedTask[] {
  if (runs && owned.filter((one) => one.runs).length >= running) {
    throw new TooManyTasks("tasks of one caller are already running", "runningPerPrincipal", running);
  }
  const excess = Math.max(0, owned.length + 1 - kept);
  const over = owned.filter((one) => !one.runs).slice(0, excess);
  if (over.length < excess) throw new TooManyTasks("tasks of one caller are already stored", "keptPerPrincipal", kept);
  return over;
}

/**
 * Time after which a refused request may be retried. Fixed, because the end of a task or of an outage cannot be
 * predicted.
 */
const RETRY_MS = 1000;

/** The error for a new task beyond a limit. */
export class TooManyTasks extends McpError {
  /**
   * The status and `Retry-After` of the HTTP response: 429 if the caller has too many tasks, 503 if the server has.
   */
  readonly limited: { readonly status: number; readonly retryAfterMs: number };

  constructor(what: string, limit: string, value: number) {
    const none = limit.startsWith("kept") ? ", and none of them has ended" : "";
    super("limit_exceeded", `${value} ${what}${none}. Wait until one has ended, then call again.`, {
      data: { limit, value, retryAfterMs: RETRY_MS },
      fix: `Wait until some have ended, or raise \`limits.${limit}\` of the tasks extension.`,
    });
    this.limited = { status: limit.endsWith("PerPrincipal") ? 429 : 503, retryAfterMs: RETRY_MS };
  }
}

/** Returns the same answer, or rejects if it does not arrive in time. */
function withTimeout<T>(answer: MaybePromise<T>, platform: Platform, ms = STORAGE_MS): MaybePromise<T> {
  if (!isThenable(answer)) return answer;
  return new Promise<T>((resolve, reject) => {
    const late = () => {
      reject(storageUnavailable(`the task storage did not answer within ${ms} ms`));
    };
    const timer = platform.timer(ms, late);
    Promise.resolve(answer)
      .finally(() => timer.cancel())
      .then(resolve, reject);
  });
}

/** Returns the same store with a timeout for each operation, because a task must not wait for a store that hangs. */
export function keyValueWithTimeout(kv: KeyValue, platform: Platform, ms = STORAGE_MS): KeyValue {
  return {
    get: (key) => withTimeout(kv.get(key), platform, ms),
    set: (key, value, options) => withTimeout(kv.set(key, value, options), platform, ms),
    delete: (key, options) => withTimeout(kv.delete(key, options), platform, ms),
    touch: (key, ttlMs) => withTimeout(kv.touch(key, ttlMs), platform, ms),
  };
}

/** The `data.reason` of an error that reports an unavailable storage. */
const STORAGE_UNAVAILABLE = "storage_unavailable";

/** True if the storage could not be reached, or did not answer in time. */
export function isStorageUnavailable(error: unknown): boolean {
  if (error instanceof StorageFailure) return error.reason === "unavailable" || error.reason === "timeout";
  return McpError.is(error) && isObject(error.data) && error.data["reason"] === STORAGE_UNAVAILABLE;
}

/**
 * Converts the error of an unavailable storage to one for the client, which then waits for `data.retryAfterMs` and
 * repeats the request. Returns other errors unchanged.
 */
export function asStorageUnavailable(error: unknown): unknown {
  if (!(error instanceof StorageFailure && isStorageUnavailable(error))) return error;
  return storageUnavailable("the task storage cannot be reached", error);
}

function storageUnavailable(message: string, cause?: unknown): McpError {
  return new McpError("internal_error", message, {
    data: { reason: STORAGE_UNAVAILABLE, retryAfterMs: RETRY_MS },
    fix: "Try again after `data.retryAfterMs`; the task continues meanwhile.",
    cause,
  });
}
