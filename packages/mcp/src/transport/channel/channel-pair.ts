import { platform as runtimePlatform } from "#platform";
import type { Channel, ChannelReceiver } from "../../jsonrpc/channel.js";
import type { Platform } from "../../platform/platform.js";

type Clock = Pick<Platform, "monotonic" | "defer">;

/** Deliveries between two looks at the clock, which would otherwise cost more than a delivery. */
const CLOCK_EVERY = 16;
/** How long deliveries may follow each other in microtasks before timers and I/O get their turn. */
const TURN_MS = 5;

/**
 * Two ends of a pipe inside one process. Messages are sent as text, so both ends run the real codec; each is delivered
 * in a later microtask, never inside `send`. Every few milliseconds a delivery waits for the next turn of the event loop, because a
 * program that calls without a pause would otherwise stop its own timers and I/O.
 */
export function channelPair(clock: Clock = runtimePlatform): [Channel, Channel] {
  const a = new PairEnd(clock);
  const b = new PairEnd(clock);
  a.join(b);
  b.join(a);
  return [a, b];
}

class PairEnd implements Channel {
  readonly #clock: Clock;
  #deliveries = 0;
  #turnBegan = 0;
  #other: PairEnd | undefined;
  #receiver: ChannelReceiver | undefined;
  #inbox: string[] = [];
  #scheduled = false;
  #closed = false;
  #closedCalled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  join(other: PairEnd): void {
    this.#other = other;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#wake();
  }

  send(text: string): void {
    if (!this.#closed) this.#other?.deliver(text);
  }

  close(): void {
    this.end();
    this.#other?.end();
  }

  deliver(text: string): void {
    this.#inbox.push(text);
    this.#wake();
  }

  end(): void {
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    if (this.#scheduled || this.#receiver === undefined) return;
    this.#scheduled = true;
    if (++this.#deliveries % CLOCK_EVERY === 0 && this.#isTurnOver()) this.#clock.defer(() => this.#flush());
    else queueMicrotask(() => this.#flush());
  }

  #isTurnOver(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#turnBegan < TURN_MS) return false;
    this.#turnBegan = now;
    return true;
  }

  #flush(): void {
    this.#scheduled = false;
    const receiver = this.#receiver;
    if (receiver === undefined) return;
    const batch = this.#inbox;
    this.#inbox = [];
    for (const text of batch) receiver.message(text);
    if (this.#inbox.length > 0) return this.#wake();
    if (this.#closed && !this.#closedCalled) {
      this.#closedCalled = true;
      receiver.closed();
    }
  }
}
