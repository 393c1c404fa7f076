import { pause } from "../../platform/pause.js";
import type { Platform, Timer } from "../../platform/platform.js";

/** A wait with two deadlines. All values are in milliseconds. */
export interface Deadline {
  readonly started: number;
  /** The time of the last message about the wait. */
  lastActivity: number;
  readonly idle: number;
  readonly total: number;
  /** The number of reasons to pause the idle deadline, for example while this side answers a question. */
  paused: number;
}

/** Functions that end a wait. */
interface DeadlineEnd<D> {
  expire(deadline: D, which: "idle" | "total"): void;
  /** Called when the client is closed. */
  abandon(deadline: D): void;
}

/** Interval at which `drain` checks whether the last wait has ended. */
const DRAIN_POLL_MS = 10;

/** The deadlines of all calls of one client, on one shared timer. */
export class CallDeadlines<D extends Deadline> {
  readonly #platform: Platform;
  readonly #end: DeadlineEnd<D>;
  /** Waits that have not ended. The code that ends a wait removes it. */
  readonly waiting = new Set<D>();
  /**
   * The time at which the timer fires. While `openHolds` is empty, a new wait that is due after this time may be added
   * to `waiting` directly.
   */
  wakesAt = Number.POSITIVE_INFINITY;
  /** One list for each open `holdAll`, with the waits that it pauses. A new wait is added to all of these lists. */
  readonly openHolds = new Set<D[]>();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(platform: Platform, end: DeadlineEnd<D>) {
    this.#platform = platform;
    this.#end = end;
  }

  add(deadline: D): void {
    this.waiting.add(deadline);
    for (const held of this.openHolds) {
      deadline.paused++;
      held.push(deadline);
    }
    this.#watch(deadline);
  }

  /** Restarts the idle deadline. */
  renew(deadline: D): void {
    deadline.lastActivity = this.#platform.monotonic();
    this.#watch(deadline);
  }

  #watch(deadline: D): void {
    const due = this.#dueAt(deadline);
    if (due < this.wakesAt) this.#arm(due);
  }

  /**
   * Pauses the idle deadline of waits while the server waits for this side's user, until the returned function is
   * called. Later waits are not paused, so that a question without an answer does not disable their deadlines.
   */
  hold(some: Iterable<D> = this.waiting): () => void {
    return this.#hold([...some]);
  }

  /** Pauses like `hold`, including waits that begin before the returned function is called. */
  holdAll(): () => void {
    const held = [...this.waiting];
    this.openHolds.add(held);
    const release = this.#hold(held);
    return () => {
      this.openHolds.delete(held);
      release();
    };
  }

  #hold(held: D[]): () => void {
    for (const deadline of held) deadline.paused++;
    return () => {
      for (const deadline of held.splice(0)) {
        deadline.paused--;
        if (this.waiting.has(deadline)) this.renew(deadline);
      }
    };
  }

  /**
   * Resolves when no wait is left, after `ms`, or when `signal` is aborted. Calls without a deadline are not included.
   */
  async drain(ms: number, signal: AbortSignal): Promise<void> {
    for (const until = this.#platform.monotonic() + ms; this.waiting.size > 0; ) {
      const left = until - this.#platform.monotonic();
      if (left <= 0 || signal.aborted) return;
      await pause(this.#platform, Math.min(left, DRAIN_POLL_MS), signal, true);
    }
  }

  /** Removes a wait. The timer remains set for the next wait, unless the client is closed. */
  end(deadline: D): void {
    this.waiting.delete(deadline);
    if (this.#stopped && this.waiting.size === 0) this.#disarm();
  }

  stop(): void {
    this.#stopped = true;
    for (const deadline of this.waiting) this.#end.abandon(deadline);
    this.waiting.clear();
    this.#disarm();
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.wakesAt = Number.POSITIVE_INFINITY;
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    this.wakesAt = at;
    this.#timer = this.#platform.timer(Math.max(0, at - this.#platform.monotonic()), () => this.#wake());
  }

  #wake(): void {
    this.#timer = undefined;
    this.wakesAt = Number.POSITIVE_INFINITY;
    const now = this.#platform.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const deadline of [...this.waiting]) {
      const due = this.#dueAt(deadline);
      if (due > now) next = Math.min(next, due);
      else {
        this.waiting.delete(deadline);
        this.#end.expire(deadline, now >= deadline.started + deadline.total ? "total" : "idle");
      }
    }
    if (next < this.wakesAt) this.#arm(next);
  }

  #dueAt({ started, lastActivity, idle, total, paused }: Deadline): number {
    const latest = started + total;
    return paused > 0 ? latest : Math.min(lastActivity + idle, latest);
  }
}
