import type { Platform, Timer } from "../../platform/platform.js";
import type { McpError } from "../../protocol/error.js";

/** Ends a call that runs too long. The time that the client takes to answer questions does not count. */
export class CallDeadline {
  readonly #platform: Platform;
  readonly #expired: () => McpError;
  readonly #keepAlive: AbortSignal | undefined;
  #left: number;
  #since = 0;
  #questions = 0;
  #timer: Timer | undefined;
  #failure: McpError | undefined;
  #reject: ((failure: McpError) => void) | undefined;
  #ended = false;

  /**
   * Starts the timer. `expired` is called at most once and returns the error that the call fails with. The timer keeps the process
   * alive until `wanted` is aborted, if given: the caller may be in this process, where nothing else does.
   */
  constructor(platform: Platform, ms: number, expired: () => McpError, wanted?: AbortSignal) {
    this.#platform = platform;
    this.#left = ms;
    this.#expired = expired;
    this.#keepAlive = wanted;
    this.#start();
    wanted?.addEventListener("abort", () => this.#stopKeepingAlive(), { once: true });
  }

  /** Settles as the handler does, or rejects when the time is up first. */
  race<T>(value: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#failure !== undefined) reject(this.#failure);
      value.then(resolve, reject);
    });
  }

  /** Milliseconds that the call still has. */
  get left(): number {
    return this.#timer === undefined
      ? this.#left
      : Math.max(0, this.#left - (this.#platform.monotonic() - this.#since));
  }

  /** Stops the timer while a question is open. Nested calls are counted, because several questions may be open at once. */
  pause(): void {
    this.#questions++;
    this.#cancel();
  }

  resume(): void {
    this.#questions--;
    if (this.#questions === 0 && !this.#ended) this.#start();
  }

  /** Stops the timer for good, because the call has its outcome. */
  end(): void {
    this.#ended = true;
    this.#cancel();
  }

  #cancel(): void {
    this.#left = this.left;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Counts on without keeping the process alive. */
  #stopKeepingAlive(): void {
    if (this.#timer === undefined) return;
    this.#cancel();
    this.#start();
  }

  #start(): void {
    this.#since = this.#platform.monotonic();
    const expire = () => {
      this.end();
      this.#failure = this.#expired();
      this.#reject?.(this.#failure);
    };
    this.#timer = this.#platform.timer(this.#left, expire, this.#keepAlive?.aborted === false);
  }
}
