import type { Platform } from "../../../platform/platform.js";
import { isOver, type TaskRecord } from "../task-record.js";
import { type TaskStore, TooManyTasks } from "../task-store.js";

/** Tasks that may run in another process by now and are looked at for one new task. */
const MOST_READS = 16;
/** How often all tasks are looked through for those that have expired. */
const SWEEP_MS = 1000;

/** The tasks that this process created and that are still kept. The oldest ones that are over make room for new ones. */
export class KeptTasks {
  readonly #platform: Platform;
  readonly #most: number;
  /** When each of them expires, oldest first. */
  readonly #untils = new Map<string, number>();
  #swept = Number.NEGATIVE_INFINITY;

  constructor(platform: Platform, most: number) {
    this.#platform = platform;
    this.#most = most;
  }

  /** Counts a new task. Throws `limit_exceeded` when no other can be dropped for it. `runs` has those that run here. */
  async add({ id, createdAt, ttlMs }: TaskRecord, store: TaskStore, runs: ReadonlyMap<string, unknown>): Promise<void> {
    this.#untils.set(id, createdAt + ttlMs);
    this.#sweep();
    let reads = 0;
    for (const [one, until] of this.#untils) {
      if (this.#untils.size <= this.#most) return;
      if (one === id || reads === MOST_READS) break;
      if (runs.has(one)) continue;
      reads++;
      // Not counted while it is looked at, so that two new tasks do not wait for the same place.
      this.#untils.delete(one);
      const found = await store.read(one);
      if (found !== undefined && !isOver(found)) this.#untils.set(one, until);
      else if (found !== undefined) await store.discard(found);
    }
    if (this.#untils.size <= this.#most) return;
    this.#untils.delete(id);
    throw new TooManyTasks("tasks are kept", "kept", this.#most);
  }

  /** It was not stored after all. */
  remove(id: string): void {
    this.#untils.delete(id);
  }

  #sweep(): void {
    const now = this.#platform.now();
    if (this.#untils.size <= this.#most || now - this.#swept < SWEEP_MS) return;
    this.#swept = now;
    for (const [one, until] of this.#untils) if (until <= now) this.#untils.delete(one);
  }
}
