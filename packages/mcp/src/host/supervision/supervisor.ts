import { platform as runtimePlatform } from "#platform";
import type { RemoveListener } from "../../client/contract/events.js";
import { neverUnhandled } from "../../encoding/maybe-promise.js";
import { nearestName } from "../../encoding/nearest-name.js";
import { type Platform, replacedPlatform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { ChildGroup } from "./child-group.js";
import { type ChildExit, type ChildSpec, checkChildSpec } from "./child-spec.js";
import { type SupervisorEvent, type SupervisorState, supervisorStateAfter } from "./state-table.js";
import { type ChildOwner, SupervisedChild } from "./supervised-child.js";
import { type SupervisionEvents, SupervisionListeners } from "./supervision-event.js";
import {
  RestartCount,
  type RestartIntensity,
  restartDelay,
  type SupervisorOptions,
  supervisorSettings,
} from "./supervisor-options.js";
import {
  type ChildStatus,
  isNestedSupervisor,
  NESTED,
  type NestedSupervisor,
  type SupervisorTree,
} from "./supervisor-tree.js";

/**
 * Keeps children running: starts them in order, restarts those that end, and ends itself if restarting does not help.
 *
 * A child is a client, a running server (the handle that `serve…` returns), a worker thread, a child process, another
 * supervisor, or anything disposable. The `strategy` decides which children are restarted when one ends, and the
 * `restart` policy of a child whether it is restarted at all. Restarts wait for the back-off. If there are more restarts
 * than the intensity allows, the supervisor stops all children in reverse order and ends: `ended` resolves, and a parent
 * supervisor restarts it as a whole.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/supervision.md | Supervision}
 */
export class Supervisor implements NestedSupervisor, AsyncDisposable {
  readonly [NESTED] = true;
  /** The name of the supervisor, as the options set it. */
  readonly name: string;
  /**
   * Resolves when all children are stopped: with a normal end after `close`, otherwise with the failure that exceeded
   * the intensity. Never rejects.
   */
  readonly ended: Promise<ChildExit>;
  readonly #settings: ReturnType<typeof supervisorSettings>;
  readonly #platform: Platform;
  readonly #listeners: SupervisionListeners;
  readonly #restarts: RestartCount;
  readonly #owner: ChildOwner;
  readonly #group: ChildGroup;
  readonly #started: Promise<void>;
  #state: SupervisorState = "new";
  #closing: Promise<void> | undefined;
  #resolveStarted: () => void = () => {};
  #rejectStarted: (error: unknown) => void = () => {};
  #resolveEnded: (exit: ChildExit) => void = () => {};

  constructor(options: SupervisorOptions) {
    this.#settings = supervisorSettings(options);
    this.name = options.name;
    this.#platform = replacedPlatform(runtimePlatform, options.platform);
    this.#listeners = new SupervisionListeners(this.#platform, options.onEvent);
    this.#restarts = new RestartCount(this.#settings.intensity);
    this.#owner = this.#ownerOfChildren();
    this.#group = new ChildGroup(this.#platform);
    this.#started = neverUnhandled(
      new Promise((resolve, reject) => {
        this.#resolveStarted = resolve;
        this.#rejectStarted = reject;
      }),
    );
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    for (const spec of options.children ?? []) this.#add(spec);
  }

  /** The current state; see `SUPERVISOR_TRANSITIONS`. */
  get state(): SupervisorState {
    return this.#state;
  }

  /**
   * Maximum number of milliseconds that `close` takes: the sum of the limits of all children. The actual time may be
   * shorter, because some children are stopped at the same time.
   */
  get stopBoundMs(): number {
    return this.#group.all.reduce((sum, child) => sum + child.stopBoundMs, 0);
  }

  /**
   * Starts the children in order, each when the one before is running, without waiting for isolated children. A failed
   * start is repeated like any other restart. Resolves when all children that are not isolated have started. Rejects if
   * the supervisor ends first. Further calls return the same promise.
   */
  start(): Promise<void> {
    if (this.#state === "new") {
      this.#transition("start");
      this.#beginRound([], 0);
    }
    return this.#started;
  }

  /**
   * Adds a child after the others and starts it. Resolves with the instance. Rejects if the first start fails; the
   * child is supervised all the same. If the supervisor is not started yet, the child is only added, and `start` starts
   * it in order.
   */
  startChild<C>(spec: ChildSpec<C>): Promise<C> {
    return neverUnhandled(this.#startChild(spec));
  }

  /** Stops a child. It stays in the list, and only `restartChild` starts it again. A `temporary` child is removed. */
  async stopChild(id: string): Promise<void> {
    const child = this.#find(id);
    child.commands++;
    await child.stop("stopped");
    if (child.policy === "temporary") this.#group.removeStopped(child);
  }

  /**
   * Stops a child if it is running and starts it at once, regardless of its policy and back-off. If a restart of
   * several children is in progress, waits for it first. Resolves with the new instance. Rejects if the start fails, or
   * if a later call stops or removes the child.
   */
  restartChild(id: string): Promise<unknown> {
    return neverUnhandled(this.#restartChild(id));
  }

  /** Stops a child and removes it from the list. */
  async removeChild(id: string): Promise<void> {
    const child = this.#find(id);
    child.commands++;
    child.isRemoving = true;
    await child.stop("stopped");
    this.#group.remove(child);
  }

  /**
   * Returns the instance of a running child; undefined if there is none. Each further id selects a child of the nested
   * supervisor found so far.
   */
  child(id: string, ...path: string[]): unknown {
    const value = this.#group.find(id)?.value;
    const [next, ...rest] = path;
    if (next === undefined) return value;
    return isNestedSupervisor(value) ? value.child(next, ...rest) : undefined;
  }

  /** Lists the state of each child, in the order of their start. */
  children(): ChildStatus[] {
    return this.#group.all.map((child) => child.status());
  }

  /** Returns this supervisor with everything below it, as plain data. `printTree` formats it. */
  tree(): SupervisorTree {
    return { name: this.name, state: this.#state, strategy: this.#settings.strategy, children: this.children() };
  }

  /**
   * Subscribes to events of this supervisor and of the supervisors below it. Errors of listeners are reported as
   * warnings and have no other effect. Returns a function that removes the listener.
   */
  on<T extends keyof SupervisionEvents>(type: T, listener: (event: SupervisionEvents[T]) => void): RemoveListener {
    return this.#listeners.add(type, listener);
  }

  /**
   * Stops all children in reverse order. Nothing is started afterwards. Resolves when every child has ended or has
   * exceeded its `stopMs`.
   */
  close(): Promise<void> {
    return this.#closing ?? this.#end("close", { normal: true, reason: "closed" });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #startChild<C>(spec: ChildSpec<C>): Promise<C> {
    const child = this.#add(spec);
    const outcome = child.nextOutcome();
    // While a round is running, the round itself starts a child that is not isolated.
    if (this.#state !== "new" && (this.#group.round === undefined || child.isolated !== undefined)) child.start();
    // Safe: the value that this child's own `start` returned.
    return outcome as Promise<C>;
  }

  async #restartChild(id: string): Promise<unknown> {
    const child = this.#find(id);
    if (this.#state === "new") {
      throw this.#misuse(
        "was not started, so it cannot restart a child",
        "Call `start` first; it starts all children.",
      );
    }
    this.#checkOpen();
    if (child.isRemoving) throw this.#unknown(id);
    const command = ++child.commands;
    await child.stop("wait");
    // Waits for a running round, because the round may start this child.
    if (!this.#restartsAlone(child)) while (this.#group.round !== undefined) await this.#group.round;
    if (child.state === "running") return child.value;
    const outcome = child.nextOutcome();
    if (child.state === "starting" || child.state === "stopping") return outcome;
    this.#checkOpen();
    // A later restart has replaced this one, and starts the child at once.
    if (child.commands !== command && child.state === "waiting" && !child.isRemoving) return outcome;
    if (child.commands !== command || !this.#group.all.includes(child)) {
      throw new McpError("cancelled", `the restart of "${id}" was replaced by a later stop, restart or removal`);
    }
    child.start();
    return outcome;
  }

  #add(spec: ChildSpec): SupervisedChild {
    checkChildSpec(spec);
    this.#checkOpen();
    const { maxChildren, intensity } = this.#settings;
    if (this.#group.find(spec.id) !== undefined) {
      const fix = "Give each child a unique id, or remove the other child first.";
      throw this.#misuse(`already has a child "${spec.id}"`, fix);
    }
    if (this.#group.all.length >= maxChildren) {
      throw new McpError("limit_exceeded", `supervisor "${this.name}" already has ${maxChildren} children`, {
        fix: "Remove children that are not needed, or raise `maxChildren`.",
      });
    }
    const isolated = spec.retryMs === undefined ? undefined : new RestartCount(intensity);
    const child = new SupervisedChild(spec, this.#owner, isolated);
    this.#group.add(child);
    return child;
  }

  #find(id: string): SupervisedChild {
    const child = this.#group.find(id);
    if (child === undefined) throw this.#unknown(id);
    return child;
  }

  #unknown(id: string): McpError {
    const meant = nearestName(
      id,
      this.#group.all.map(({ spec }) => spec.id),
    );
    const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
    return this.#misuse(`has no child "${id}"${hint}`, "Use the id of a child that `children()` lists.");
  }

  #misuse(what: string, fix: string): McpError {
    return new McpError("misuse", `supervisor "${this.name}" ${what}`, { fix });
  }

  get #isOpen(): boolean {
    return this.#state === "new" || this.#state === "starting" || this.#state === "running";
  }

  #checkOpen(): void {
    if (this.#isOpen) return;
    const fix = "Create a new supervisor; one that has ended cannot be started again.";
    throw this.#misuse(`is ${this.#state} and starts no more children`, fix);
  }

  /** True if the end of the child restarts no other child. */
  #restartsAlone(child: SupervisedChild): boolean {
    return child.isolated !== undefined || this.#settings.strategy === "one_for_one";
  }

  #ownerOfChildren(): ChildOwner {
    const about = () => ({ supervisor: this.name, at: this.#platform.now() });
    return {
      platform: this.#platform,
      changed: (child, from, event, exit) => {
        const { state: to, restarts } = child;
        const why = exit === undefined ? {} : { reason: exit.reason, error: exit.error };
        this.#listeners.publish({ type: "child", ...about(), child: child.spec.id, from, event, to, restarts, ...why });
      },
      crashed: (child, exit, ranMs) => this.#crashed(child, exit, ranMs),
      leftBehind: (child, what, afterMs) =>
        this.#listeners.publish({ type: "left_behind", ...about(), child: child.spec.id, what, afterMs }),
      adopt: (supervisor) =>
        void supervisor.on("any", (event) =>
          this.#listeners.publish({ ...event, supervisor: `${this.name}/${event.supervisor}` }),
        ),
    };
  }

  #crashed(child: SupervisedChild, exit: ChildExit, ranMs: number): void {
    const { strategy, backOff } = this.#settings;
    if (!this.#isOpen || child.policy === "temporary" || (child.policy === "transient" && exit.normal)) {
      child.transition("finish", exit);
      if (child.policy === "temporary") this.#group.remove(child);
      return;
    }
    if (this.#group.isToStop(child)) return child.transition("crash", exit);
    if (ranMs >= backOff.longestMs) child.failures = 0;
    if (!(child.isolated ?? this.#restarts).add(this.#platform.monotonic())) return this.#exceeded(child, exit);
    child.transition("crash", exit);
    const delayMs = restartDelay(this.#platform, backOff, child.failures++);
    if (this.#restartsAlone(child)) return child.schedule(delayMs, () => child.start());
    this.#beginRound(strategy === "one_for_all" ? this.#group.all : this.#group.from(child), delayMs);
  }

  #exceeded(child: SupervisedChild, exit: ChildExit): void {
    child.transition("exceed", exit);
    if (child.isolated !== undefined) return child.schedule(child.spec.retryMs ?? 0, () => child.start());
    void this.#end("escalate", exceeded(this.name, child.spec.id, this.#settings.intensity, exit));
  }

  #beginRound(toStop: readonly SupervisedChild[], delayMs: number): void {
    this.#group.beginRound(toStop, delayMs, () => {
      if (this.#state !== "starting") return;
      this.#transition("started");
      this.#resolveStarted();
    });
  }

  #end(event: "close" | "escalate", exit: ChildExit): Promise<void> {
    this.#transition(event, exit);
    this.#closing = this.#group.stopAll().then(() => {
      this.#transition("stopped");
      const early = `supervisor "${this.name}" was closed before all its children were running`;
      this.#rejectStarted(exit.error ?? new McpError("cancelled", early));
      this.#resolveEnded(exit);
    });
    return this.#closing;
  }

  #transition(event: SupervisorEvent, exit?: ChildExit): void {
    const from = this.#state;
    this.#state = supervisorStateAfter(from, event);
    const why = exit === undefined ? {} : { reason: exit.reason, error: exit.error };
    const { name: supervisor } = this;
    this.#listeners.publish({
      type: "supervisor",
      supervisor,
      from,
      event,
      to: this.#state,
      at: this.#platform.now(),
      ...why,
    });
  }
}

/** The end of a supervisor whose children failed too often. */
function exceeded(name: string, id: string, { restarts, withinMs }: RestartIntensity, exit: ChildExit): ChildExit {
  const times = `${restarts} ${restarts === 1 ? "restart" : "restarts"}`;
  const reason = `"${id}" failed after ${times} within ${withinMs} ms: ${exit.reason}`;
  const error = new McpError("limit_exceeded", `supervisor "${name}" ended: ${reason}`, {
    fix: "See `cause` for the failure of the child; raise `intensity` only if this many restarts are normal.",
    data: { child: id, restarts, withinMs },
    cause: exit.error,
  });
  return { normal: false, reason, error };
}
