import type { Platform, Timer } from "../../platform/platform.js";

/** One wait with two bounds; `heard` is when the other side last gave a sign of life. */
export interface Deadline {
  readonly started: number;
  heard: number;
  readonly idle: number;
  readonly total: number;
  /** True while this side is busy, so that silence of the other is no fault of it. */
  readonly paused: boolean;
  expire(which: "idle" | "total"): void;
  /** The client is over: what this still waits for will not come. */
  abandon(): void;
}

/** All deadlines of one client on one timer: a call costs no timer of its own. */
export class CallDeadlines {
  readonly #platform: Platform;
  readonly #pending = new Set<Deadline>();
  #timer: Timer | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;
  #holds = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  add(deadline: Deadline): void {
    this.#pending.add(deadline);
    const due = this.#dueAt(deadline);
    if (due < this.#wakesAt) this.#arm(due);
  }

  remove(deadline: Deadline): void {
    this.#pending.delete(deadline);
  }

  /** The bounds of a deadline changed, or silence began to count again. */
  renew(deadline: Deadline): void {
    deadline.heard = this.#platform.now();
    const due = this.#dueAt(deadline);
    if (due < this.#wakesAt) this.#arm(due);
  }

  /** Silence does not count until the matching `release`: the server waits for this side's user. */
  hold(): void {
    this.#holds++;
  }

  release(): void {
    this.#holds--;
    if (this.#holds === 0) for (const deadline of this.#pending) this.renew(deadline);
  }

  stop(): void {
    for (const deadline of this.#pending) deadline.abandon();
    this.#pending.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#wakesAt = Number.POSITIVE_INFINITY;
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    this.#wakesAt = at;
    this.#timer = this.#platform.timer(Math.max(0, at - this.#platform.now()), () => this.#wake());
  }

  #wake(): void {
    this.#timer = undefined;
    this.#wakesAt = Number.POSITIVE_INFINITY;
    const now = this.#platform.now();
    let next = Number.POSITIVE_INFINITY;
    for (const deadline of [...this.#pending]) {
      const due = this.#dueAt(deadline);
      if (due > now) next = Math.min(next, due);
      else {
        this.#pending.delete(deadline);
        deadline.expire(now >= deadline.started + deadline.total ? "total" : "idle");
      }
    }
    if (next < this.#wakesAt) this.#arm(next);
  }

  #dueAt({ started, heard, idle, total, paused }: Deadline): number {
    const latest = started + total;
    return paused || this.#holds > 0 ? latest : Math.min(heard + idle, latest);
  }
}
