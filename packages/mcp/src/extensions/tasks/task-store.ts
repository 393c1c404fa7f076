import { randomName, toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Storage } from "../../storage/storage.js";
import type { TaskRecord } from "./task-record.js";

/** An entry of the list of one principal's tasks. */
interface OwnedTask {
  readonly id: string;
  /** When it expires. */
  readonly until: number;
  readonly runs: boolean;
}

/** Bounds of the tasks of one principal. */
export interface OwnerLimits {
  readonly kept: number;
  readonly running: number;
}

/** Attempts to write what another process writes at the same time; each lost attempt means that another one succeeded. */
const MAX_ATTEMPTS = 64;

/** The tasks of one server in its storage. */
export class TaskStore {
  readonly #storage: Storage;
  readonly #platform: Platform;
  readonly #base: string;
  readonly #maxBytes: number;

  constructor(storage: Storage, platform: Platform, server: string, maxBytes: number) {
    this.#storage = storage;
    this.#platform = platform;
    this.#base = `server/${server}/tasks`;
    this.#maxBytes = maxBytes;
  }

  /** An id that cannot be guessed: 192 random bits. */
  newId(): string {
    return randomName(this.#platform, 24);
  }

  /** Stores a new task. Throws `limit_exceeded` when its owner has too many. */
  async create(record: TaskRecord, limits: OwnerLimits): Promise<void> {
    const { id, owner, createdAt, ttlMs } = record;
    if (owner !== null) {
      const entry = { id, until: createdAt + ttlMs, runs: true };
      await this.#updateOwned(owner, (owned) => {
        checkOwned(owned, limits);
        return [...owned, entry];
      });
    }
    await this.#storage.kv.set(this.#key(id), this.#text(record), { ttlMs, ifVersion: 0 });
  }

  async read(id: string): Promise<TaskRecord | undefined> {
    const found = await this.#storage.kv.get(this.#key(id));
    // Only this class writes under these keys.
    return found === undefined ? undefined : (JSON.parse(found.value) as TaskRecord);
  }

  /**
   * Replaces a record by what `change` makes of it, however many others do so at the same time. `change` may return the same
   * record for no change, and what it throws is thrown. Undefined if there is no such task any more.
   */
  async update(id: string, change: (record: TaskRecord) => TaskRecord): Promise<TaskRecord | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#storage.kv.get(this.#key(id));
      if (found === undefined) return undefined;
      const record = JSON.parse(found.value) as TaskRecord;
      const changed = change(record);
      if (changed === record) return record;
      const updatedAt = this.#platform.now();
      const next = { ...changed, updatedAt };
      const ttlMs = Math.max(1, next.createdAt + next.ttlMs - updatedAt);
      if (
        (await this.#storage.kv.set(this.#key(id), this.#text(next), { ttlMs, ifVersion: found.version })) !== undefined
      ) {
        return next;
      }
    }
    throw new McpError("internal_error", "a task was changed by others each time it was to be written", {
      fix: "Try again later.",
    });
  }

  /** Removes a task that no client was told of. */
  async discard({ id, owner }: TaskRecord): Promise<void> {
    await this.#storage.kv.delete(this.#key(id));
    if (owner !== null) await this.#updateOwned(owner, (owned) => owned.filter((one) => one.id !== id));
  }

  /** A task of this owner is over, and no longer counts as running. */
  async ended({ id, owner }: TaskRecord): Promise<void> {
    if (owner === null) return;
    await this.#updateOwned(owner, (owned) => owned.map((one) => (one.id === id ? { ...one, runs: false } : one)));
  }

  /** The ids of an owner's tasks, oldest first. */
  async owned(owner: string): Promise<string[]> {
    const found = await this.#storage.kv.get(this.#ownerKey(owner));
    return this.#living(found?.value).map(({ id }) => id);
  }

  async #updateOwned(owner: string, change: (owned: readonly OwnedTask[]) => readonly OwnedTask[]): Promise<void> {
    const key = this.#ownerKey(owner);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#storage.kv.get(key);
      const owned = change(this.#living(found?.value));
      const until = Math.max(...owned.map((one) => one.until), 0);
      const ttlMs = Math.max(1, until - this.#platform.now());
      const ifVersion = found?.version ?? 0;
      if ((await this.#storage.kv.set(key, JSON.stringify(owned), { ttlMs, ifVersion })) !== undefined) return;
    }
    throw new McpError("internal_error", "the list of tasks was changed by others each time it was to be written", {
      fix: "Try again later.",
    });
  }

  #living(text: string | undefined): OwnedTask[] {
    const now = this.#platform.now();
    // Only this class writes it.
    return ((text === undefined ? [] : JSON.parse(text)) as OwnedTask[]).filter(({ until }) => until > now);
  }

  #text(record: TaskRecord): string {
    const text = JSON.stringify(record);
    if (text.length <= this.#maxBytes) return text;
    throw new McpError("limit_exceeded", `the task needs more than ${this.#maxBytes} characters`, {
      data: { limit: "taskLength", value: this.#maxBytes },
      fix: "Return less from the tool and its steps, or raise `limits.taskLength` of the tasks extension.",
    });
  }

  #key(id: string): string {
    return `${this.#base}/${id}`;
  }

  /** A digest, because keys of principals may be long and may be personal. */
  #ownerKey(owner: string): string {
    return `${this.#base}-of/${toBase64Url(this.#platform.sha256(new TextEncoder().encode(owner)))}`;
  }
}

function checkOwned(owned: readonly OwnedTask[], { kept, running }: OwnerLimits): void {
  if (owned.length >= kept) throw tooMany("tasks of one caller are kept", "keptPerPrincipal", kept);
  if (owned.filter(({ runs }) => runs).length >= running) {
    throw tooMany("tasks of one caller run", "runningPerPrincipal", running);
  }
}

/** The refusal of one task more. */
export function tooMany(what: string, limit: string, value: number): McpError {
  return new McpError("limit_exceeded", `${value} ${what} already`, {
    data: { limit, value },
    fix: `Wait until some are over, or raise \`limits.${limit}\` of the tasks extension.`,
  });
}
