/** An operation that must finish in time. */
export interface Deadline {
  /** Time at which the operation expires, in milliseconds of `performance.now()`. Set by `add`. */
  endsAt: number;
  /** True once the operation has finished. */
  settled: boolean;
  /** Called if the deadline passes first. */
  expire(): void;
}

/** Deadlines of equal duration. One timer serves thousands of calls in flight. */
export class Deadlines {
  readonly #ms: number;
  #queue: Deadline[] = [];
  #head = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  add(deadline: Deadline): void {
    deadline.endsAt = performance.now() + this.#ms;
    this.#queue.push(deadline);
    this.#timer ??= this.#arm(this.#ms);
  }

  /**
   * Drops settled deadlines at the head of the queue. Call this method when a deadline settles, to free its memory
   * early.
   */
  removeSettled(): void {
    while (this.#queue[this.#head]?.settled === true) this.#head++;
    if (this.#head === this.#queue.length) this.#queue = [];
    else if (this.#head < 1_024 || this.#head * 2 < this.#queue.length) return;
    else this.#queue = this.#queue.slice(this.#head);
    this.#head = 0;
  }

  #arm(ms: number): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => this.#onTimer(), ms);
    // Open connections keep the process alive; this timer must not.
    timer.unref();
    return timer;
  }

  #onTimer(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (let next = this.#queue[this.#head]; next !== undefined; next = this.#queue[this.#head]) {
      if (!next.settled && next.endsAt > now) break;
      this.#head++;
      if (!next.settled) next.expire();
    }
    this.removeSettled();
    const next = this.#queue[this.#head];
    if (next !== undefined) this.#timer ??= this.#arm(Math.max(1, Math.ceil(next.endsAt - now)));
  }
}
