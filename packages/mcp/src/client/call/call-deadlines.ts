import { pause } from "../../platform/pause.js";
import type { Platform, Timer } from "../../platform/platform.js";

/** One wait with two bounds, in milliseconds. */
export interface Deadline {
  readonly started: number;
  /** When the other side last gave a sign of life. */
  heard: number;
  readonly idle: number;
  readonly total: number;
  /** For how many reasons silence of the other side does not count now, because this side is busy. */
  paused: number;
}

/** Ends waits. */
interface DeadlineEnd<D> {
  expire(deadline: D, which: "idle" | "total"): void;
  /** Called when the client is closed. */
  abandon(deadline: D): void;
}

/** How often `drain` looks whether the last wait has ended. */
const DRAIN_LOOK_MS = 10;

/** All deadlines of one client on one timer: a call costs no timer of its own. */
export class CallDeadlines<D extends Deadline> {
  readonly #platform: Platform;
  readonly #end: DeadlineEnd<D>;
  /** Waits that have not ended; whoever ends one deletes it here. */
  readonly waiting = new Set<D>();
  /** When the timer fires. A wait that begins, is due later and is not held needs only to be in `waiting`. */
  wakesAt = Number.POSITIVE_INFINITY;
  /** The waits that each `holdAll` holds; one that begins is added to all. */
  readonly growing = new Set<D[]>();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(platform: Platform, end: DeadlineEnd<D>) {
    this.#platform = platform;
    this.#end = end;
  }

  add(deadline: D): void {
    this.waiting.add(deadline);
    for (const held of this.growing) {
      deadline.paused++;
      held.push(deadline);
    }
    this.#watch(deadline);
  }

  /** Starts to count silence again. */
  renew(deadline: D): void {
    deadline.heard = this.#platform.monotonic();
    this.#watch(deadline);
  }

  #watch(deadline: D): void {
    const due = this.#dueAt(deadline);
    if (due < this.wakesAt) this.#arm(due);
  }

  /**
   * Holds waits while the server waits for this side's user: silence does not count until the returned function is called. Waits
   * that begin later are not held, so that a question that is never answered costs no other call its deadline.
   */
  hold(some: Iterable<D> = this.waiting): () => void {
    return this.#hold([...some]);
  }

  /** As `hold`, also for waits that begin before the returned function is called. */
  holdAll(): () => void {
    const held = [...this.waiting];
    this.growing.add(held);
    const release = this.#hold(held);
    return () => {
      this.growing.delete(held);
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

  /** Resolves when no wait is left, after `ms` or when `signal` aborts. Calls without a deadline are not waited for. */
  async drain(ms: number, signal: AbortSignal): Promise<void> {
    for (const until = this.#platform.monotonic() + ms; this.waiting.size > 0; ) {
      const left = until - this.#platform.monotonic();
      if (left <= 0 || signal.aborted) return;
      await pause(this.#platform, Math.min(left, DRAIN_LOOK_MS), signal, true);
    }
  }

  /** Ends a wait. The timer stays for the next one, unless the client is closed. */
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

  #dueAt({ started, heard, idle, total, paused }: Deadline): number {
    const latest = started + total;
    return paused > 0 ? latest : Math.min(heard + idle, latest);
  }
}
