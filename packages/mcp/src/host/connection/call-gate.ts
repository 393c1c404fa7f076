import type { Platform, Timer } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { checkNumber } from "./check-number.js";
import { FairQueue } from "./fair-queue.js";
import { RateLimit, type RateOptions } from "./rate-limit.js";

/** How many calls a server gets, and how many may wait for their turn. */
export interface CallLimits {
  /** Calls that are under way at once. Default: no limit. */
  concurrency?: number | undefined;
  /** Calls that wait for their turn; 0 refuses what cannot begin at once. Default 1,000. */
  queue?: number | undefined;
  /** How many calls may begin in a time. Default: no limit. */
  rate?: RateOptions | undefined;
}

/** What a status page shows of a gate. */
export interface CallCounts {
  readonly running: number;
  readonly waiting: number;
  /** Since the gate was made. */
  readonly refused: number;
}

/** What a gate needs from its owner. */
export interface CallGateParts {
  readonly platform: Pick<Platform, "monotonic" | "timer">;
  /** The server's name, for errors. */
  readonly server: string;
}

/** The name of the limit that a call meets. */
type MetLimit = "concurrency" | "rate";

interface WaitingCall {
  start(): void;
  refuse(error: McpError): void;
}

const QUEUE = 1_000;
/** What is said when nothing is known yet about how long calls take. */
const UNKNOWN_MS = 1_000;
const LONGEST_HINT_MS = 60_000;
/** How much of the smoothed time between two ends is the last one. */
const NEWEST = 0.2;

/**
 * Lets calls begin within the limits of one server, the others wait: in order for each caller, and callers take turns, so
 * that one with many calls delays the others by one call at a time. When the queue is full, the caller with the most waiting
 * calls loses its newest one, which is the new call itself unless somebody waits with more than it.
 *
 * Each `enter` that does not throw or reject is followed by one `leave`.
 */
export class CallGate {
  readonly #parts: CallGateParts;
  readonly #concurrency: number;
  readonly #queue: number;
  readonly #rate: RateLimit | undefined;
  readonly #waiting = new FairQueue<WaitingCall>();
  #running = 0;
  #refused = 0;
  #closed: McpError | undefined;
  #timer: Timer | undefined;
  /** Resolve when nothing runs or waits any more. */
  #idle: (() => void)[] = [];
  #lastEnd: number | undefined;
  #betweenEndsMs: number | undefined;

  constructor(parts: CallGateParts, limits: CallLimits = {}) {
    checkOptions("the limits of a server", limits, "concurrency queue rate");
    const { concurrency, queue = QUEUE, rate } = limits;
    if (concurrency !== undefined) checkNumber("concurrency", concurrency, { least: 1 });
    checkNumber("queue", queue, { least: 0 });
    this.#parts = parts;
    this.#concurrency = concurrency ?? Number.POSITIVE_INFINITY;
    this.#queue = queue;
    this.#rate = rate === undefined ? undefined : new RateLimit(parts.platform, rate);
  }

  /** Whether a call may ever have to wait for others. */
  get isLimited(): boolean {
    return this.#concurrency !== Number.POSITIVE_INFINITY || this.#rate !== undefined;
  }

  get counts(): CallCounts {
    return { running: this.#running, waiting: this.#waiting.size, refused: this.#refused };
  }

  /**
   * Returns undefined if the call may begin now, or a promise of its turn, which ends at once when `signal` aborts. Throws if
   * the call is refused. `key` tells callers apart.
   */
  enter(signal?: AbortSignal, key = ""): undefined | Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    if (signal?.aborted === true) throw cancelled(signal);
    if (this.#waiting.size === 0 && this.#blockedBy() === undefined) {
      this.#begin();
      return undefined;
    }
    if (this.#waiting.size >= this.#queue) this.#makePlace(key);
    return this.#wait(signal, key);
  }

  /** A call that was let in is over. */
  leave(): void {
    this.#running--;
    this.#measure();
    this.#startWaiting();
  }

  /** Refuses what comes, and resolves when everything that was let in or waits is over. */
  drain(): Promise<void> {
    this.#closed ??= this.#refusedFrom("is being stopped");
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#settleIdle();
    });
  }

  /** Refuses what comes, and what waits, with `reason`. */
  close(reason?: McpError): void {
    this.#closed = reason ?? this.#refusedFrom("is stopped");
    this.#timer?.cancel();
    this.#timer = undefined;
    for (let call = this.#waiting.shift(); call !== undefined; call = this.#waiting.shift()) call.refuse(this.#closed);
    this.#settleIdle();
  }

  #begin(): void {
    this.#running++;
    // There is a token: `#blockedBy` has just looked.
    this.#rate?.take();
  }

  #blockedBy(): MetLimit | undefined {
    if (this.#running >= this.#concurrency) return "concurrency";
    return (this.#rate?.waitMs ?? 0) > 0 ? "rate" : undefined;
  }

  #startWaiting(): void {
    while (this.#waiting.size > 0) {
      const blocked = this.#blockedBy();
      if (blocked === "rate") this.#startTimer();
      if (blocked !== undefined) return;
      this.#begin();
      this.#waiting.shift()?.start();
    }
    this.#settleIdle();
  }

  #startTimer(): void {
    this.#timer ??= this.#parts.platform.timer(this.#rate?.waitMs ?? 0, () => {
      this.#timer = undefined;
      this.#startWaiting();
    });
  }

  #wait(signal: AbortSignal | undefined, key: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(key, call);
        reject(cancelled(signal));
        this.#afterRemoval();
      };
      const call: WaitingCall = {
        start() {
          signal?.removeEventListener("abort", stop);
          resolve();
        },
        refuse(error) {
          signal?.removeEventListener("abort", stop);
          reject(error);
        },
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.push(key, call);
      if (this.#blockedBy() === "rate") this.#startTimer();
    });
  }

  #afterRemoval(): void {
    if (this.#waiting.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#settleIdle();
  }

  /** Frees a place in the queue at the cost of the caller with the most waiting calls, or throws. */
  #makePlace(key: string): void {
    this.#refused++;
    const refusal = this.#refusal();
    const newest = this.#waiting.popLongest(this.#waiting.waitingOf(key) + 1);
    if (newest === undefined) throw refusal;
    newest.refuse(refusal);
  }

  #refusal(): McpError {
    const met = this.#blockedBy() ?? "concurrency";
    const { server } = this.#parts;
    const value = met === "rate" ? (this.#rate?.perSecond ?? 0) : this.#concurrency;
    const gets = met === "rate" ? `gets ${value} calls a second` : `runs ${value} calls at once`;
    const waiting = `${this.#queue} ${this.#queue === 1 ? "is" : "are"} waiting`;
    const option = met === "rate" ? "rate.perSecond" : "concurrency";
    return new McpError("limit_exceeded", `too many calls: the server "${server}" ${gets}, and ${waiting}`, {
      data: { limit: met, server, value, queue: this.#queue, retryAfterMs: this.#retryAfterMs(met) },
      fix: `Call again after \`data.retryAfterMs\`, or raise \`${option}\` or \`queue\` of the server "${server}".`,
    });
  }

  /** A place in the queue is free after the next end, or with the next token. */
  #retryAfterMs(met: MetLimit): number {
    const ms = met === "rate" ? (this.#rate?.waitMs ?? 0) : (this.#betweenEndsMs ?? UNKNOWN_MS);
    return Math.min(Math.max(1, Math.ceil(ms)), LONGEST_HINT_MS);
  }

  #measure(): void {
    const now = this.#parts.platform.monotonic();
    if (this.#lastEnd !== undefined) {
      const last = now - this.#lastEnd;
      const before = this.#betweenEndsMs ?? last;
      this.#betweenEndsMs = before + (last - before) * NEWEST;
    }
    // A pause follows if nobody waits, and a pause tells nothing about how long calls take.
    this.#lastEnd = this.#waiting.size > 0 ? now : undefined;
  }

  #settleIdle(): void {
    if (this.#running > 0 || this.#waiting.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #refusedFrom(state: string): McpError {
    const { server } = this.#parts;
    return new McpError("connection_closed", `the server "${server}" ${state}`, {
      data: { server },
      fix: "Call again when the server has been started again.",
    });
  }
}

function cancelled(signal: AbortSignal | undefined): McpError {
  return new McpError("cancelled", "the call was cancelled while it waited for its turn", { cause: signal?.reason });
}
