import { McpError } from "../../protocol/error.js";

interface Waiter {
  start(): void;
}

/** What a limit allows. */
export interface CallLimitOptions {
  /** What is limited, for the error: `the tool "x"`. */
  readonly what: string;
  /** The option that sets the limit, for the error. */
  readonly option: string;
  readonly running: number;
  readonly queued: number;
}

/** Lets a number of calls run at once and a number of others wait, in order; refuses the rest. */
export class CallLimit {
  readonly #options: CallLimitOptions;
  readonly #waiting = new Set<Waiter>();
  #running = 0;

  constructor(options: CallLimitOptions) {
    this.#options = options;
  }

  /**
   * Takes a place, at once or later; every place must be given back by `leave`. Throws `limit_exceeded` when the queue is
   * full. The promise rejects, and no place is taken, when the call's signal is aborted first; it is not looked at unless the call has to wait.
   */
  enter(call: { readonly signal: AbortSignal }): undefined | Promise<void> {
    if (this.#running < this.#options.running) {
      this.#running++;
      return undefined;
    }
    const { what, option, running, queued } = this.#options;
    if (this.#waiting.size >= queued) {
      throw new McpError("limit_exceeded", `${what} runs ${running} calls at once and ${queued} are waiting already`, {
        data: { limit: option, running, queued },
        fix: `Call again later, or raise \`${option}\` of the server.`,
      });
    }
    return this.#wait(call.signal);
  }

  leave(): void {
    // The place passes on, so the count stays.
    for (const waiter of this.#waiting) {
      this.#waiting.delete(waiter);
      waiter.start();
      return;
    }
    this.#running--;
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(waiter);
        reject(new McpError("cancelled", "the call was cancelled while it waited for its turn"));
      };
      const waiter: Waiter = {
        start() {
          signal.removeEventListener("abort", stop);
          resolve();
        },
      };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.add(waiter);
    });
  }
}
