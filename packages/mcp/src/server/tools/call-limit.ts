import { Semaphore } from "../../platform/semaphore.js";
import { McpError } from "../../protocol/error.js";
import type { CallSlots, EnteringCall } from "./ready-tool.js";

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
  readonly #places: Semaphore;

  constructor(options: CallLimitOptions) {
    this.#options = options;
    const { share, running } = options;
    this.#share = share === undefined ? running : Math.min(share, Math.ceil(running * PART));
    this.#places = new Semaphore(running, this.#share);
  }

  /** `key` is the principal that calls, if any. */
  enter(call: EnteringCall, key?: string, waits = false): undefined | Promise<void> {
    if (this.#places.tryEnter(key)) return undefined;
    if (!waits) this.#checkQueue(call, key);
    return this.#places.wait(call.signal, key, waits).catch(() => {
      throw new McpError("cancelled", "the call was cancelled while it waited for a free slot");
    });
  }

  #checkQueue(call: EnteringCall, key: string | undefined): void {
    const { what, option, running, queued, share } = this.#options;
    if (this.#places.waiting >= queued) {
      call.refusal = { status: 503, retryAfterMs: RETRY_MS };
      throw tooMany(option, { running, queued }, `${what} runs ${running} at once and ${queued} are waiting`);
    }
    const most = Math.ceil(queued * PART);
    if (share === undefined || key === undefined || this.#places.waitingOf(key) < most) return;
    const text = `${what} runs ${this.#share} of one principal at once and ${most} are waiting`;
    call.refusal = { status: 429, retryAfterMs: RETRY_MS };
    throw tooMany(`${option}PerPrincipal`, { running: this.#share, queued: most }, text);
  }

  leave(key?: string): void {
    this.#places.leave(key);
  }
}

function tooMany(limit: string, counts: { running: number; queued: number }, what: string): McpError {
  return new McpError("limit_exceeded", `too many calls: ${what}. Wait ${RETRY_MS / 1000} s, then call again.`, {
    data: { limit, ...counts, retryAfterMs: RETRY_MS },
    fix: `Call again after \`data.retryAfterMs\`, or raise \`${limit}\` of the server.`,
  });
}
