import { PausableTimer } from "../../platform/pausable-timer.js";
import type { Platform } from "../../platform/platform.js";

/** A bound of a wait: a time in milliseconds or a signal, and the error to reject with when it is reached. */
export interface WaitBound {
  on: number | AbortSignal | undefined;
  error(): Error;
}

/** The running timers of waits. They pause while a user acts. */
export class WaitHolds {
  readonly #timers = new Set<PausableTimer>();

  /** Adds a running timer. The returned function cancels it. */
  start(timer: PausableTimer): () => void {
    this.#timers.add(timer);
    return () => {
      timer.cancel();
      this.#timers.delete(timer);
    };
  }

  /** Pauses all running timers until the returned function is called. */
  hold(): () => void {
    const releases = [...this.#timers].map((timer) => timer.hold());
    return () => {
      for (const release of releases) release();
    };
  }
}

/** Settles with the work or with the first bound that is reached. Does not stop the work: the caller must do that. */
export function settleWithin<T>(
  platform: Platform,
  bounds: readonly WaitBound[],
  work: () => Promise<T>,
  holds = new WaitHolds(),
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const releases = bounds.map(({ on, error }) => watch(platform, on, holds, () => reject(error())));
    const release = () => {
      for (const one of releases) one();
    };
    if (bounds.some(({ on }) => typeof on === "object" && on.aborted)) return release();
    work().then(resolve, reject).finally(release);
  });
}

function watch(platform: Platform, on: WaitBound["on"], holds: WaitHolds, reached: () => void): () => void {
  if (on === undefined) return () => {};
  if (typeof on === "number") return holds.start(new PausableTimer(platform, on, reached, true));
  if (on.aborted) reached();
  on.addEventListener("abort", reached, { once: true });
  return () => on.removeEventListener("abort", reached);
}
