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
  /** The child took a step. */
  changed(child: SupervisedChild, from: ChildState, event: ChildEvent, exit: ChildExit | undefined): void;
  /** An instance ended by itself or could not be started; the owner decides on the next step at once. */
  crashed(child: SupervisedChild, exit: ChildExit, ranMs: number): void;
  leftBehind(child: SupervisedChild, what: "start" | "stop", afterMs: number): void;
  nests(supervisor: NestedSupervisor): void;
}

interface Waiter {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Starts and stops that went on after they were given up; with this many of one child, no other start is tried. */
const LEFT_BEHIND_AT_MOST = 8;

/** One child: its state and its one instance. It decides nothing: when to start and what follows from an end is the supervisor's. */
export class SupervisedChild {
  readonly spec: ChildSpec;
  /** Its own count of restarts, if it is isolated. */
  readonly isolated: RestartCount | undefined;
  /** Ends in a row, each after a short life. */
  failures = 0;
  /** How often somebody asked to stop, restart or remove it: the last one is obeyed. */
  wishes = 0;
  /** Whether it is removed as soon as it has stopped. */
  isLeaving = false;
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

  /** The instance, while it runs. */
  get value(): unknown {
    return this.#state === "running" ? this.#value : undefined;
  }

  /** The supervisor that is this child, while it starts and while it runs. */
  get nested(): NestedSupervisor | undefined {
    return this.#nested;
  }

  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  /** Whether a timer of its own will start it. */
  get isTimed(): boolean {
    return this.#timer !== undefined;
  }

  /** How long ending it may take. */
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

  /** Takes one step of the table. */
  take(event: ChildEvent, exit?: ChildExit): void {
    const from = this.#state;
    this.#state = childStateAfter(from, event);
    if (exit !== undefined) this.#lastExit = exit;
    this.#owner.changed(this, from, event, exit);
    this.#tellWaiters(from, event, exit);
  }

  /** Calls `run` after `ms`, unless the child is started or stopped before. */
  later(ms: number, run: () => void): void {
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

  /** Starts one instance; what comes of it is told to the owner. */
  start(): void {
    this.cancelTimer();
    this.#starts++;
    this.take("start");
    this.#attempt = new StartAttempt(
      this.#leftBehind < LEFT_BEHIND_AT_MOST ? this.spec : { ...this.spec, start: () => this.#refuseStart() },
      {
        platform: this.#owner.platform,
        works: (value) => this.#works(value),
        fails: (exit) => {
          this.#attempt = undefined;
          this.#nested = undefined;
          this.#owner.crashed(this, exit, 0);
        },
        nests: (supervisor) => {
          this.#nested = supervisor;
          this.#owner.nests(supervisor);
        },
        leftBehind: (afterMs, settled) => this.#leave("start", afterMs, settled),
      },
      this.#cleanUp,
    );
  }

  /**
   * Ends the instance, or the wait for one; done when it is gone or left behind. Then the child is `stopped`, or, after `wait`
   * alone, waits for the next start.
   */
  stop(then: "wait" | "stopped"): Promise<void> {
    if (this.#stopping !== undefined) {
      if (then === "stopped") this.#afterStop = then;
      return this.#stopping;
    }
    if (this.#state === "running" || this.#state === "starting") {
      this.#afterStop = then;
      this.take("stop");
      this.#stopping = this.#endInstance();
      return this.#stopping;
    }
    if (then === "stopped" && (this.#state === "waiting" || this.#state === "failed")) this.take("stop");
    if (then === "stopped" || this.#state === "waiting") this.cancelTimer();
    return this.#cleanUp ?? Promise.resolve();
  }

  /** Resolves when the wait for its start is over: it runs, is held, has ended, is stopped, or waits to be started anew. */
  settled(): Promise<void> {
    if (!isUnsettled(this.#state)) return Promise.resolve();
    return new Promise((resolve) => this.#settledWaiters.push(resolve));
  }

  /** What the next start gives, or why there is no instance. */
  nextOutcome(): Promise<unknown> {
    return neverUnhandled(new Promise((resolve, reject) => this.#outcomeWaiters.push({ resolve, reject })));
  }

  async #endInstance(): Promise<void> {
    const attempt = this.#attempt;
    const watched = this.#watched;
    this.#attempt = undefined;
    this.#watched = undefined;
    this.#value = undefined;
    // Always a turn later: whoever stops the child must hold the promise before it is done.
    await attempt?.abandon();
    if (watched !== undefined) await this.#free(watched);
    this.#nested = undefined;
    this.#stopping = undefined;
    this.take(this.#afterStop);
  }

  #works(value: unknown): void {
    this.#attempt = undefined;
    this.#value = value;
    this.#since = this.#owner.platform.monotonic();
    const watched = watchChild(this.spec, value);
    this.#watched = watched;
    this.take("started");
    void watched.ended.then((exit) => this.#watched === watched && this.#endedByItself(watched, exit));
  }

  #endedByItself(watched: WatchedChild, exit: ChildExit): void {
    this.#watched = undefined;
    this.#value = undefined;
    this.#nested = undefined;
    const cleanUp = this.#free(watched).then(() => {
      if (this.#cleanUp === cleanUp) this.#cleanUp = undefined;
    });
    this.#cleanUp = cleanUp;
    this.#owner.crashed(this, exit, this.#owner.platform.monotonic() - this.#since);
  }

  async #free(watched: WatchedChild): Promise<void> {
    const left = await endWatched(this.#owner.platform, watched);
    if (left !== undefined) this.#leave("stop", watched.stopMs, left.unended);
  }

  #leave(what: "start" | "stop", afterMs: number, settled: Promise<unknown>): void {
    this.#leftBehind++;
    void settled.then(() => {
      this.#leftBehind--;
    });
    this.#owner.leftBehind(this, what, afterMs);
  }

  #refuseStart(): never {
    throw new McpError(
      "limit_exceeded",
      `${LEFT_BEHIND_AT_MOST} earlier starts and stops of "${this.spec.id}" have never ended, so no other is tried`,
      { fix: "Let `start` of the child obey its signal, and let its `stop` end." },
    );
  }

  #tellWaiters(from: ChildState, event: ChildEvent, exit: ChildExit | undefined): void {
    if (!isUnsettled(this.#state) || event === "wait") for (const settled of this.#settledWaiters.splice(0)) settled();
    if (this.#state === "running") {
      for (const { resolve } of this.#outcomeWaiters.splice(0)) resolve(this.#value);
    } else if (this.#state === "stopped" || (from === "starting" && this.#state !== "stopping")) {
      const error = exit?.error ?? new McpError("cancelled", `"${this.spec.id}" was stopped before it worked`);
      for (const { reject } of this.#outcomeWaiters.splice(0)) reject(error);
    }
  }
}

function isUnsettled(state: ChildState): boolean {
  return state === "waiting" || state === "starting" || state === "stopping";
}
