import { toBase64Url } from "../../../encoding/base64.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import type { KeyValue } from "../../../storage/storage.js";

/** An entry in the list of one principal's tasks. */
export interface OwnedTask {
  readonly id: string;
  readonly since: number;
  /** The expiry time, in milliseconds since the epoch. */
  readonly until: number;
  readonly runs: boolean;
}

/**
 * Returns the changed list, or the same list for no change. If the function throws, the list stays unchanged and the
 * error is passed on.
 */
type ListChange = (owned: readonly OwnedTask[]) => readonly OwnedTask[];

interface QueuedChange {
  readonly change: ListChange;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Maximum number of attempts to write a list that other processes write at the same time. Each failed attempt means
 * that another process succeeded. After the last attempt, the change fails.
 */
const MAX_ATTEMPTS = 64;

/** The lists of each principal's tasks. */
export class OwnedTasks {
  readonly #kv: KeyValue;
  readonly #platform: Platform;
  readonly #base: string;
  /**
   * Queued changes by owner. This process applies them in batches, so that only different processes compete to write a
   * list.
   */
  readonly #queues = new Map<string, QueuedChange[]>();

  constructor(kv: KeyValue, platform: Platform, base: string) {
    this.#kv = kv;
    this.#platform = platform;
    this.#base = base;
  }

  /** Returns an owner's tasks that have not expired, oldest first. */
  async read(owner: string): Promise<readonly OwnedTask[]> {
    return this.#unexpired((await this.#kv.get(this.#keyOf(owner)))?.value);
  }

  update(owner: string, change: ListChange): Promise<void> {
    return new Promise((resolve, reject) => {
      const one: QueuedChange = { change, resolve: () => resolve(), reject };
      const waiting = this.#queues.get(owner);
      if (waiting !== undefined) {
        waiting.push(one);
        return;
      }
      this.#queues.set(owner, [one]);
      void this.#drain(owner);
    });
  }

  /** Applies queued changes until none is left. Never rejects. */
  async #drain(owner: string): Promise<void> {
    for (;;) {
      const batch = this.#queues.get(owner) ?? [];
      if (batch.length === 0) break;
      this.#queues.set(owner, []);
      try {
        const refused = await this.#changeAll(owner, batch);
        for (const one of batch) refused.has(one) ? one.reject(refused.get(one)) : one.resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#queues.delete(owner);
  }

  /** Applies a batch of changes. Returns the errors of the changes that threw. */
  async #changeAll(owner: string, batch: readonly QueuedChange[]): Promise<Map<QueuedChange, unknown>> {
    const key = this.#keyOf(owner);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#kv.get(key);
      const before: readonly OwnedTask[] = this.#unexpired(found?.value);
      const refused = new Map<QueuedChange, unknown>();
      let owned = before;
      for (const one of batch) {
        try {
          owned = one.change(owned);
        } catch (error) {
          refused.set(one, error);
        }
      }
      if (owned === before || (await this.#store(key, owned, found?.version ?? 0))) return refused;
    }
    throw new McpError("internal_error", "other processes changed the list of tasks during every attempt to write it", {
      fix: "Try again later.",
    });
  }

  async #store(key: string, owned: readonly OwnedTask[], ifVersion: number): Promise<boolean> {
    if (owned.length === 0) return ifVersion === 0 || this.#kv.delete(key, { ifVersion });
    const until = owned.reduce((latest, one) => Math.max(latest, one.until), 0);
    const ttlMs = Math.max(1, until - this.#platform.now());
    return (await this.#kv.set(key, JSON.stringify(owned), { ttlMs, ifVersion })) !== undefined;
  }

  #unexpired(text: string | undefined): OwnedTask[] {
    const now = this.#platform.now();
    // Safe: only this class writes the value.
    return ((text === undefined ? [] : JSON.parse(text)) as OwnedTask[]).filter(({ until }) => until > now);
  }

  /** Uses a digest of the owner, because the keys of principals may be long or personal. */
  #keyOf(owner: string): string {
    return `${this.#base}/${toBase64Url(this.#platform.sha256(new TextEncoder().encode(owner)))}`;
  }
}
