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
 * Keeps children running: starts them in order, starts again what ends, and ends itself when that does not help.
 *
 * A child is a client, a handle that serves, a worker thread, a child process, another supervisor, or anything that can be
 * disposed of. Which children the end of one affects is the `strategy`; whether it is started again is its `restart`
 * policy. A restart waits for the back-off. More restarts than the intensity allows end the supervisor: it stops all
 * children in reverse order, and `ended` resolves; a parent supervisor then restarts the whole.
 */
export class Supervisor implements NestedSupervisor, AsyncDisposable {
  readonly [NESTED] = true;
  readonly name: string;
  /** Resolves when everything is stopped: normally after `close`, otherwise with what was too much. Never rejects. */
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

  get state(): SupervisorState {
    return this.#state;
  }

  /** How long `close` takes at most: children are stopped one after the other, isolated ones together. */
  get stopBoundMs(): number {
    return this.#group.all.reduce((sum, child) => sum + child.stopBoundMs, 0);
  }

  /**
   * Starts the children one after the other, each when the one before works; nobody waits for isolated ones. A start that
   * fails is repeated as after any other end. Resolves when all work, and rejects if the supervisor ends before.
   */
  start(): Promise<void> {
    if (this.#state === "new") {
      this.#take("start");
      this.#beginRound([], 0);
    }
    return this.#started;
  }

  /**
   * Adds a child after the others and starts it. Gives the instance, or rejects with what made its first start fail; the child
   * is supervised in either case. Before `start` it is only added, and its turn comes then.
   */
  startChild<C>(spec: ChildSpec<C>): Promise<C> {
    return neverUnhandled(this.#startChild(spec));
  }

  /** Ends a child; it stays in the list, and is started again by `restartChild` alone. */
  async stopChild(id: string): Promise<void> {
    const child = this.#find(id);
    child.wishes++;
    await child.stop("stopped");
    if (child.policy === "temporary") this.#group.removeStopped(child);
  }

  /** Ends a child if it runs, and starts it at once, whatever its policy and back-off. Gives the instance, as `startChild` does. */
  restartChild(id: string): Promise<unknown> {
    return neverUnhandled(this.#restartChild(id));
  }

  /** Ends a child and forgets it. */
  async removeChild(id: string): Promise<void> {
    const child = this.#find(id);
    child.wishes++;
    child.isLeaving = true;
    await child.stop("stopped");
    this.#group.remove(child);
  }

  /** The instance of a child that runs; further ids lead through supervisors that are children. */
  child(id: string, ...path: string[]): unknown {
    const value = this.#group.find(id)?.value;
    const [next, ...rest] = path;
    if (next === undefined) return value;
    return isNestedSupervisor(value) ? value.child(next, ...rest) : undefined;
  }

  /** What is known of each child, in the order of their start. */
  children(): ChildStatus[] {
    return this.#group.all.map((child) => child.status());
  }

  /** This supervisor and all below it, as plain data; `printTree` makes text of it. */
  tree(): SupervisorTree {
    return { name: this.name, state: this.#state, strategy: this.#settings.strategy, children: this.children() };
  }

  /** Listens to events of this supervisor and of those below it. What a listener throws is reported and harms nobody. */
  on<T extends keyof SupervisionEvents>(type: T, listener: (event: SupervisionEvents[T]) => void): RemoveListener {
    return this.#listeners.add(type, listener);
  }

  /** Stops all children in reverse order. Nothing is started from now on. */
  close(): Promise<void> {
    return this.#closing ?? this.#end("close", { normal: true, reason: "closed" });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #startChild<C>(spec: ChildSpec<C>): Promise<C> {
    const child = this.#add(spec);
    const outcome = child.nextOutcome();
    // A round that is under way starts it in its turn.
    if (this.#state !== "new" && (this.#group.round === undefined || child.isolated !== undefined)) child.start();
    // What this child's own `start` gave.
    return outcome as Promise<C>;
  }

  async #restartChild(id: string): Promise<unknown> {
    const child = this.#find(id);
    if (this.#state === "new") {
      throw this.#misuse(
        "was not started, so it has nothing to restart",
        "Call `start` first; it starts all children.",
      );
    }
    this.#checkOpen();
    if (child.isLeaving) throw this.#unknown(id);
    const wish = ++child.wishes;
    await child.stop("wait");
    // A round that is under way starts what waits, in its turn.
    if (!this.#isAlone(child)) while (this.#group.round !== undefined) await this.#group.round;
    if (child.state === "running") return child.value;
    const outcome = child.nextOutcome();
    if (child.state === "starting" || child.state === "stopping") return outcome;
    this.#checkOpen();
    // Whoever wished for a restart later starts it at once.
    if (child.wishes !== wish && child.state === "waiting" && !child.isLeaving) return outcome;
    if (child.wishes !== wish || !this.#group.all.includes(child)) {
      throw new McpError("cancelled", `the restart of "${id}" was overtaken by another wish`);
    }
    child.start();
    return outcome;
  }

  #add(spec: ChildSpec): SupervisedChild {
    checkChildSpec(spec);
    this.#checkOpen();
    const { maxChildren, intensity } = this.#settings;
    if (this.#group.find(spec.id) !== undefined) {
      const fix = "Give each child an id of its own, or remove the other first.";
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
    const fix = "Make a new supervisor; one that has ended does not come back.";
    throw this.#misuse(`is ${this.#state} and starts nothing any more`, fix);
  }

  /** Whether the end of the child affects nobody else. */
  #isAlone(child: SupervisedChild): boolean {
    return child.isolated !== undefined || this.#settings.strategy === "one_for_one";
  }

  #ownerOfChildren(): ChildOwner {
    const about = () => ({ supervisor: this.name, at: this.#platform.now() });
    return {
      platform: this.#platform,
      changed: (child, from, event, exit) => {
        const { state: to, restarts } = child;
        const why = exit === undefined ? {} : { reason: exit.reason, error: exit.error };
        this.#listeners.tell({ type: "child", ...about(), child: child.spec.id, from, event, to, restarts, ...why });
      },
      crashed: (child, exit, ranMs) => this.#crashed(child, exit, ranMs),
      leftBehind: (child, what, afterMs) =>
        this.#listeners.tell({ type: "left_behind", ...about(), child: child.spec.id, what, afterMs }),
      nests: (supervisor) =>
        void supervisor.on("any", (event) =>
          this.#listeners.tell({ ...event, supervisor: `${this.name}/${event.supervisor}` }),
        ),
    };
  }

  #crashed(child: SupervisedChild, exit: ChildExit, ranMs: number): void {
    const { strategy, backOff } = this.#settings;
    if (!this.#isOpen || child.policy === "temporary" || (child.policy === "transient" && exit.normal)) {
      child.take("finish", exit);
      if (child.policy === "temporary") this.#group.remove(child);
      return;
    }
    if (this.#group.isToStop(child)) return child.take("crash", exit);
    if (ranMs >= backOff.longestMs) child.failures = 0;
    if (!(child.isolated ?? this.#restarts).add(this.#platform.monotonic())) return this.#exceeded(child, exit);
    child.take("crash", exit);
    const delayMs = restartDelay(this.#platform, backOff, child.failures++);
    if (this.#isAlone(child)) return child.later(delayMs, () => child.start());
    this.#beginRound(strategy === "one_for_all" ? this.#group.all : this.#group.from(child), delayMs);
  }

  #exceeded(child: SupervisedChild, exit: ChildExit): void {
    child.take("exceed", exit);
    if (child.isolated !== undefined) return child.later(child.spec.retryMs ?? 0, () => child.start());
    void this.#end("escalate", exceeded(this.name, child.spec.id, this.#settings.intensity, exit));
  }

  #beginRound(toStop: readonly SupervisedChild[], delayMs: number): void {
    this.#group.beginRound(toStop, delayMs, () => {
      if (this.#state !== "starting") return;
      this.#take("started");
      this.#resolveStarted();
    });
  }

  #end(event: "close" | "escalate", exit: ChildExit): Promise<void> {
    this.#take(event, exit);
    this.#closing = this.#group.stopAll().then(() => {
      this.#take("stopped");
      const early = `supervisor "${this.name}" was closed before all its children worked`;
      this.#rejectStarted(exit.error ?? new McpError("cancelled", early));
      this.#resolveEnded(exit);
    });
    return this.#closing;
  }

  #take(event: SupervisorEvent, exit?: ChildExit): void {
    const from = this.#state;
    this.#state = supervisorStateAfter(from, event);
    const why = exit === undefined ? {} : { reason: exit.reason, error: exit.error };
    const { name: supervisor } = this;
    this.#listeners.tell({
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

/** How a supervisor ends whose children failed too often. */
function exceeded(name: string, id: string, { restarts, withinMs }: RestartIntensity, exit: ChildExit): ChildExit {
  const times = `${restarts} ${restarts === 1 ? "restart" : "restarts"}`;
  const reason = `"${id}" failed after ${times} within ${withinMs} ms: ${exit.reason}`;
  const error = new McpError("limit_exceeded", `supervisor "${name}" ended: ${reason}`, {
    fix: "See `cause` for what made the child fail; raise `intensity` only if so many restarts are usual.",
    data: { child: id, restarts, withinMs },
    cause: exit.error,
  });
  return { normal: false, reason, error };
}
