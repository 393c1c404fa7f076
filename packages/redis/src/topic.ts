/** One subscriber in this process. */
export interface TopicSubscriber {
  readonly deliver: (message: string) => void;
  readonly onGap: (() => void) | undefined;
  /** True if messages may have been lost since the last notification of a gap. */
  hasGap: boolean;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** The connection on which a topic is, or will be, subscribed. */
export interface TopicConnection {
  readonly lastError: Error | undefined;
  readonly isConnected: boolean;
  remove(topic: Topic): void;
}

/** A channel and its subscribers in this process. */
export class Topic {
  readonly channel: string;
  readonly subscribers = new Set<TopicSubscriber>();
  readonly waiting = new Set<Waiter>();
  connection: TopicConnection | undefined;
  lastError: Error | undefined;
  /** Failed attempts to subscribe since the topic was last live. */
  failures = 0;
  #isLive = false;

  constructor(channel: string) {
    this.channel = channel;
  }

  /** True if the server has acknowledged the subscription on the current connection. */
  get isLive(): boolean {
    return this.#isLive;
  }

  deliver(message: string): void {
    for (const subscriber of [...this.subscribers]) {
      if (!this.subscribers.has(subscriber)) continue;
      notifyGap(subscriber);
      attempt(() => subscriber.deliver(message));
    }
  }

  /** Called when the server has acknowledged the subscription. */
  setLive(): void {
    if (this.#isLive) return;
    this.#isLive = true;
    this.lastError = undefined;
    this.failures = 0;
    for (const subscriber of [...this.subscribers]) notifyGap(subscriber);
    for (const waiter of [...this.waiting]) waiter.resolve();
    this.waiting.clear();
  }

  /** Called when the subscription is interrupted. */
  setLost(): void {
    if (!this.#isLive) return;
    this.#isLive = false;
    for (const subscriber of this.subscribers) subscriber.hasGap = true;
  }

  /** Rejects pending subscribers. */
  rejectWaiting(error: Error): void {
    this.lastError = error;
    for (const waiter of [...this.waiting]) waiter.reject(error);
  }
}

function notifyGap(subscriber: TopicSubscriber): void {
  if (!subscriber.hasGap) return;
  subscriber.hasGap = false;
  attempt(() => subscriber.onGap?.());
}

/** Ignores errors of a subscriber, which must not affect other subscribers or the connection. */
function attempt(notify: () => void): void {
  try {
    notify();
  } catch {}
}
