/** Something that was subscribed to changed. */
export interface Change {
  kind: "resource" | "tools" | "prompts" | "resources";
  /** The resource that changed, or a part of the subscribed one. Only with `kind: "resource"`. */
  uri?: string;
  /** True when the connection was lost meanwhile, or too much was unread: it may or may not have changed; without a `uri`, any may. */
  missed: boolean;
}

/** Distinct changes that wait for their reader; beyond it the oldest are given up, and their kind is told as missed. */
const MAX_WAITING = 1000;

/** Changes on their way to one reader. The same change twice before it is read is one change. */
export class ChangeQueue implements AsyncIterator<Change, undefined> {
  readonly #waiting = new Map<string, Change>();
  readonly #readers: { resolve(result: IteratorResult<Change, undefined>): void; reject(error: Error): void }[] = [];
  #end: { error: Error | undefined } | undefined;

  push(change: Change): void {
    if (this.#end !== undefined) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) return reader.resolve({ value: change, done: false });
    const key = `${change.kind} ${change.uri ?? ""}`;
    const before = this.#waiting.get(key);
    // A certain change outweighs a possible one.
    this.#waiting.set(key, before?.missed === false ? before : change);
    for (const [oldest, { kind, uri }] of this.#waiting) {
      if (this.#waiting.size <= MAX_WAITING) return;
      // The mark of earlier ones that were given up has no address.
      if (uri === undefined) continue;
      this.#waiting.delete(oldest);
      this.#waiting.set(`${kind} `, { kind, missed: true });
    }
  }

  /** Nothing comes any more; what waits can still be read. */
  end(error?: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    for (const { resolve, reject } of this.#readers.splice(0)) {
      if (error === undefined) resolve({ value: undefined, done: true });
      else reject(error);
    }
  }

  next(): Promise<IteratorResult<Change, undefined>> {
    const [first] = this.#waiting;
    if (first !== undefined) {
      this.#waiting.delete(first[0]);
      return Promise.resolve({ value: first[1], done: false });
    }
    if (this.#end?.error !== undefined) return Promise.reject(this.#end.error);
    if (this.#end !== undefined) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }
}
