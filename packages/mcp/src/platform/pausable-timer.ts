import type { Platform, Timer } from "./platform.js";

/** A timer that can be paused. */
export class PausableTimer implements Timer {
  readonly #platform: Platform;
  readonly #run: () => void;
  readonly #keepAlive: boolean;
  #timer: Timer | undefined;
  /** Remaining time in milliseconds, as of `#since`. */
  #left: number;
  #since: number;
  #held = 0;
  #ended = false;

  constructor(platform: Platform, ms: number, run: () => void, keepAlive = false) {
    this.#platform = platform;
    this.#run = run;
    this.#keepAlive = keepAlive;
    this.#left = ms;
    this.#since = platform.monotonic();
    this.#start();
  }

  /**
   * Pauses the timer. It continues when every function that `hold` has returned was called. Calling one function again
   * does nothing.
   */
  hold(): () => void {
    if (this.#held++ === 0) {
      this.#timer?.cancel();
      this.#left = Math.max(0, this.#left - (this.#platform.monotonic() - this.#since));
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      if (--this.#held === 0) this.#start();
    };
  }

  cancel(): void {
    this.#ended = true;
    this.#timer?.cancel();
  }

  #start(): void {
    if (this.#ended) return;
    this.#since = this.#platform.monotonic();
    const reached = () => {
      this.#ended = true;
      this.#run();
    };
    this.#timer = this.#platform.timer(this.#left, reached, this.#keepAlive);
  }
}
