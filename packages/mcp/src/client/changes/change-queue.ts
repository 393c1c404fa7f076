import type { Platform, Timer } from "../../platform/platform.js";

/** A change that a subscription reports. */
export interface Change {
  /** `resource`: the contents of a resource changed. `tools`, `prompts`, `resources`: that list changed. */
  kind: "resource" | "tools" | "prompts" | "resources";
  /** The URI of the changed resource, or of a part of the subscribed one. Only with `kind: "resource"`. */
  uri?: string;
  /**
   * True if the connection was lost or too many changes were unread, so that something may have changed. With `kind:
   * "resource"` and without a `uri`, any subscribed resource may have changed.
   */
  missed: boolean;
}

/**
 * Maximum number of distinct unread changes. Beyond that, the oldest changes of resources are replaced by one `missed`
 * change.
 */
const MAX_WAITING = 1000;

/** Changes waiting for one reader. Repeated changes count once until they are read. */
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
    // A change that certainly happened has precedence over a `missed` change.
    this.#waiting.set(key, before?.missed === false ? before : change);
    for (const [oldest, { kind, uri }] of this.#waiting) {
      if (this.#waiting.size <= MAX_WAITING) return;
      // Only changes with a URI are dropped. Changes of lists, and the `missed` change that replaces dropped ones, have
      // none.
      if (uri === undefined) continue;
      this.#waiting.delete(oldest);
      this.#waiting.set(`${kind} `, { kind, missed: true });
    }
  }

  /** Ends the queue. Waiting changes can still be read. */
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

/** Maximum number of changes of one list within a minute that are passed on without a pause. */
const MAX_UNPACED = 20;
const WINDOW_MS = 60_000;
/**
 * The pause before the first change beyond `MAX_UNPACED`. It doubles with each further change, up to `MAX_PAUSE_MS`.
 */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;

interface PacedList {
  /** The times of the changes passed on in the last minute, oldest first. */
  readonly recent: number[];
  /** True while a change waits to be passed on. */
  waiting: boolean;
  timer: Timer | undefined;
}

/**
 * Limits the rate at which announced changes of lists are passed on, so that a server which announces a change with
 * every list request does not cause an endless loop. A change is always deferred to a later turn of the event loop.
 * Changes during a pause count once. The pause grows while the server continues, so that fewer than 30 changes of one
 * list are passed on in any minute.
 */
export class ChangePace {
  readonly #platform: Pick<Platform, "monotonic" | "defer" | "timer">;
  readonly #warn: (message: string) => void;
  readonly #lists = new Map<string, PacedList>();
  #warned = false;

  constructor(platform: Pick<Platform, "monotonic" | "defer" | "timer">, warn: (message: string) => void) {
    this.#platform = platform;
    this.#warn = warn;
  }

  /**
   * Calls `pass` when the change of this list may be passed on. Ignores the change if an earlier one of the list is
   * still waiting.
   */
  announced(list: string, pass: () => void): void {
    const paced = this.#lists.get(list) ?? { recent: [], waiting: false, timer: undefined };
    this.#lists.set(list, paced);
    if (paced.waiting) return;
    paced.waiting = true;
    const due = () => {
      if (!paced.waiting) return;
      paced.waiting = false;
      paced.timer = undefined;
      paced.recent.push(this.#platform.monotonic());
      pass();
    };
    const pauseMs = this.#pauseMs(list, paced.recent);
    if (pauseMs <= 0) this.#platform.defer(due);
    else paced.timer = this.#platform.timer(pauseMs, due);
  }

  /** Drops all waiting changes. */
  stop(): void {
    for (const paced of this.#lists.values()) {
      paced.waiting = false;
      paced.timer?.cancel();
    }
    this.#lists.clear();
  }

  #pauseMs(list: string, recent: number[]): number {
    const now = this.#platform.monotonic();
    while (recent[0] !== undefined && recent[0] <= now - WINDOW_MS) recent.shift();
    const beyond = recent.length - MAX_UNPACED;
    const last = recent.at(-1);
    if (beyond < 0 || last === undefined) return 0;
    if (!this.#warned) {
      this.#warned = true;
      const bound = `at most ${MAX_PAUSE_MS / 1000} s apart`;
      this.#warn(
        `the server announced ${MAX_UNPACED} changes of its ${list} within a minute; further ones are passed on less often, ${bound}`,
      );
    }
    return last + Math.min(FIRST_PAUSE_MS * 2 ** beyond, MAX_PAUSE_MS) - now;
  }
}
