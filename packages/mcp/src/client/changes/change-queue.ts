import type { Platform, Timer } from "../../platform/platform.js";

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

/** Changes of one list within a minute that are passed on as they come. */
const AT_ONCE = 20;
const WINDOW_MS = 60_000;
/** The pause before the first change beyond them; it doubles with each further one. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;

interface Paced {
  /** When changes of the last minute were passed on, the oldest first. */
  readonly recent: number[];
  /** True while a change waits to be passed on. */
  waiting: boolean;
  timer: Timer | undefined;
}

/**
 * The pace at which announced changes of lists are passed on, so that a server which announces a change with every list is not
 * listed without end. A change is never passed on in the turn in which it was announced, those that come while one waits are one
 * change, and the pause grows while the server goes on: below 30 changes of one list in any minute.
 */
export class ChangePace {
  readonly #platform: Pick<Platform, "monotonic" | "defer" | "timer">;
  readonly #warn: (message: string) => void;
  readonly #lists = new Map<string, Paced>();
  #warned = false;

  constructor(platform: Pick<Platform, "monotonic" | "defer" | "timer">, warn: (message: string) => void) {
    this.#platform = platform;
    this.#warn = warn;
  }

  /** Calls `pass` when the change of this list may be passed on, unless an earlier one of the list still waits for that. */
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

  /** Gives up the changes that wait. */
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
    const beyond = recent.length - AT_ONCE;
    const last = recent.at(-1);
    if (beyond < 0 || last === undefined) return 0;
    if (!this.#warned) {
      this.#warned = true;
      const bound = `at most ${LONGEST_PAUSE_MS / 1000} s apart`;
      this.#warn(
        `the server announced ${AT_ONCE} changes of its ${list} within a minute; further ones are passed on less often, ${bound}`,
      );
    }
    return last + Math.min(FIRST_PAUSE_MS * 2 ** beyond, LONGEST_PAUSE_MS) - now;
  }
}
