import { guarded } from "../../../../encoding/maybe-promise.js";
import type { Platform, Timer } from "../../../../platform/platform.js";
import type { KeyValue } from "../../../../storage/storage.js";

/** What a lease needs of its node. */
interface LeaseHolder {
  readonly id: string;
  /** Whether the node still serves anybody. */
  needsLease(): boolean;
  failed(error: unknown): void;
}

/**
 * The sign of life of a node: a key that expires unless it is renewed. Others end the streams of a node without one, so a node
 * that could not renew it must read what they appended before it writes to a client.
 */
export class NodeLease {
  readonly #platform: Platform;
  readonly #kv: KeyValue;
  readonly #key: (node: string) => string;
  readonly #leaseMs: number;
  readonly #holder: LeaseHolder;
  #timer: Timer | undefined;
  #dueAt = 0;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(platform: Platform, kv: KeyValue, key: (node: string) => string, leaseMs: number, holder: LeaseHolder) {
    this.#platform = platform;
    this.#kv = kv;
    this.#key = key;
    this.#leaseMs = leaseMs;
    this.#holder = holder;
  }

  /** Holds the lease from now on, for as long as the node serves anybody. */
  hold(): void {
    // Some runtimes drop the timers of a request when it ends; a timer that is long overdue will never fire.
    if (this.#closed || (this.#timer !== undefined && this.#platform.monotonic() < this.#dueAt + this.#leaseMs)) return;
    this.#renew();
  }

  /** False if other nodes may take this one for gone. */
  get held(): boolean {
    return this.#platform.monotonic() - this.#renewedAt < this.#leaseMs * 0.9;
  }

  /** Whether a node is alive, as far as the storage knows. */
  async isHeldBy(node: string): Promise<boolean> {
    return (await this.#kv.get(this.#key(node))) !== undefined;
  }

  /** Does not renew it any more. */
  stop(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Gives it up, so that others need not wait for its end. */
  async release(): Promise<void> {
    const isHeld = this.#timer !== undefined;
    this.stop();
    if (isHeld) await this.#kv.delete(this.#key(this.#holder.id));
  }

  #renew(): void {
    const now = this.#platform.monotonic();
    const wait = this.#leaseMs / 4;
    this.#timer?.cancel();
    this.#dueAt = now + wait;
    this.#timer = this.#platform.timer(wait, () => {
      this.#timer = undefined;
      if (this.#holder.needsLease()) this.#renew();
    });
    guarded(
      async () => {
        await this.#kv.set(this.#key(this.#holder.id), "1", { ttlMs: this.#leaseMs });
        this.#renewedAt = now;
      },
      (error) => this.#holder.failed(error),
    );
  }
}
