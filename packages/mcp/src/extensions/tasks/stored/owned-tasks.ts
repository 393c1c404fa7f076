import { toBase64Url } from "../../../encoding/base64.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import type { KeyValue } from "../../../storage/storage.js";

/** An entry of the list of one principal's tasks. */
export interface OwnedTask {
  readonly id: string;
  readonly since: number;
  /** When it expires. */
  readonly until: number;
  readonly runs: boolean;
}

/** Makes another list of a list, or returns it as it is. What it throws is thrown, and the list stays as it is. */
type ListChange = (owned: readonly OwnedTask[]) => readonly OwnedTask[];

interface Waiting {
  readonly change: ListChange;
  resolve(): void;
  reject(error: unknown): void;
}

/** Attempts to write a list that other processes write at the same time; each lost attempt means that another one succeeded. */
const MAX_ATTEMPTS = 64;

/** The lists of each principal's tasks. */
export class OwnedTasks {
  readonly #kv: KeyValue;
  readonly #platform: Platform;
  readonly #base: string;
  /** Changes of one process to one list are made together, so that only processes contend for it. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(kv: KeyValue, platform: Platform, base: string) {
    this.#kv = kv;
    this.#platform = platform;
    this.#base = base;
  }

  /** An owner's tasks that have not expired, oldest first. */
  async read(owner: string): Promise<readonly OwnedTask[]> {
    return this.#living((await this.#kv.get(this.#keyOf(owner)))?.value);
  }

  update(owner: string, change: ListChange): Promise<void> {
    return new Promise((resolve, reject) => {
      const one: Waiting = { change, resolve: () => resolve(), reject };
      const waiting = this.#waiting.get(owner);
      if (waiting !== undefined) {
        waiting.push(one);
        return;
      }
      this.#waiting.set(owner, [one]);
      void this.#work(owner);
    });
  }

  /** Makes the changes that wait until none is left. Never rejects. */
  async #work(owner: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(owner) ?? [];
      if (batch.length === 0) break;
      this.#waiting.set(owner, []);
      try {
        const refused = await this.#changeAll(owner, batch);
        for (const one of batch) refused.has(one) ? one.reject(refused.get(one)) : one.resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#waiting.delete(owner);
  }

  /** Returns what was thrown by changes that were not made. */
  async #changeAll(owner: string, batch: readonly Waiting[]): Promise<Map<Waiting, unknown>> {
    const key = this.#keyOf(owner);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#kv.get(key);
      const before: readonly OwnedTask[] = this.#living(found?.value);
      const refused = new Map<Waiting, unknown>();
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
    throw new McpError("internal_error", "the list of tasks was changed by others each time it was to be written", {
      fix: "Try again later.",
    });
  }

  async #store(key: string, owned: readonly OwnedTask[], ifVersion: number): Promise<boolean> {
    if (owned.length === 0) return ifVersion === 0 || this.#kv.delete(key, { ifVersion });
    const until = owned.reduce((latest, one) => Math.max(latest, one.until), 0);
    const ttlMs = Math.max(1, until - this.#platform.now());
    return (await this.#kv.set(key, JSON.stringify(owned), { ttlMs, ifVersion })) !== undefined;
  }

  #living(text: string | undefined): OwnedTask[] {
    const now = this.#platform.now();
    // Only this class writes it.
    return ((text === undefined ? [] : JSON.parse(text)) as OwnedTask[]).filter(({ until }) => until > now);
  }

  /** A digest, because keys of principals may be long and may be personal. */
  #keyOf(owner: string): string {
    return `${this.#base}/${toBase64Url(this.#platform.sha256(new TextEncoder().encode(owner)))}`;
  }
}
