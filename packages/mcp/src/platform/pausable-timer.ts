import type { Platform, Timer } from "./platform.js";

/** A timer that does not count while it is held. */
export class PausableTimer implements Timer {
  readonly #platform: Platform;
  readonly #run: () => void;
  readonly #keepAlive: boolean;
  #timer: Timer | undefined;
  /** Milliseconds that are left, as of `#since`. */
  #left: number;
  #since: number;
  #held = 0;
  #over = false;

  constructor(platform: Platform, ms: number, run: () => void, keepAlive = false) {
    this.#platform = platform;
    this.#run = run;
    this.#keepAlive = keepAlive;
    this.#left = ms;
    this.#since = platform.monotonic();
    this.#start();
  }

  /** Stops the count until the returned function is called; the second time that does nothing. */
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
    this.#over = true;
    this.#timer?.cancel();
  }

  #start(): void {
    if (this.#over) return;
    this.#since = this.#platform.monotonic();
    const reached = () => {
      this.#over = true;
      this.#run();
    };
    this.#timer = this.#platform.timer(this.#left, reached, this.#keepAlive);
  }
}
