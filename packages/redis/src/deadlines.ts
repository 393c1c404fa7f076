/** Something that has to end in time. */
export interface Deadline {
  /** In milliseconds of `performance.now()`; set by `add`. */
  endsAt: number;
  settled: boolean;
  expire(): void;
}

/** Deadlines that all lie equally far ahead: one timer serves thousands of calls in flight. */
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

  /** To be called when one is settled, so that it is not kept until its time. */
  removeSettled(): void {
    while (this.#queue[this.#head]?.settled === true) this.#head++;
    if (this.#head === this.#queue.length) this.#queue = [];
    else if (this.#head < 1_024 || this.#head * 2 < this.#queue.length) return;
    else this.#queue = this.#queue.slice(this.#head);
    this.#head = 0;
  }

  #arm(ms: number): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => this.#ring(), ms);
    // Connections and their attempts keep the process; a timer that finds nothing must not.
    timer.unref();
    return timer;
  }

  #ring(): void {
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
