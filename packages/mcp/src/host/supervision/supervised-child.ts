import { neverUnhandled } from "../../encoding/maybe-promise.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { ChildExit, ChildSpec, RestartPolicy } from "./child-spec.js";
import { type ChildEvent, type ChildState, childStateAfter } from "./state-table.js";
import type { RestartCount } from "./supervisor-options.js";
import type { ChildStatus, NestedSupervisor } from "./supervisor-tree.js";
import { endWatched, StartAttempt, stopBound, type WatchedChild, watchChild } from "./watch-child.js";

/** The supervisor of a child, as the child sees it. */
export interface ChildOwner {
  readonly platform: Platform;
  /** Reports a transition of the child. */
  changed(child: SupervisedChild, from: ChildState, event: ChildEvent, exit: ChildExit | undefined): void;
  /**
   * Reports that an instance ended by itself or could not be started. The owner decides on the next transition at once.
   */
  crashed(child: SupervisedChild, exit: ChildExit, ranMs: number): void;
  /** Reports a start or stop that did not finish in time. */
  leftBehind(child: SupervisedChild, what: "start" | "stop", afterMs: number): void;
  /** Subscribes to the events of a child that is a supervisor. */
  adopt(supervisor: NestedSupervisor): void;
}

interface Waiter {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Maximum number of unfinished starts and stops of one child. At this number, further starts fail until one of the
 * unfinished operations finishes.
 */
const MAX_LEFT_BEHIND = 8;

/**
 * One child: its state and its current instance. The supervisor decides when to start it and what follows from its end.
 */
export class SupervisedChild {
  readonly spec: ChildSpec;
  /** The child's own restart count, if it is isolated. */
  readonly isolated: RestartCount | undefined;
  /** Number of failures in a row, each after a short run. Determines the back-off. */
  failures = 0;
  /** Number of calls to stop, restart or remove the child. Only the last one takes effect. */
  commands = 0;
  /** True if the child is removed as soon as it has stopped. */
  isRemoving = false;
  readonly #owner: ChildOwner;
  #state: ChildState = "waiting";
  #starts = 0;
  #since = 0;
  #lastExit: ChildExit | undefined;
  #value: unknown;
  #nested: NestedSupervisor | undefined;
  #watched: WatchedChild | undefined;
  #attempt: StartAttempt | undefined;
  #stopping: Promise<void> | undefined;
  #afterStop: "wait" | "stopped" = "stopped";
  #cleanUp: Promise<void> | undefined;
  #leftBehind = 0;
  #timer: Timer | undefined;
  #settledWaiters: (() => void)[] = [];
  #outcomeWaiters: Waiter[] = [];

  constructor(spec: ChildSpec, owner: ChildOwner, isolated: RestartCount | undefined) {
    this.spec = spec;
    this.isolated = isolated;
    this.#owner = owner;
  }

  get state(): ChildState {
    return this.#state;
  }

  get policy(): RestartPolicy {
    return this.spec.restart ?? "permanent";
  }

  /** The instance, while it is running. */
  get value(): unknown {
    return this.#state === "running" ? this.#value : undefined;
  }

  /** The supervisor that is this child, while it is starting or running. */
  get nested(): NestedSupervisor | undefined {
    return this.#nested;
  }

  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  /** True if a timer will start the child. */
  get isTimed(): boolean {
    return this.#timer !== undefined;
  }

  /** Maximum number of milliseconds that ending the instance takes. */
  get stopBoundMs(): number {
    return stopBound(this.spec, this.#nested ?? this.#value);
  }

  status(): ChildStatus {
    const { platform } = this.#owner;
    return {
      id: this.spec.id,
      state: this.#state,
      restart: this.policy,
      restarts: this.restarts,
      ...(this.#state === "running" && { uptimeMs: Math.max(0, platform.monotonic() - this.#since) }),
      ...(this.#lastExit !== undefined && { reason: this.#lastExit.reason }),
      ...(this.#nested !== undefined && { supervisor: this.#nested.tree() }),
    };
  }

  /** Performs one transition of the table. */
  transition(event: ChildEvent, exit?: ChildExit): void {
    const from = this.#state;
    this.#state = childStateAfter(from, event);
    if (exit !== undefined) this.#lastExit = exit;
    this.#owner.changed(this, from, event, exit);
    this.#settleWaiters(from, event, exit);
  }

  /** Calls `run` after `ms`, unless the child is started or stopped first. */
  schedule(ms: number, run: () => void): void {
    this.cancelTimer();
    if (ms === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#owner.platform.timer(
      ms,
      () => {
        this.#timer = undefined;
        run();
      },
      true,
    );
  }

  cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Starts one instance and reports the outcome to the owner. */
  start(): void {
    this.cancelTimer();
    this.#starts++;
    this.transition("start");
    this.#attempt = new StartAttempt(
      this.#leftBehind < MAX_LEFT_BEHIND ? this.spec : { ...this.spec, start: () => this.#refuseStart() },
      {
        platform: this.#owner.platform,
        onStarted: (value) => this.#onStarted(value),
        onFailed: (exit) => {
          this.#attempt = undefined;
          this.#nested = undefined;
          this.#owner.crashed(this, exit, 0);
        },
        adopt: (supervisor) => {
          this.#nested = supervisor;
          this.#owner.adopt(supervisor);
        },
        leftBehind: (afterMs, settled) => this.#reportLeftBehind("start", afterMs, settled),
      },
      this.#cleanUp,
    );
  }

  /**
   * Ends the instance, or cancels its start. Resolves when the instance has ended or is left behind. The child is then
   * `stopped`. With `wait` it waits for the next start instead, unless another call requested `stopped`.
   */
  stop(then: "wait" | "stopped"): Promise<void> {
    if (this.#stopping !== undefined) {
      if (then === "stopped") this.#afterStop = then;
      return this.#stopping;
    }
    if (this.#state === "running" || this.#state === "starting") {
      this.#afterStop = then;
      this.transition("stop");
      this.#stopping = this.#endInstance();
      return this.#stopping;
    }
    if (then === "stopped" && (this.#state === "waiting" || this.#state === "failed")) this.transition("stop");
    if (then === "stopped" || this.#state === "waiting") this.cancelTimer();
    return this.#cleanUp ?? Promise.resolve();
  }

  /**
   * Resolves when the child is no longer about to start: it is running, failed, ended or stopped, or a new round stopped
   * it to start it later.
   */
  settled(): Promise<void> {
    if (!isUnsettled(this.#state)) return Promise.resolve();
    return new Promise((resolve) => this.#settledWaiters.push(resolve));
  }

  /**
   * Resolves with the instance of the next start. Rejects with the reason if the start fails or the child is stopped
   * first.
   */
  nextOutcome(): Promise<unknown> {
    return neverUnhandled(new Promise((resolve, reject) => this.#outcomeWaiters.push({ resolve, reject })));
  }

  async #endInstance(): Promise<void> {
    const attempt = this.#attempt;
    const watched = this.#watched;
    this.#attempt = undefined;
    this.#watched = undefined;
    this.#value = undefined;
    // The `await` defers the end by a turn, so that `stop` has stored this promise first.
    await attempt?.abandon();
    if (watched !== undefined) await this.#release(watched);
    this.#nested = undefined;
    this.#stopping = undefined;
    this.transition(this.#afterStop);
  }

  #onStarted(value: unknown): void {
    this.#attempt = undefined;
    this.#value = value;
    this.#since = this.#owner.platform.monotonic();
    const watched = watchChild(this.spec, value);
    this.#watched = watched;
    this.transition("started");
    void watched.ended.then((exit) => this.#watched === watched && this.#onEnded(watched, exit));
  }

  #onEnded(watched: WatchedChild, exit: ChildExit): void {
    this.#watched = undefined;
    this.#value = undefined;
    this.#nested = undefined;
    const cleanUp = this.#release(watched).then(() => {
      if (this.#cleanUp === cleanUp) this.#cleanUp = undefined;
    });
    this.#cleanUp = cleanUp;
    this.#owner.crashed(this, exit, this.#owner.platform.monotonic() - this.#since);
  }

  async #release(watched: WatchedChild): Promise<void> {
    const left = await endWatched(this.#owner.platform, watched);
    if (left !== undefined) this.#reportLeftBehind("stop", watched.stopMs, left.unended);
  }

  #reportLeftBehind(what: "start" | "stop", afterMs: number, settled: Promise<unknown>): void {
    this.#leftBehind++;
    void settled.then(() => {
      this.#leftBehind--;
    });
    this.#owner.leftBehind(this, what, afterMs);
  }

  #refuseStart(): never {
    throw new McpError(
      "limit_exceeded",
      `${MAX_LEFT_BEHIND} earlier starts and stops of "${this.spec.id}" have not finished, so it is not started again`,
      { fix: "Make `start` of the child react to its signal, and make its `stop` finish." },
    );
  }

  #settleWaiters(from: ChildState, event: ChildEvent, exit: ChildExit | undefined): void {
    if (!isUnsettled(this.#state) || event === "wait") for (const settled of this.#settledWaiters.splice(0)) settled();
    if (this.#state === "running") {
      for (const { resolve } of this.#outcomeWaiters.splice(0)) resolve(this.#value);
    } else if (this.#state === "stopped" || (from === "starting" && this.#state !== "stopping")) {
      const error = exit?.error ?? new McpError("cancelled", `"${this.spec.id}" was stopped before it was running`);
      for (const { reject } of this.#outcomeWaiters.splice(0)) reject(error);
    }
  }
}

function isUnsettled(state: ChildState): boolean {
  return state === "waiting" || state === "starting" || state === "stopping";
}
