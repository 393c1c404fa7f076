import { platform as runtimePlatform } from "#platform";
import type { Channel, ChannelReceiver } from "../../jsonrpc/connection.js";
import type { Platform } from "../../platform/platform.js";

type Clock = Pick<Platform, "monotonic" | "defer">;

/** The clock is read once per this many deliveries, because reading it for each delivery would be slow. */
const CLOCK_EVERY = 16;
/**
 * Time that deliveries may take in one turn of the event loop, in milliseconds. Further deliveries wait for the next
 * turn, so that timers and I/O run.
 */
const TURN_MS = 10;

/**
 * Creates the two ends of a pipe inside one process. Messages are sent as text, so both ends run the real codec. Each
 * message is delivered in a later microtask, never inside `send`. If deliveries alone take too long, the rest waits for
 * the next turn of the event loop: a program that calls without a pause would otherwise block its own timers and I/O.
 *
 * @example
 * ```ts
 * import { Server } from "@parley/mcp";
 * import { channelPair } from "@parley/mcp/testing";
 * import { channelTransport, serveChannel } from "@parley/mcp/transport";
 *
 * const [ours, theirs] = channelPair();
 * serveChannel(new Server({ name: "notes", version: "1.0.0" }), theirs);
 * const transport = channelTransport(ours, "notes");
 * ```
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
  /** Start of the current turn of the event loop; undefined if this turn was not timed yet. */
  #turnBegan: number | undefined;
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
    if (this.#turnBegan !== undefined) return this.#clock.monotonic() - this.#turnBegan >= TURN_MS;
    this.#turnBegan = this.#clock.monotonic();
    this.#clock.defer(() => {
      this.#turnBegan = undefined;
    });
    return false;
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
