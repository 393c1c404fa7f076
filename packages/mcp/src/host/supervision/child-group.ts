import { pause } from "../../platform/pause.js";
import type { Platform } from "../../platform/platform.js";
import type { SupervisedChild } from "./supervised-child.js";

/** The way from some children being down to all being up, in order. A new one replaces it. */
interface Round {
  readonly controller: AbortController;
  /** Those that are stopped first; what ends meanwhile was to end anyway. */
  readonly toStop: Set<SupervisedChild>;
  done: Promise<void>;
}

/** The children of one supervisor in the order of their start, and what is done to several of them in order. */
export class ChildGroup {
  readonly #platform: Platform;
  #children: SupervisedChild[] = [];
  #round: Round | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** In the order of their start. */
  get all(): readonly SupervisedChild[] {
    return this.#children;
  }

  /** Resolves when the round that is under way has ended or was replaced; undefined if there is none. */
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

  /** Forgets a child that has stopped, unless somebody started it again meanwhile. */
  removeStopped(child: SupervisedChild): void {
    if (child.state === "stopped") this.remove(child);
  }

  /** The children from this one on. */
  from(child: SupervisedChild): SupervisedChild[] {
    return this.#children.slice(this.#children.indexOf(child));
  }

  /** Whether a round is about to stop the child, so that its end changes nothing. */
  isToStop(child: SupervisedChild): boolean {
    return this.#round?.toStop.has(child) === true;
  }

  /**
   * Stops `toStop` in reverse order, waits, and starts in order all that waits and has no timer of its own; each when the one
   * before has settled, except that nobody waits for an isolated one. Then calls `done`, unless another round replaced this.
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

  /** Ends all in reverse order, isolated neighbours together; what is not running yet is given up at once. */
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

  /** A temporary child that ran is gone with its instance; one whose turn has not come keeps it. */
  async #stopForRound(child: SupervisedChild): Promise<void> {
    const isOver = child.policy === "temporary" && child.state !== "waiting";
    await child.stop(isOver ? "stopped" : "wait");
    if (isOver) this.removeStopped(child);
  }

  #nextWaiting(): SupervisedChild | undefined {
    return this.#children.find((child) => child.state === "waiting" && !child.isTimed);
  }
}
