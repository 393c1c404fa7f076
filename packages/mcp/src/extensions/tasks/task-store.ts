import { randomName } from "../../encoding/base64.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { KeyValue } from "../../storage/storage.js";
import { type OwnedTask, OwnedTasks } from "./stored/owned-tasks.js";
import { isOver, type TaskRecord } from "./task-record.js";

/** Bounds of the tasks of one principal. */
export interface OwnerLimits {
  readonly kept: number;
  readonly running: number;
}

/** Attempts to write what another process writes at the same time; each lost attempt means that another one succeeded. */
const MAX_ATTEMPTS = 64;
/** Tasks of a principal with too many that are looked at with each refusal, whether they still run. */
const CHECKED_TASKS = 8;
/** A task is in the list of its owner before it is stored; after this time it is stored, or never will be. */
const CREATION_MS = 60_000;
/** Tasks that could not be removed and wait to be; what is more than that stays until it expires. */
const MAX_LEFT = 1000;

/** The tasks of one server in its storage. */
export class TaskStore {
  readonly #kv: KeyValue;
  readonly #platform: Platform;
  readonly #base: string;
  readonly #maxLength: number;
  readonly #owned: OwnedTasks;
  /** Tasks to remove for which the storage has failed so far. */
  readonly #left = new Map<string, TaskRecord>();
  #checks = 0;

  constructor(kv: KeyValue, platform: Platform, server: string, maxLength: number) {
    this.#kv = kv;
    this.#platform = platform;
    this.#base = `server/${server}/tasks`;
    this.#maxLength = maxLength;
    this.#owned = new OwnedTasks(kv, platform, `${this.#base}-of`);
  }

  /** An id that cannot be guessed: 192 random bits. */
  newId(): string {
    return randomName(this.#platform, 24);
  }

  /**
   * Stores a new task, in the place of finished ones if its owner has too many. Throws `limit_exceeded` when they all run. Discards
   * what it leaves behind when it fails.
   */
  async create(record: TaskRecord, limits: OwnerLimits): Promise<void> {
    const { id, owner, ttlMs } = record;
    const text = this.#text(record);
    if (owner !== null) await this.#claim(record, owner, limits);
    try {
      await this.#kv.set(this.#key(id), text, { ttlMs, ifVersion: 0 });
    } catch (error) {
      await this.discard(record);
      throw error;
    }
  }

  async #claim(record: TaskRecord, owner: string, limits: OwnerLimits): Promise<void> {
    const { id, createdAt, ttlMs } = record;
    const entry = { id, since: createdAt, until: createdAt + ttlMs, runs: !isOver(record) };
    let dropped: readonly OwnedTask[] = [];
    const add = () =>
      this.#owned.update(owner, (owned) => {
        dropped = outdated(owned, entry, limits);
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
      const { version } = found;
      if ((await this.#kv.set(this.#key(id), this.#text(next), { ttlMs, ifVersion: version })) !== undefined)
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

/** The finished tasks that make room for a new one: the oldest. Throws where there are not enough. */
function outdated(owned: readonly OwnedTask[], { runs }: OwnedTask, { kept, running }: OwnerLimits): OwnedTask[] {
  if (runs && owned.filter((one) => one.runs).length >= running) {
    throw new TooManyTasks("tasks of one caller run", "runningPerPrincipal", running);
  }
  const excess = Math.max(0, owned.length + 1 - kept);
  const over = owned.filter((one) => !one.runs).slice(0, excess);
  if (over.length < excess) throw new TooManyTasks("tasks of one caller are kept", "keptPerPrincipal", kept);
  return over;
}

/** When a task ends cannot be foreseen. */
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
