/** A value on its way to its reader, and how many before it were given up because the reader was slow. */
export interface Queued<T> {
  value: T;
  missed: number;
}

/** Values on their way to one reader, in order. Beyond `limit` the oldest are given up, and counted. */
export class BoundedQueue<T> {
  readonly #limit: number;
  readonly #waiting: Queued<T>[] = [];
  readonly #readers: ((result: Queued<T> | undefined) => void)[] = [];
  #ended = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(value: T): void {
    if (this.#ended) return;
    const queued = { value, missed: 0 };
    const reader = this.#readers.shift();
    if (reader !== undefined) return reader(queued);
    this.#waiting.push(queued);
    if (this.#waiting.length <= this.#limit) return;
    const gone = this.#waiting.shift();
    const oldest = this.#waiting[0];
    if (gone !== undefined && oldest !== undefined) oldest.missed += gone.missed + 1;
  }

  /** Nothing comes any more; what waits can still be read. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader(undefined);
  }

  /** The next value; undefined after the last one. */
  next(): Promise<Queued<T> | undefined> {
    const first = this.#waiting.shift();
    if (first !== undefined || this.#ended) return Promise.resolve(first);
    return new Promise((resolve) => this.#readers.push(resolve));
  }
}
