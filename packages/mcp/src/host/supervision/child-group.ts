import { pause } from "../../platform/pause.js";
import type { Platform } from "../../platform/platform.js";
import type { SupervisedChild } from "./supervised-child.js";

/**
 * One start or restart of several children: stops some children, then starts, in order, all that are waiting. A new
 * round replaces the current one.
 */
interface Round {
  readonly controller: AbortController;
  /** The children that are stopped first. If one of them ends meanwhile, its end does not count as a failure. */
  readonly toStop: Set<SupervisedChild>;
  done: Promise<void>;
}

/** The children of one supervisor in the order of their start, and the operations on several of them. */
export class ChildGroup {
  readonly #platform: Platform;
  #children: SupervisedChild[] = [];
  #round: Round | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** All children, in the order of their start. */
  get all(): readonly SupervisedChild[] {
    return this.#children;
  }

  /** Resolves when the current round has ended or was replaced; undefined if there is none. */
  get round(): Promise<void> | undefined {
    return this.#round?.done;
  }

  find(id: string): SupervisedChild | undefined {
    return this.#children.find(({ spec }) => spec.id === id);
  }

  add(child: SupervisedChild): void {
    this.#children.push(child);
  }

  remove(child: SupervisedChild): void {
    this.#children = this.#children.filter((other) => other !== child);
  }

  /** Removes a stopped child, unless it was started again meanwhile. */
  removeStopped(child: SupervisedChild): void {
    if (child.state === "stopped") this.remove(child);
  }

  /** The child and all children after it. */
  from(child: SupervisedChild): SupervisedChild[] {
    return this.#children.slice(this.#children.indexOf(child));
  }

  /**
   * True if the current round is about to stop the child. If the child ends by itself before that, its end has no
   * effect.
   */
  isToStop(child: SupervisedChild): boolean {
    return this.#round?.toStop.has(child) === true;
  }

  /**
   * Stops `toStop` in reverse order and waits for `delayMs`. Then starts, in order, every child that is waiting and has
   * no timer. Each start waits until the previous child has settled, except for isolated children. Finally calls
   * `done`, unless another round has replaced this one.
   */
  beginRound(toStop: readonly SupervisedChild[], delayMs: number, done: () => void): void {
    this.cancelRound();
    const round: Round = { controller: new AbortController(), toStop: new Set(toStop), done: Promise.resolve() };
    this.#round = round;
    round.done = this.#drive(round, delayMs, done);
  }

  cancelRound(): void {
    this.#round?.controller.abort();
    this.#round = undefined;
  }

  /**
   * Stops all children in reverse order, adjacent isolated children at the same time. Children that are not running yet
   * are cancelled at once.
   */
  async stopAll(): Promise<void> {
    this.cancelRound();
    const reversed = [...this.#children].reverse();
    for (const child of reversed) if (child.state !== "running") void child.stop("stopped");
    const together: Promise<void>[] = [];
    for (const child of reversed) {
      if (child.isolated === undefined) await Promise.all(together.splice(0));
      together.push(child.stop("stopped"));
      if (child.isolated === undefined) await Promise.all(together.splice(0));
    }
    await Promise.all(together);
  }

  async #drive(round: Round, delayMs: number, done: () => void): Promise<void> {
    const { signal } = round.controller;
    for (const child of [...round.toStop].reverse()) {
      if (signal.aborted) return;
      await this.#stopForRound(child);
    }
    round.toStop.clear();
    if (delayMs > 0) await pause(this.#platform, delayMs, signal, true);
    for (let next = this.#nextWaiting(); next !== undefined && !signal.aborted; next = this.#nextWaiting()) {
      next.start();
      if (next.isolated === undefined) await next.settled();
    }
    if (signal.aborted) return;
    this.#round = undefined;
    done();
  }

  /**
   * Stops a child for a round. A temporary child is removed as well, unless it was still waiting for its first start.
   * In that case the round starts it.
   */
  async #stopForRound(child: SupervisedChild): Promise<void> {
    const isDone = child.policy === "temporary" && child.state !== "waiting";
    await child.stop(isDone ? "stopped" : "wait");
    if (isDone) this.removeStopped(child);
  }

  #nextWaiting(): SupervisedChild | undefined {
    return this.#children.find((child) => child.state === "waiting" && !child.isTimed);
  }
}
