import { guarded } from "../encoding/maybe-promise.js";
import { type PubSub, StorageError } from "./storage.js";

interface Subscription {
  readonly deliver: (message: string) => void;
  active: boolean;
}

interface Delivery {
  readonly topic: string;
  readonly message: string;
  readonly to: readonly Subscription[];
}

/**
 * Messages within this process. `publish` delivers before it returns, unless a `deliver` calls it: then the message
 * waits for the current delivery to finish, so that every subscription sees the same order.
 */
export class MemoryPubSub implements PubSub {
  readonly #maxSubscriptions: number;
  readonly #onDeliverError: (error: unknown, topic: string) => void;
  readonly #topics = new Map<string, Set<Subscription>>();
  readonly #waiting: Delivery[] = [];
  #delivering = false;
  #size = 0;

  constructor(maxSubscriptions: number, onDeliverError: (error: unknown, topic: string) => void) {
    this.#maxSubscriptions = maxSubscriptions;
    this.#onDeliverError = onDeliverError;
  }

  get size(): number {
    return this.#size;
  }

  publish(topic: string, message: string): void {
    const subscriptions = this.#topics.get(topic);
    if (subscriptions === undefined) return;
    this.#waiting.push({ topic, message, to: [...subscriptions] });
    if (this.#delivering) return;
    this.#delivering = true;
    // The array grows during this loop when a `deliver` publishes.
    for (const delivery of this.#waiting) this.#deliver(delivery);
    this.#waiting.length = 0;
    this.#delivering = false;
  }

  subscribe(topic: string, deliver: (message: string) => void): () => void {
    if (this.#size >= this.#maxSubscriptions) {
      throw new StorageError(
        "maxSubscriptions",
        this.#maxSubscriptions,
        "Raise limits.maxSubscriptions of memoryStorage.",
      );
    }
    const subscription: Subscription = { deliver, active: true };
    const subscriptions = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscriptions.add(subscription));
    this.#size++;
    return () => {
      if (!subscription.active) return;
      subscription.active = false;
      this.#size--;
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && this.#topics.get(topic) === subscriptions) this.#topics.delete(topic);
    };
  }

  clear(): void {
    for (const subscriptions of this.#topics.values()) {
      for (const subscription of subscriptions) subscription.active = false;
    }
    this.#topics.clear();
    this.#size = 0;
  }

  #deliver({ topic, message, to }: Delivery): void {
    for (const subscription of to) {
      if (!subscription.active) continue;
      guarded(
        () => subscription.deliver(message),
        (error) => this.#report(error, topic),
      );
    }
  }

  /** A reporter that fails must not stop delivery to the other subscriptions. */
  #report(error: unknown, topic: string): void {
    // Where the reporter itself fails, there is nowhere left to report to.
    guarded(
      () => this.#onDeliverError(error, topic),
      () => {},
    );
  }
}
