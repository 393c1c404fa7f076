import { onAbort } from "../../platform/on-abort.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { TokenBucket } from "../../platform/token-bucket.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { checkNumber } from "./check-number.js";

/** Limits the number of calls that start within a period. */
interface RateOptions {
  /** Average number of calls per second. Fractions are allowed: 0.1 is one call in ten seconds. */
  perSecond: number;
  /**
   * Maximum number of calls that may start at the same time after a pause. Default: `perSecond`, rounded down, at least
   * 1.
   */
  burst?: number | undefined;
}

/** Limits of the calls to one server, and of the queue of waiting calls. */
export interface CallLimits {
  /** Maximum number of calls that run at the same time. Default: no limit. */
  concurrency?: number | undefined;
  /** Maximum number of calls that wait. 0 rejects every call that cannot start immediately. Default: 1,000. */
  queue?: number | undefined;
  /** Limits the number of calls that start within a period. Default: no limit. */
  rate?: RateOptions | undefined;
}

/** Numbers of calls to one server, for a status page. */
export interface CallCounts {
  /** Calls that run now. */
  readonly running: number;
  /** Calls that wait in the queue now. */
  readonly waiting: number;
  /** Calls rejected because the queue was full, since the server was added. */
  readonly refused: number;
}

/** The runtime of a gate, and the name of its server. */
export interface CallGateConfig {
  readonly platform: Pick<Platform, "monotonic" | "timer">;
  /** The server's name, for errors. */
  readonly server: string;
}

/** The limit that blocks a call. */
type MetLimit = "concurrency" | "rate";

interface WaitingCall {
  start(): void;
  refuse(error: McpError): void;
}

const DEFAULT_QUEUE = 1_000;
/** Milliseconds that a rejected caller is advised to wait while the duration of calls is unknown. */
const DEFAULT_HINT_MS = 1_000;
const MAX_HINT_MS = 60_000;
/** The weight of the newest interval between the ends of two calls in the moving average. */
const SMOOTHING = 0.2;

/**
 * Admits calls within the limits of one server and queues the rest. Calls of one caller start in order. Callers take
 * turns, so that a caller with many calls delays the others by one call at a time. If the queue is full, the caller
 * with the most waiting calls loses its newest one. That is the new call itself, unless another caller has more calls
 * in the queue.
 *
 * Every `enter` that does not throw or reject must be followed by one `leave`.
 */
export class CallGate {
  /** True if calls may have to wait. */
  readonly isLimited: boolean;
  readonly #config: CallGateConfig;
  readonly #concurrency: number;
  readonly #queue: number;
  readonly #perSecond: number;
  readonly #bucket: TokenBucket | undefined;
  readonly #waiting = new FairQueue<WaitingCall>();
  #running = 0;
  #refused = 0;
  #closed: McpError | undefined;
  #timer: Timer | undefined;
  /** Callbacks of `drain`, called when no call runs or waits. */
  #idle: (() => void)[] = [];
  #lastEnd: number | undefined;
  #betweenEndsMs: number | undefined;

  constructor(config: CallGateConfig, limits: CallLimits = {}) {
    checkOptions("the limits of a server", limits, "concurrency queue rate");
    const { concurrency, queue = DEFAULT_QUEUE, rate } = limits;
    if (concurrency !== undefined) checkNumber("concurrency", concurrency, { min: 1 });
    checkNumber("queue", queue, { min: 0 });
    this.#config = config;
    this.#concurrency = concurrency ?? Number.POSITIVE_INFINITY;
    this.#queue = queue;
    this.#perSecond = rate?.perSecond ?? 0;
    this.#bucket = rate === undefined ? undefined : bucketOf(config.platform, rate);
    this.isLimited = concurrency !== undefined || rate !== undefined;
  }

  get counts(): CallCounts {
    return { running: this.#running, waiting: this.#waiting.size, refused: this.#refused };
  }

  /**
   * Returns undefined if the call may start now, otherwise a promise that resolves when it may start. The promise
   * rejects at once when `signal` aborts. Throws if the call is rejected. `key` identifies the caller.
   */
  enter(signal?: AbortSignal, key?: unknown): undefined | Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    if (signal?.aborted === true) throw cancelled(signal);
    if (this.#waiting.size === 0 && this.#blockedBy() === undefined) {
      this.#begin();
      return undefined;
    }
    if (this.#waiting.size >= this.#queue) this.#makeRoom(key);
    return this.#wait(signal, key);
  }

  /** Marks the end of a call that was admitted. */
  leave(): void {
    this.#running--;
    this.#measure();
    this.#startWaiting();
  }

  /** Rejects new calls, and resolves when all admitted and waiting calls have ended. */
  drain(): Promise<void> {
    this.#closed ??= this.#closedError("is being stopped");
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#settleIdle();
    });
  }

  /** Rejects new and waiting calls with `reason`. */
  close(reason?: McpError): void {
    this.#closed = reason ?? this.#closedError("is stopped");
    this.#timer?.cancel();
    this.#timer = undefined;
    for (let call = this.#waiting.shift(); call !== undefined; call = this.#waiting.shift()) call.refuse(this.#closed);
    this.#settleIdle();
  }

  #begin(): void {
    this.#running++;
    // A token is available: the caller has just checked `#blockedBy`.
    this.#bucket?.acquire();
  }

  #blockedBy(): MetLimit | undefined {
    if (this.#running >= this.#concurrency) return "concurrency";
    return (this.#bucket?.waitMs ?? 0) > 0 ? "rate" : undefined;
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
    this.#timer ??= this.#config.platform.timer(Math.ceil(this.#bucket?.waitMs ?? 0), () => {
      this.#timer = undefined;
      this.#startWaiting();
    });
  }

  #wait(signal: AbortSignal | undefined, key: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const call: WaitingCall = {
        start() {
          remove();
          resolve();
        },
        refuse(error) {
          remove();
          reject(error);
        },
      };
      const remove = onAbort(signal, () => {
        this.#waiting.delete(key, call);
        reject(cancelled(signal));
        this.#afterRemoval();
      });
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

  /**
   * Frees a place in the queue by rejecting the newest call of the caller with the most waiting calls. Throws if no
   * other caller has more waiting calls than this caller, including its new call.
   */
  #makeRoom(key: unknown): void {
    this.#refused++;
    const refusal = this.#refusal();
    const newest = this.#waiting.popLongest(this.#waiting.waitingOf(key) + 1);
    if (newest === undefined) throw refusal;
    newest.refuse(refusal);
  }

  #refusal(): McpError {
    const met = this.#blockedBy() ?? "concurrency";
    const { server } = this.#config;
    const value = met === "rate" ? this.#perSecond : this.#concurrency;
    const state = met === "rate" ? `accepts ${value} calls per second` : `runs ${value} calls at once`;
    const waiting = `${this.#queue} ${this.#queue === 1 ? "is" : "are"} waiting`;
    const option = met === "rate" ? "perSecond" : "concurrency";
    return new McpError("limit_exceeded", `too many calls: the server "${server}" ${state}, and ${waiting}`, {
      data: { limit: met, server, value, queue: this.#queue, retryAfterMs: this.#retryAfterMs(met) },
      fix: `Call again after \`data.retryAfterMs\`, or raise \`${option}\` or \`queue\` of the server "${server}".`,
    });
  }

  /**
   * The estimated time until a place in the queue is free: until the next call ends, or until the rate allows the next
   * call.
   */
  #retryAfterMs(met: MetLimit): number {
    const ms = met === "rate" ? (this.#bucket?.waitMs ?? 0) : (this.#betweenEndsMs ?? DEFAULT_HINT_MS);
    return Math.min(Math.max(1, Math.ceil(ms)), MAX_HINT_MS);
  }

  #measure(): void {
    const now = this.#config.platform.monotonic();
    if (this.#lastEnd !== undefined) {
      const last = now - this.#lastEnd;
      const before = this.#betweenEndsMs ?? last;
      this.#betweenEndsMs = before + (last - before) * SMOOTHING;
    }
    // Without waiting calls, the time until the next end is idle time and says nothing about the duration of calls.
    this.#lastEnd = this.#waiting.size > 0 ? now : undefined;
  }

  #settleIdle(): void {
    if (this.#running > 0 || this.#waiting.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #closedError(state: string): McpError {
    const { server } = this.#config;
    return new McpError("connection_closed", `the server "${server}" ${state}`, {
      data: { server },
      fix: "Call again after the server has restarted.",
    });
  }
}

function bucketOf(platform: Pick<Platform, "monotonic">, rate: RateOptions): TokenBucket {
  checkOptions("`rate`", rate, "perSecond burst");
  const { perSecond, burst = Math.max(1, Math.floor(perSecond)) } = rate;
  checkNumber("perSecond", perSecond, { min: 0.001, fractions: true });
  checkNumber("burst", burst, { min: 1 });
  return new TokenBucket(platform, { intervalMs: 1000 / perSecond, burst });
}

function cancelled(signal: AbortSignal | undefined): McpError {
  return new McpError("cancelled", "the call was cancelled while it waited for its turn", { cause: signal?.reason });
}

/**
 * A queue by key: first in, first out within a key, and keys take turns. Every operation but `popLongest` takes
 * constant time.
 */
class FairQueue<T> {
  /** The keys in the order of their turns. Keys without items are removed. */
  readonly #byKey = new Map<unknown, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  waitingOf(key: unknown): number {
    return this.#byKey.get(key)?.size ?? 0;
  }

  push(key: unknown, item: T): void {
    const items = this.#byKey.get(key);
    if (items === undefined) this.#byKey.set(key, new Set([item]));
    else items.add(item);
    this.#size++;
  }

  /** Removes the first item of the key whose turn it is, and moves the key to the end. */
  shift(): T | undefined {
    for (const [key, items] of this.#byKey) {
      for (const item of items) {
        this.delete(key, item);
        if (items.size > 0) {
          this.#byKey.delete(key);
          this.#byKey.set(key, items);
        }
        return item;
      }
    }
    return undefined;
  }

  delete(key: unknown, item: T): boolean {
    const items = this.#byKey.get(key);
    if (items === undefined || !items.delete(item)) return false;
    if (items.size === 0) this.#byKey.delete(key);
    this.#size--;
    return true;
  }

  /** Removes the newest item of the key with the most items, if it has more than `moreThan`. */
  popLongest(moreThan: number): T | undefined {
    let longest: [unknown, Set<T>] | undefined;
    for (const entry of this.#byKey) if (entry[1].size > (longest?.[1].size ?? moreThan)) longest = entry;
    if (longest === undefined) return undefined;
    const [key, items] = longest;
    const newest = [...items].at(-1);
    if (newest !== undefined) this.delete(key, newest);
    return newest;
  }
}
