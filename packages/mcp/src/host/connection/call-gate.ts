import { onAbort } from "../../platform/on-abort.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { TokenBucket } from "../../platform/token-bucket.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { checkNumber } from "./check-number.js";

/** How many calls may begin in a time. */
interface RateOptions {
  /** Calls per second in the long run; fractions are allowed: 0.1 is one in ten seconds. */
  perSecond: number;
  /** Calls that may begin at once after a pause. Default: `perSecond`, at least 1. */
  burst?: number | undefined;
}

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
export interface CallGateConfig {
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

const DEFAULT_QUEUE = 1_000;
/** The advised wait while it is unknown how long calls take. */
const DEFAULT_HINT_MS = 1_000;
const MAX_HINT_MS = 60_000;
/** The weight of the last time between two ends in the smoothed one. */
const NEWEST_WEIGHT = 0.2;

/**
 * Lets calls begin within the limits of one server, the others wait: in order for each caller, and callers take turns, so
 * that one with many calls delays the others by one call at a time. When the queue is full, the caller with the most waiting
 * calls loses its newest one, which is the new call itself unless somebody waits with more than it.
 *
 * Each `enter` that does not throw or reject is followed by one `leave`.
 */
export class CallGate {
  /** Whether a call may ever have to wait for others. */
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
  /** Resolve when nothing runs or waits any more. */
  #idle: (() => void)[] = [];
  #lastEnd: number | undefined;
  #betweenEndsMs: number | undefined;

  constructor(parts: CallGateConfig, limits: CallLimits = {}) {
    checkOptions("the limits of a server", limits, "concurrency queue rate");
    const { concurrency, queue = DEFAULT_QUEUE, rate } = limits;
    if (concurrency !== undefined) checkNumber("concurrency", concurrency, { min: 1 });
    checkNumber("queue", queue, { min: 0 });
    this.#config = parts;
    this.#concurrency = concurrency ?? Number.POSITIVE_INFINITY;
    this.#queue = queue;
    this.#perSecond = rate?.perSecond ?? 0;
    this.#bucket = rate === undefined ? undefined : bucketOf(parts.platform, rate);
    this.isLimited = concurrency !== undefined || rate !== undefined;
  }

  get counts(): CallCounts {
    return { running: this.#running, waiting: this.#waiting.size, refused: this.#refused };
  }

  /**
   * Returns undefined if the call may begin now, or a promise of its turn, which ends at once when `signal` aborts. Throws if
   * the call is refused. `key` tells callers apart.
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

  /** A call that was let in is over. */
  leave(): void {
    this.#running--;
    this.#measure();
    this.#startWaiting();
  }

  /** Refuses what comes, and resolves when everything that was let in or waits is over. */
  drain(): Promise<void> {
    this.#closed ??= this.#closedError("is being stopped");
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#settleIdle();
    });
  }

  /** Refuses what comes, and what waits, with `reason`. */
  close(reason?: McpError): void {
    this.#closed = reason ?? this.#closedError("is stopped");
    this.#timer?.cancel();
    this.#timer = undefined;
    for (let call = this.#waiting.shift(); call !== undefined; call = this.#waiting.shift()) call.refuse(this.#closed);
    this.#settleIdle();
  }

  #begin(): void {
    this.#running++;
    // There is a token: `#blockedBy` has just looked.
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

  /** Frees a place in the queue at the cost of the caller with the most waiting calls, or throws. */
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
    const ms = met === "rate" ? (this.#bucket?.waitMs ?? 0) : (this.#betweenEndsMs ?? DEFAULT_HINT_MS);
    return Math.min(Math.max(1, Math.ceil(ms)), MAX_HINT_MS);
  }

  #measure(): void {
    const now = this.#config.platform.monotonic();
    if (this.#lastEnd !== undefined) {
      const last = now - this.#lastEnd;
      const before = this.#betweenEndsMs ?? last;
      this.#betweenEndsMs = before + (last - before) * NEWEST_WEIGHT;
    }
    // A pause follows if nobody waits, and a pause tells nothing about how long calls take.
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
      fix: "Call again when the server has been started again.",
    });
  }
}

function bucketOf(platform: Pick<Platform, "monotonic">, rate: RateOptions): TokenBucket {
  checkOptions("`rate`", rate, "perSecond burst");
  const { perSecond, burst = Math.max(1, Math.floor(perSecond)) } = rate;
  checkNumber("rate.perSecond", perSecond, { min: 0.001, fractions: true });
  checkNumber("rate.burst", burst, { min: 1 });
  return new TokenBucket(platform, { intervalMs: 1000 / perSecond, burst });
}

function cancelled(signal: AbortSignal | undefined): McpError {
  return new McpError("cancelled", "the call was cancelled while it waited for its turn", { cause: signal?.reason });
}

/** Waiting items by key: in order within a key, and keys take turns. Every operation but `popLongest` is constant in time. */
class FairQueue<T> {
  /** The keys in the order of their turns; none is empty. */
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

  /** Takes the first item of the key whose turn it is; the key goes to the end. */
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

  /** Takes the newest item of the key with the most, if it has more than `moreThan`. */
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
