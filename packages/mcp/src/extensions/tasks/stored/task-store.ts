import { isThenable, type MaybePromise } from "../../../encoding/maybe-promise.js";
import { thrownMessage } from "../../../encoding/thrown-message.js";
import { isObject } from "../../../jsonrpc/message.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import { type KeyValue, StorageFailure } from "../../../storage/storage.js";
import { type OwnedTask, OwnedTasks } from "./owned-tasks.js";
import { isOver, type TaskRecord } from "./task-record.js";

/** Bounds that a new task must keep to. */
export interface TaskBounds {
  /** Stored tasks of its owner, and those of them that run. */
  readonly kept: number;
  readonly running: number;
  /** Stored tasks that this process created; default: any number. */
  readonly total?: number;
  /** The tasks that run in this process. */
  readonly runs?: ReadonlyMap<string, unknown>;
}

/** Milliseconds that the storage may take for one call about a task. */
export const STORAGE_MS = 10_000;
/** Tasks that may run in another process by now and are read to make room for a new one. */
const MAX_READS = 16;
/** How often all tasks of this process are looked through for expired ones. */
const SWEEP_MS = 1000;

/** Attempts to write what another process writes at the same time; each lost attempt means that another one succeeded. */
const MAX_ATTEMPTS = 64;
/** Tasks of a principal with too many that are looked at with each refusal, whether they still run. */
const CHECKED_TASKS = 8;
/** A task is in the list of its owner before it is stored; after this time it is stored, or never will be. */
const CREATION_MS = 60_000;
/** Tasks that could not be removed and wait to be; what is more than that stays until it expires. */
const MAX_LEFT = 1000;

/** The random bytes of an id, which cannot be guessed, and its form. */
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
  /** When each task expires that this process created, oldest first. */
  readonly #created = new Map<string, number>();
  #swept = Number.NEGATIVE_INFINITY;
  /** Tasks to remove for which the storage has failed so far. */
  readonly #left = new Map<string, TaskRecord>();
  #checks = 0;

  /** Calls `changed` after each change that clients see. */
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
   * Stores a new task, in the place of finished ones if there are too many. Throws `limit_exceeded` when they all run. Discards
   * what it leaves behind when it fails.
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

  /** Counts a new task of this process, and drops the oldest finished ones if there are too many. */
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
      // Not counted while it is read, so that two new tasks do not wait for the same place.
      created.delete(one);
      const found = await this.read(one);
      if (found !== undefined && !isOver(found)) created.set(one, until);
      else if (found !== undefined) await this.discard(found);
    }
    if (created.size <= total) return;
    created.delete(id);
    throw new TooManyTasks("tasks are kept", "kept", total);
  }

  #sweep(): void {
    const now = this.#platform.now();
    if (now - this.#swept < SWEEP_MS) return;
    this.#swept = now;
    for (const [one, until] of this.#created) if (until <= now) this.#created.delete(one);
  }

  async #claim(record: TaskRecord, owner: string, bounds: TaskBounds): Promise<void> {
    const { id, createdAt, ttlMs } = record;
    const entry = { id, since: createdAt, until: createdAt + ttlMs, runs: !isOver(record) };
    let dropped: readonly OwnedTask[] = [];
    const add = () =>
      this.#owned.update(owner, (owned) => {
        dropped = outdated(owned, entry, bounds);
        return [...owned.filter((one) => !dropped.includes(one)), entry];
      });
    try {
      await add();
    } catch (error) {
      // A process that ends between the last write of a task and this list leaves a task in it that no longer runs.
      if (!McpError.is(error) || error.kind !== "limit_exceeded" || !(await this.#recount(owner))) throw error;
      await add();
    }
    for (const one of dropped) {
      try {
        await this.#kv.delete(this.#key(one.id));
      } catch {
        // It expires all the same.
      }
    }
  }

  /** Looks whether some of an owner's tasks still run. Resolves with true if the list was wrong. */
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
      if (record === undefined || isOver(record)) wrong.add(id);
    }
    if (wrong.size === 0) return false;
    await this.#owned.update(owner, (owned) => owned.map((one) => (wrong.has(one.id) ? { ...one, runs: false } : one)));
    return true;
  }

  async read(id: string): Promise<TaskRecord | undefined> {
    const found = await this.#kv.get(this.#key(id));
    // Only this class writes under these keys.
    return found === undefined ? undefined : (JSON.parse(found.value) as TaskRecord);
  }

  /**
   * Replaces a record by what `change` makes of it, however many others do so at the same time. `change` may return the same
   * record for no change, and what it throws is thrown. Undefined if there is no such task any more.
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
      // Clocks of processes may differ, and the time of a task never goes back.
      const next = { ...changed, updatedAt: Math.max(now, record.updatedAt) };
      const options = { ttlMs, ifVersion: found.version };
      if ((await this.#kv.set(this.#key(id), this.#text(next), options)) === undefined) continue;
      if (differs(record, next)) this.#changed(record, next);
      return next;
    }
    throw new McpError("internal_error", "a task was changed by others each time it was to be written", {
      fix: "Try again later.",
    });
  }

  /** Removes a task that no client was told of; `discardLeft` tries again what fails. Never rejects. */
  async discard(record: TaskRecord): Promise<void> {
    try {
      await this.#remove(record);
      this.#left.delete(record.id);
    } catch (error) {
      this.#platform.warn(`a task that nobody knows could not be removed: ${thrownMessage(error)}`);
      if (this.#left.size < MAX_LEFT) this.#left.set(record.id, record);
    }
  }

  /** Whether the task is still to be removed. */
  isLeft(id: string): boolean {
    return this.#left.has(id);
  }

  /** Resolves with the ids of the tasks that are gone now. Never rejects. */
  async discardLeft(): Promise<string[]> {
    const records = [...this.#left.values()];
    for (const record of records) {
      if (record.createdAt + record.ttlMs <= this.#platform.now()) this.#left.delete(record.id);
      else await this.discard(record);
    }
    return records.map(({ id }) => id).filter((id) => !this.isLeft(id));
  }

  async #remove({ id, owner }: TaskRecord): Promise<void> {
    await this.#kv.delete(this.#key(id));
    if (owner !== null) await this.#owned.update(owner, (owned) => owned.filter((one) => one.id !== id));
  }

  /** A task of this owner is over, and no longer counts as running. */
  async ended({ id, owner }: TaskRecord): Promise<void> {
    if (owner === null) return;
    const rests = (one: OwnedTask) => (one.id === id ? { ...one, runs: false } : one);
    await this.#owned.update(owner, (owned) =>
      owned.some((one) => one.id === id && one.runs) ? owned.map(rests) : owned,
    );
  }

  /** The ids of an owner's tasks, oldest first. */
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

/** Whether clients see a difference. */
function differs(before: TaskRecord, after: TaskRecord): boolean {
  return (
    before.status !== after.status ||
    before.statusMessage !== after.statusMessage ||
    before.lease.token !== after.lease.token ||
    JSON.stringify(before.questions) !== JSON.stringify(after.questions)
  );
}

/** The finished tasks that make room for a new one: the oldest. Throws where there are not enough. */
function outdated(owned: readonly OwnedTask[], { runs }: OwnedTask, { kept, running }: TaskBounds): OwnedTask[] {
  if (runs && owned.filter((one) => one.runs).length >= running) {
    throw new TooManyTasks("tasks of one caller run", "runningPerPrincipal", running);
  }
  const excess = Math.max(0, owned.length + 1 - kept);
  const over = owned.filter((one) => !one.runs).slice(0, excess);
  if (over.length < excess) throw new TooManyTasks("tasks of one caller are kept", "keptPerPrincipal", kept);
  return over;
}

/** When a refused request may be sent again: when a task ends, or a storage is back, cannot be foreseen. */
const RETRY_MS = 1000;

/** The refusal of one task more. */
export class TooManyTasks extends McpError {
  /** What HTTP says of it: whether the caller or the server has too many, and when to try again. */
  readonly limited: { readonly status: number; readonly retryAfterMs: number };

  constructor(what: string, limit: string, value: number) {
    const none = limit.startsWith("kept") ? ", and none of them is over" : "";
    super("limit_exceeded", `${value} ${what} already${none}. Wait until one is over, then call again.`, {
      data: { limit, value, retryAfterMs: RETRY_MS },
      fix: `Wait until some are over, or raise \`limits.${limit}\` of the tasks extension.`,
    });
    this.limited = { status: limit.endsWith("PerPrincipal") ? 429 : 503, retryAfterMs: RETRY_MS };
  }
}

/** The same answer, or a rejection when it does not come in time. */
function timely<T>(answer: MaybePromise<T>, platform: Platform, ms = STORAGE_MS): MaybePromise<T> {
  if (!isThenable(answer)) return answer;
  return new Promise<T>((resolve, reject) => {
    const late = () => {
      reject(awayFor(`the storage of tasks did not answer within ${ms} ms`));
    };
    const timer = platform.timer(ms, late);
    Promise.resolve(answer)
      .finally(() => timer.cancel())
      .then(resolve, reject);
  });
}

/** The same store, whose calls fail when they are not answered in time: a task must not wait for a store that hangs. */
export function timelyKeyValue(kv: KeyValue, platform: Platform, ms = STORAGE_MS): KeyValue {
  return {
    get: (key) => timely(kv.get(key), platform, ms),
    set: (key, value, options) => timely(kv.set(key, value, options), platform, ms),
    delete: (key, options) => timely(kv.delete(key, options), platform, ms),
    touch: (key, ttlMs) => timely(kv.touch(key, ttlMs), platform, ms),
  };
}

/** The `data.reason` of such an error. */
const AWAY = "storage_unavailable";

/** Whether the storage could not be reached, or did not answer in time. */
export function isStorageAway(error: unknown): boolean {
  if (error instanceof StorageFailure) return error.reason === "unavailable" || error.reason === "timeout";
  return McpError.is(error) && isObject(error.data) && error.data["reason"] === AWAY;
}

/**
 * The error of a request about a task that failed because the storage was away: clients wait for `data.retryAfterMs` and repeat the
 * request. Other errors are returned as they are.
 */
export function asStorageAway(error: unknown): unknown {
  if (!(error instanceof StorageFailure && isStorageAway(error))) return error;
  return awayFor("the storage of tasks cannot be reached", error);
}

function awayFor(message: string, cause?: unknown): McpError {
  return new McpError("internal_error", message, {
    data: { reason: AWAY, retryAfterMs: RETRY_MS },
    fix: "Try again after `data.retryAfterMs`; the task goes on meanwhile.",
    cause,
  });
}
