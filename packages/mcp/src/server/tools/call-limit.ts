import { McpError } from "../../protocol/error.js";
import type { CallSlots, EnteringCall } from "./ready-tool.js";

interface Waiter {
  readonly key: string | undefined;
  /** Whether it waits however many others do. */
  readonly waits: boolean;
  start(): void;
}

/** The values of a limit, and how its error names it. */
interface CallLimitOptions {
  /** What is limited, for the error: `the tool "x"`. */
  readonly what: string;
  /** The option that sets the limit, for the error. */
  readonly option: string;
  readonly running: number;
  readonly queued: number;
  /** How many calls of one principal run; default all. */
  readonly share?: number | undefined;
}

/** The part of all places that one principal can have. The rest stays for others, unless there are very few. */
const PART = 0.9;
/** When a slot will be free cannot be foreseen. */
const RETRY_MS = 1000;

/** Lets a number of calls run at once and a number of others wait, in order; refuses the rest. */
export class CallLimit implements CallSlots {
  readonly #options: CallLimitOptions;
  readonly #share: number;
  readonly #waiting = new Set<Waiter>();
  /** Calls that run, by principal. */
  readonly #runningOf = new Map<string, number>();
  #running = 0;
  /** Of those that wait, how many do so however many others do. */
  #unbounded = 0;

  constructor(options: CallLimitOptions) {
    this.#options = options;
    const { share, running } = options;
    this.#share = share === undefined ? running : Math.min(share, Math.ceil(running * PART));
  }

  /** `key` is the principal that calls, if any. */
  enter(call: EnteringCall, key?: string, waits = false): undefined | Promise<void> {
    if (this.#isFree(key)) {
      this.#count(key, 1);
      return undefined;
    }
    if (!waits) this.#checkQueue(call, key);
    return this.#wait(call.signal, key, waits);
  }

  #checkQueue(call: EnteringCall, key: string | undefined): void {
    const { what, option, running, queued, share } = this.#options;
    if (this.#waiting.size - this.#unbounded >= queued) {
      call.refusal = { status: 503, retryAfterMs: RETRY_MS };
      throw tooMany(option, { running, queued }, `${what} runs ${running} at once and ${queued} are waiting`);
    }
    if (share !== undefined && key !== undefined) {
      const own = [...this.#waiting].filter((waiter) => waiter.key === key && !waiter.waits).length;
      const most = Math.ceil(queued * PART);
      const text = `${what} runs ${this.#share} of one principal at once and ${most} are waiting`;
      if (own < most) return;
      call.refusal = { status: 429, retryAfterMs: RETRY_MS };
      throw tooMany(`${option}PerPrincipal`, { running: this.#share, queued: most }, text);
    }
  }

  leave(key?: string): void {
    this.#count(key, -1);
    for (const waiter of this.#waiting) {
      if (!this.#isFree(waiter.key)) continue;
      this.#remove(waiter);
      this.#count(waiter.key, 1);
      return waiter.start();
    }
  }

  #isFree(key: string | undefined): boolean {
    if (this.#running >= this.#options.running) return false;
    return key === undefined || (this.#runningOf.get(key) ?? 0) < this.#share;
  }

  #count(key: string | undefined, change: 1 | -1): void {
    this.#running += change;
    if (key === undefined) return;
    const count = (this.#runningOf.get(key) ?? 0) + change;
    if (count > 0) this.#runningOf.set(key, count);
    else this.#runningOf.delete(key);
  }

  #remove(waiter: Waiter): void {
    if (this.#waiting.delete(waiter) && waiter.waits) this.#unbounded--;
  }

  #wait(signal: AbortSignal, key: string | undefined, waits: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#remove(waiter);
        reject(new McpError("cancelled", "the call was cancelled while it waited for a free slot"));
      };
      const waiter: Waiter = {
        key,
        waits,
        start() {
          signal.removeEventListener("abort", stop);
          resolve();
        },
      };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.add(waiter);
      if (waits) this.#unbounded++;
    });
  }
}

function tooMany(limit: string, counts: { running: number; queued: number }, what: string): McpError {
  return new McpError("limit_exceeded", `too many calls: ${what}. Wait ${RETRY_MS / 1000} s, then call again.`, {
    data: { limit, ...counts, retryAfterMs: RETRY_MS },
    fix: `Call again after \`data.retryAfterMs\`, or raise \`${limit}\` of the server.`,
  });
}
