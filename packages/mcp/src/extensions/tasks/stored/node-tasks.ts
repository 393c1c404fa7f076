import type { Platform } from "../../../platform/platform.js";
import type { KeyValue } from "../../../storage/storage.js";

/**
 * Maximum number of tasks in one stored list. Further tasks are added to another list, so that the cost of a write does
 * not grow with the number of tasks.
 */
const LIST_LENGTH = 128;

/**
 * Maximum number of attempts to write a list that another process writes at the same time. After the last attempt, the
 * write fails.
 */
const MAX_ATTEMPTS = 16;

/** The tasks that one process runs, in stored lists of bounded length. */
export class NodeTasks {
  readonly #kv: KeyValue;
  readonly #platform: Platform;
  readonly #keyOf: (list: number) => string;
  readonly #lists: TaskList[] = [];
  readonly #listOf = new Map<string, TaskList>();

  constructor(kv: KeyValue, platform: Platform, keyOf: (list: number) => string) {
    this.#kv = kv;
    this.#platform = platform;
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#listOf.size;
  }

  /** The number of lists, including empty ones. */
  get lists(): number {
    return this.#lists.length;
  }

  /** Adds a task that expires at `until`. */
  add(id: string, until: number): void {
    if (this.#listOf.has(id)) return;
    let list = this.#lists.find(({ ids }) => ids.size < LIST_LENGTH);
    if (list === undefined) {
      list = new TaskList(this.#kv, this.#platform, this.#keyOf(this.#lists.length));
      this.#lists.push(list);
    }
    list.ids.set(id, until);
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
  async store(id: string): Promise<void> {
    await this.#listOf.get(id)?.store();
  }

  /**
   * Stores the lists that changed since the last write. If `all` is true, stores every list, because the stored lists
   * may no longer exist.
   */
  async storeAll(all: boolean): Promise<void> {
    const lists = this.#lists.filter((list) => all || !list.isStored);
    for (const list of lists) list.isStored = false;
    await Promise.all(lists.map((list) => list.store()));
  }
}

/** One stored list. Writes run one after the other, and calls during a write share the next write. */
class TaskList {
  /** The expiry time of each task. */
  readonly ids = new Map<string, number>();
  isStored = true;
  readonly #kv: KeyValue;
  readonly #platform: Platform;
  readonly #key: string;
  /**
   * The version of the stored list, or 0 if it is not stored. Undefined if the version is unknown, because a write
   * failed.
   */
  #version: number | undefined = 0;
  #storing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(kv: KeyValue, platform: Platform, key: string) {
    this.#kv = kv;
    this.#platform = platform;
    this.#key = key;
  }

  store(): Promise<void> {
    if (this.#storing === undefined) {
      this.#storing = this.#storeNow().finally(() => {
        this.#storing = undefined;
      });
      return this.#storing;
    }
    this.#next ??= this.#storing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.store();
      });
    return this.#next;
  }

  async #storeNow(): Promise<void> {
    this.isStored = true;
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        this.#version ??= (await this.#kv.get(this.#key))?.version ?? 0;
        if (await this.#replace(this.#version)) return;
        // Another process has changed the list, because it considered this process lost.
        this.#version = undefined;
      }
      throw new Error("other processes changed a list of tasks during every attempt to write it");
    } catch (error) {
      this.isStored = false;
      this.#version = undefined;
      throw error;
    }
  }

  /**
   * Replaces the stored list only if it has this version, so that a write that timed out and arrives late has no
   * effect.
   */
  async #replace(ifVersion: number): Promise<boolean> {
    if (this.ids.size > 0) {
      const ttlMs = Math.max(...this.ids.values()) - this.#platform.now();
      const text = JSON.stringify([...this.ids.keys()]);
      const written = await this.#kv.set(this.#key, text, { ttlMs: Math.max(1, ttlMs), ifVersion });
      this.#version = written;
      return written !== undefined;
    }
    if (ifVersion !== 0 && !(await this.#kv.delete(this.#key, { ifVersion }))) return false;
    this.#version = 0;
    return true;
  }
}
