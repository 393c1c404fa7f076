import type { Platform, Timer } from "./platform.js";

/** Time during which repetitions of a warning are counted before their number is printed. */
const PERIOD_MS = 30_000;
/** Maximum number of causes that are counted separately. Further causes are counted together. */
const MAX_CAUSES = 16;
const OTHER_CAUSES = "other causes";

interface Cause {
  readonly text: string;
  since: number;
  repeated: number;
  timer: Timer;
}

/**
 * Prints a warning once per cause. After that, prints at most every 30 s how often the warning was repeated, so that an
 * outage does not fill a log.
 */
export class RepeatedWarnings {
  readonly #platform: Platform;
  readonly #what: string;
  readonly #causes = new Map<string, Cause>();

  constructor(platform: Platform, what: string) {
    this.#platform = platform;
    this.#what = what;
  }

  /** Prints or counts a warning. */
  warn(error: unknown): void {
    let text = String(error);
    // Numbers are ignored, because a different duration or port is not a different cause.
    let key = text.replace(/\d+/g, "#");
    if (!this.#causes.has(key) && this.#causes.size >= MAX_CAUSES) key = text = OTHER_CAUSES;
    const known = this.#causes.get(key);
    if (known === undefined) return this.#begin(key, text);
    known.repeated += 1;
    // Some runtimes drop the timers of a request when the request ends, so an overdue report is printed here.
    if (this.#platform.monotonic() - known.since >= 2 * PERIOD_MS) this.#report(key, known);
  }

  /** Prints the remaining counts. */
  close(): void {
    for (const cause of this.#causes.values()) {
      cause.timer.cancel();
      this.#print(cause);
    }
    this.#causes.clear();
  }

  #begin(key: string, text: string): void {
    this.#platform.warn(`${this.#what}: ${text}`);
    this.#causes.set(key, { text, repeated: 0, ...this.#period(key) });
  }

  #period(key: string): Pick<Cause, "since" | "timer"> {
    const timer = this.#platform.timer(PERIOD_MS, () => {
      const cause = this.#causes.get(key);
      if (cause !== undefined) this.#report(key, cause);
    });
    return { since: this.#platform.monotonic(), timer };
  }

  /** Prints the count of a period. Starts another period if the cause was repeated, otherwise forgets the cause. */
  #report(key: string, cause: Cause): void {
    cause.timer.cancel();
    this.#print(cause);
    if (cause.repeated === 0) this.#causes.delete(key);
    else Object.assign(cause, { repeated: 0, ...this.#period(key) });
  }

  #print({ text, since, repeated }: Cause): void {
    if (repeated === 0) return;
    const seconds = Math.round((this.#platform.monotonic() - since) / 1000);
    const times = repeated === 1 ? "once more" : `${repeated} more times`;
    this.#platform.warn(`${this.#what} ${times} within ${seconds} s: ${text}`);
  }
}
