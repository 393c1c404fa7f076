import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Platform, Timer } from "../../platform/platform.js";
import type { Storage, Unsubscribe } from "../../storage/storage.js";

const TOPIC = "oauth revoked";
const RETRY_MS = 5_000;

/**
 * Publishes the deletion of stored keys, and notifies the connections of every node that depend on them. It subscribes with the
 * first connection. Each one is also checked against the storage once the subscription stands and after each of its
 * interruptions, so that no deletion is missed in between. At most the open connections are remembered.
 */
export class Revocations {
  readonly #storage: Storage;
  readonly #platform: Platform;
  readonly #watchers = new Map<string, Set<() => void>>();
  #subscription: Promise<Unsubscribe> | undefined;
  #retry: Timer | undefined;
  #hasWarned = false;

  constructor(storage: Storage, platform: Platform) {
    this.#storage = storage;
    this.#platform = platform;
  }

  /** Notifies all nodes that a key was deleted: this one also if the storage fails, which rejects. */
  async publish(key: string): Promise<void> {
    this.#revoked(key);
    await this.#storage.pubsub.publish(TOPIC, key);
  }

  /** Calls `act` once when the key is deleted, or if it is gone already. Returns a function that stops that. */
  watch(key: string, act: () => void): () => void {
    // A function of its own, because the same one may watch twice.
    const watcher = () => act();
    const watchers = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, watchers.add(watcher));
    void this.#check([key]);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(key) === watchers) this.#watchers.delete(key);
    };
  }

  #revoked(key: string): void {
    const watchers = this.#watchers.get(key) ?? [];
    this.#watchers.delete(key);
    for (const watcher of watchers) watcher();
  }

  async #check(keys: readonly string[]): Promise<void> {
    try {
      await this.#subscribe();
      for (const key of keys) {
        if (this.#watchers.has(key) && (await this.#storage.kv.get(key)) === undefined) this.#revoked(key);
      }
      this.#hasWarned = false;
    } catch (error) {
      this.#checkLater(error);
    }
  }

  async #subscribe(): Promise<void> {
    const subscribe = async () =>
      this.#storage.pubsub.subscribe(
        TOPIC,
        (key) => this.#revoked(key),
        () => void this.#check([...this.#watchers.keys()]),
      );
    this.#subscription ??= subscribe();
    try {
      await this.#subscription;
    } catch (error) {
      this.#subscription = undefined;
      throw error;
    }
  }

  #checkLater(error: unknown): void {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      const problem = `the storage cannot tell which logins were revoked: ${thrownMessage(error)}`;
      this.#platform.warn(
        `${problem}. It is asked again every ${RETRY_MS} ms; until then their connections stay open.`,
      );
    }
    this.#retry ??= this.#platform.timer(RETRY_MS, () => {
      this.#retry = undefined;
      if (this.#watchers.size > 0) void this.#check([...this.#watchers.keys()]);
    });
  }
}
