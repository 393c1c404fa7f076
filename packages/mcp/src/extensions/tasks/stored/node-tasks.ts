import type { KeyValue } from "../../../storage/storage.js";

/** Tasks in one stored list: writing it costs the same however many tasks a process runs. */
const LIST_LENGTH = 128;

/** Attempts to write a list that another process writes at the same time. */
const MAX_ATTEMPTS = 16;

/** The tasks that one process runs, in stored lists of bounded length. */
export class NodeTasks {
  readonly #kv: KeyValue;
  readonly #keyOf: (list: number) => string;
  readonly #lists: TaskList[] = [];
  readonly #listOf = new Map<string, TaskList>();

  constructor(kv: KeyValue, keyOf: (list: number) => string) {
    this.#kv = kv;
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#listOf.size;
  }

  /** How many lists there are, the empty ones among them. */
  get lists(): number {
    return this.#lists.length;
  }

  add(id: string): void {
    if (this.#listOf.has(id)) return;
    let list = this.#lists.find(({ ids }) => ids.size < LIST_LENGTH);
    if (list === undefined) {
      list = new TaskList(this.#kv, this.#keyOf(this.#lists.length));
      this.#lists.push(list);
    }
    list.ids.add(id);
    list.isStored = false;
    this.#listOf.set(id, list);
  }

  remove(id: string): void {
    const list = this.#listOf.get(id);
    if (list === undefined) return;
    list.ids.delete(id);
    list.isStored = false;
    this.#listOf.delete(id);
  }

  /** Resolves when the list with this task is stored. */
  async store(id: string, ttlMs: number): Promise<void> {
    await this.#listOf.get(id)?.store(ttlMs);
  }

  /** Stores what changed since it was stored last; `all` if what is stored may be gone. */
  async storeAll(ttlMs: number, all: boolean): Promise<void> {
    const lists = this.#lists.filter((list) => all || !list.isStored);
    for (const list of lists) list.isStored = false;
    await Promise.all(lists.map((list) => list.store(ttlMs)));
  }
}

/** One stored list. Writes happen one after the other; calls during one share the next. */
class TaskList {
  readonly ids = new Set<string>();
  isStored = true;
  readonly #kv: KeyValue;
  readonly #key: string;
  #version = 0;
  #storing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(kv: KeyValue, key: string) {
    this.#kv = kv;
    this.#key = key;
  }

  store(ttlMs: number): Promise<void> {
    if (this.#storing === undefined) {
      this.#storing = this.#storeNow(ttlMs).finally(() => {
        this.#storing = undefined;
      });
      return this.#storing;
    }
    this.#next ??= this.#storing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.store(ttlMs);
      });
    return this.#next;
  }

  async #storeNow(ttlMs: number): Promise<void> {
    this.isStored = true;
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        if (await this.#replace(ttlMs)) return;
        // A process that took this one for gone has changed the list.
        this.#version = (await this.#kv.get(this.#key))?.version ?? 0;
      }
      throw new Error("a list of tasks was changed by others each time it was to be written");
    } catch (error) {
      this.isStored = false;
      throw error;
    }
  }

  /** By its version, so that a write that was given up and arrives late changes nothing. */
  async #replace(ttlMs: number): Promise<boolean> {
    const ifVersion = this.#version;
    if (this.ids.size > 0) {
      const written = await this.#kv.set(this.#key, JSON.stringify([...this.ids]), { ttlMs, ifVersion });
      this.#version = written ?? 0;
      return written !== undefined;
    }
    if (ifVersion !== 0 && !(await this.#kv.delete(this.#key, { ifVersion }))) return false;
    this.#version = 0;
    return true;
  }
}
