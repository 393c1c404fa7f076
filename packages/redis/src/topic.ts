/** One subscription of this process. */
export interface TopicEnd {
  readonly deliver: (message: string) => void;
  readonly onGap: (() => void) | undefined;
  /** Whether messages may have been lost since it last heard of it. */
  isBehind: boolean;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** The connection that a topic is, or is to be, subscribed on. */
export interface TopicPlace {
  readonly lastError: Error | undefined;
  readonly isConnected: boolean;
  remove(topic: Topic): void;
}

/** A channel with those who listen to it in this process. */
export class Topic {
  readonly channel: string;
  readonly ends = new Set<TopicEnd>();
  readonly waiting = new Set<Waiter>();
  place: TopicPlace | undefined;
  lastError: Error | undefined;
  /** Attempts to subscribe that failed since it was last live. */
  failures = 0;
  #isLive = false;

  constructor(channel: string) {
    this.channel = channel;
  }

  /** Whether the server has acknowledged the subscription, on a connection that still exists. */
  get isLive(): boolean {
    return this.#isLive;
  }

  deliver(message: string): void {
    for (const end of [...this.ends]) {
      if (!this.ends.has(end)) continue;
      tellOfGap(end);
      attempt(() => end.deliver(message));
    }
  }

  /** The server has acknowledged the subscription. */
  setLive(): void {
    if (this.#isLive) return;
    this.#isLive = true;
    this.lastError = undefined;
    this.failures = 0;
    for (const end of [...this.ends]) tellOfGap(end);
    for (const waiter of [...this.waiting]) waiter.resolve();
    this.waiting.clear();
  }

  /** The subscription was interrupted. */
  setLost(): void {
    if (!this.#isLive) return;
    this.#isLive = false;
    for (const end of this.ends) end.isBehind = true;
  }

  /** Those who wait for the subscription do so in vain. */
  refuse(error: Error): void {
    this.lastError = error;
    for (const waiter of [...this.waiting]) waiter.reject(error);
  }
}

function tellOfGap(end: TopicEnd): void {
  if (!end.isBehind) return;
  end.isBehind = false;
  attempt(() => end.onGap?.());
}

/** A listener's own fault must reach neither the others nor the connection. */
function attempt(tell: () => void): void {
  try {
    tell();
  } catch {}
}
