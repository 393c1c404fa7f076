import type { OutgoingCall } from "../../era/era.js";
import type { Id } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import { pause } from "../../platform/pause.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { ProgressNotificationParams } from "../../protocol/lifecycle.js";
import type { MethodRow } from "../../protocol/methods.js";
import { readTrace, traceMeta } from "../../protocol/trace-context.js";
import type { CurrentConnection } from "../connection/current-connection.js";
import type { CallOptions, ClientOptions, Timeouts } from "../contract/options.js";
import type { CallExtras } from "./requester.js";

/** Ends calls before their answer. */
export interface CallOwner {
  stop(call: PendingCall, reason: McpError): void;
}

/** One call of the application: it may be sent several times, and it ends once. */
export class PendingCall implements Deadline {
  readonly out: OutgoingCall;
  readonly row: MethodRow | undefined;
  readonly options: CallOptions;
  readonly extras: CallExtras;
  readonly started: number;
  heard: number;
  readonly idle: number;
  total: number;
  paused = 0;
  /** The request that stands for the call now; undefined while it waits for something else. */
  id: Id | undefined;
  /** The id of its first request; known only if the client is observed. */
  firstId: Id | undefined;
  /** The connection over which it was sent last. */
  connection: CurrentConnection | undefined;
  /** What the cache had seen of changes when it was sent. */
  generation = 0;
  /** True once it was sent a second time after a loss. */
  resent = false;
  /** Rounds of questions so far, and how many of the last ones asked nothing. */
  rounds = 0;
  /** Questions of all these rounds. */
  questions = 0;
  emptyRounds = 0;
  /** The greatest progress that the request of the moment reported. */
  lastProgress = Number.NEGATIVE_INFINITY;
  /** Why it ended while no request stood for it. */
  stopped: McpError | undefined;
  /** Ends the watching of the caller's signal. */
  unwatch: (() => void) | undefined;
  readonly #owner: CallOwner;
  #interrupt: ((reason: McpError) => void) | undefined;
  #lastSign: number | undefined;

  constructor(
    out: OutgoingCall,
    row: MethodRow | undefined,
    options: CallOptions,
    extras: CallExtras,
    now: number,
    bounds: Timeouts,
    owner: CallOwner,
  ) {
    const endless = row?.deadlineExempt === true;
    this.out = out;
    this.row = row;
    this.options = options;
    this.extras = extras;
    this.started = now;
    this.heard = now;
    this.idle = endless ? Number.POSITIVE_INFINITY : (options.timeouts?.idleMs ?? bounds.idleMs);
    this.total = endless ? Number.POSITIVE_INFINITY : (options.timeouts?.totalMs ?? bounds.totalMs);
    this.#owner = owner;
  }

  /** Waits for `work`, or until the call is stopped. */
  during<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#interrupt = reject;
      if (this.stopped !== undefined) reject(this.stopped);
      work.then(resolve, reject);
    }).finally(() => {
      this.#interrupt = undefined;
    });
  }

  /** Ends what the call waits for, now or next. */
  interrupt(reason: McpError): void {
    this.stopped ??= reason;
    this.#interrupt?.(reason);
  }

  /** The call waits for a user, for example for a login: silence does not count until the returned function is called. */
  holdFor(deadlines: CallDeadlines): () => void {
    const [release, released] = [deadlines.hold([this]), this.extras.onUserWait?.()];
    return () => {
      release();
      released?.();
    };
  }

  /** Lets it outlast the total deadline, unless the caller set one. */
  liftDeadline(): void {
    if (this.options.timeouts?.totalMs === undefined) this.total = Number.POSITIVE_INFINITY;
  }

  /** The server gave a sign of life. */
  sign(now: number): void {
    this.heard = now;
    this.#lastSign = now;
  }

  /** Whether there is anything to tell: progress that does not grow is only a sign of life. */
  progress(params: ProgressNotificationParams, now: number): boolean {
    this.sign(now);
    const grown = params.progress > this.lastProgress;
    if (grown) this.lastProgress = params.progress;
    return grown;
  }

  abandon(): void {
    this.interrupt?.(
      new McpError("connection_closed", `the client was closed while ${this.out.method} was under way`, {
        fix: "Close the client when its calls have ended.",
      }),
    );
  }

  expire(which: "idle" | "total"): void {
    const heardAfter = this.#lastSign === undefined ? undefined : Math.round(this.#lastSign - this.started);
    const silent = heardAfter === undefined ? "nothing was heard" : `last heard ${heardAfter} ms after the start`;
    this.#owner.stop(
      this,
      new McpError("timeout", `${this.out.method} passed its ${which} deadline of ${this[which]} ms; ${silent}`, {
        data: { deadline: which, ms: this[which], heardAfter },
        fix: `Raise \`timeouts.${which}Ms\`, for this call or in \`connect\`, or let the server report progress.`,
      }),
    );
  }
}

/** One wait with two bounds; `heard` is when the other side last gave a sign of life. */
export interface Deadline {
  readonly started: number;
  heard: number;
  readonly idle: number;
  readonly total: number;
  /** For how many reasons the silence of the other side does not count now, because this side is busy. */
  paused: number;
  expire(which: "idle" | "total"): void;
  /** The client is over: what this still waits for will not come. */
  abandon(): void;
}

/** How often `drain` looks whether the last wait has ended. */
const DRAIN_LOOK_MS = 10;

/** All deadlines of one client on one timer: a call costs no timer of its own. */
export class CallDeadlines {
  readonly #platform: Platform;
  /** What has not ended; the one that ends a wait deletes it here. */
  readonly waiting = new Set<Deadline>();
  /** The deadlines that each `holdAll` holds. */
  readonly #growing = new Set<Deadline[]>();
  #timer: Timer | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  add(deadline: Deadline): void {
    this.waiting.add(deadline);
    if (this.#growing.size > 0) this.#holdLate(deadline);
    const due = this.#dueAt(deadline);
    if (due < this.#wakesAt) this.#arm(due);
  }

  /** The bounds of a deadline changed, or silence began to count again. */
  renew(deadline: Deadline): void {
    deadline.heard = this.#platform.monotonic();
    const due = this.#dueAt(deadline);
    if (due < this.#wakesAt) this.#arm(due);
  }

  /**
   * The server waits for this side's user: its silence about what waits now does not count until the returned function is
   * called. What begins later is not affected, so that a question that is never answered costs no other call its deadline.
   */
  hold(some: Iterable<Deadline> = this.waiting): () => void {
    return this.#hold([...some]);
  }

  #holdLate(deadline: Deadline): void {
    for (const held of this.#growing) {
      deadline.paused++;
      held.push(deadline);
    }
  }

  /** As `hold`, also for what begins before the returned function is called. */
  holdAll(): () => void {
    const held = [...this.waiting];
    this.#growing.add(held);
    const release = this.#hold(held);
    return () => {
      this.#growing.delete(held);
      release();
    };
  }

  #hold(held: Deadline[]): () => void {
    for (const deadline of held) deadline.paused++;
    return () => {
      for (const deadline of held.splice(0)) {
        deadline.paused--;
        if (this.waiting.has(deadline)) this.renew(deadline);
      }
    };
  }

  /** Resolves when nothing waits any more, after `ms` or when `signal` aborts. What has no deadline is not waited for. */
  async drain(ms: number, signal: AbortSignal): Promise<void> {
    for (const until = this.#platform.monotonic() + ms; this.waiting.size > 0; ) {
      const left = until - this.#platform.monotonic();
      if (left <= 0 || signal.aborted) return;
      await pause(this.#platform, Math.min(left, DRAIN_LOOK_MS), signal, true);
    }
  }

  /** A wait has failed. The timer stays for the next one, unless the client is over: then there is none. */
  end(deadline: Deadline): void {
    this.waiting.delete(deadline);
    if (this.#stopped && this.waiting.size === 0) this.#disarm();
  }

  stop(): void {
    this.#stopped = true;
    for (const deadline of this.waiting) deadline.abandon();
    this.waiting.clear();
    this.#disarm();
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#wakesAt = Number.POSITIVE_INFINITY;
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    this.#wakesAt = at;
    this.#timer = this.#platform.timer(Math.max(0, at - this.#platform.monotonic()), () => this.#wake());
  }

  #wake(): void {
    this.#timer = undefined;
    this.#wakesAt = Number.POSITIVE_INFINITY;
    const now = this.#platform.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const deadline of [...this.waiting]) {
      const due = this.#dueAt(deadline);
      if (due > now) next = Math.min(next, due);
      else {
        this.waiting.delete(deadline);
        deadline.expire(now >= deadline.started + deadline.total ? "total" : "idle");
      }
    }
    if (next < this.#wakesAt) this.#arm(next);
  }

  #dueAt({ started, heard, idle, total, paused }: Deadline): number {
    const latest = started + total;
    return paused > 0 ? latest : Math.min(heard + idle, latest);
  }
}

/** What the application wants in `_meta`: the trace context, and what it gave for this call. */
export function metaOf(
  { trace, meta }: CallOptions,
  options: ClientOptions,
  warn: (message: string) => void,
): Record<string, unknown> | undefined {
  let wanted = trace;
  if (wanted === undefined && options.trace !== undefined) {
    callHook(warn, "trace", () => {
      wanted = options.trace?.();
      return wanted;
    });
  }
  // Reading it again leaves out what is malformed: tracing never breaks a call.
  const read = wanted === undefined ? undefined : readTrace(wanted);
  return read === undefined ? meta : { ...traceMeta(read), ...meta };
}
