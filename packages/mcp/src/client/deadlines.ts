import type { Platform, Timer } from "../platform/platform.js";

/** One wait with two bounds; `heard` is when the other side last gave a sign of life. */
export interface Deadline {
  readonly started: number;
  heard: number;
  readonly idle: number;
  readonly total: number;
  expire(which: "idle" | "total"): void;
}

/** All deadlines of one client on one timer: a call costs no timer of its own. */
export class Deadlines {
  readonly #platform: Platform;
  readonly #pending = new Set<Deadline>();
  #timer: Timer | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  add(deadline: Deadline): void {
    this.#pending.add(deadline);
    const due = dueAt(deadline);
    if (due < this.#wakesAt) this.#arm(due);
  }

  remove(deadline: Deadline): void {
    this.#pending.delete(deadline);
  }

  stop(): void {
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
      const due = dueAt(deadline);
      if (due > now) next = Math.min(next, due);
      else {
        this.#pending.delete(deadline);
        deadline.expire(now >= deadline.started + deadline.total ? "total" : "idle");
      }
    }
    if (next < this.#wakesAt) this.#arm(next);
  }
}

function dueAt({ started, heard, idle, total }: Deadline): number {
  return Math.min(heard + idle, started + total);
}
