import { PausableTimer } from "../../platform/pausable-timer.js";
import type { Platform } from "../../platform/platform.js";

/** One thing that may end a wait early: a time in milliseconds or a signal, and the error that the wait then ends with. */
export interface WaitBound {
  on: number | AbortSignal | undefined;
  error(): Error;
}

/** The times of waits that do not count while a user acts. */
export class WaitHolds {
  readonly #timers = new Set<PausableTimer>();

  /** Starts a time; the returned function ends it. */
  start(timer: PausableTimer): () => void {
    this.#timers.add(timer);
    return () => {
      timer.cancel();
      this.#timers.delete(timer);
    };
  }

  /** Stops the times that run now until the returned function is called. */
  hold(): () => void {
    const releases = [...this.#timers].map((timer) => timer.hold());
    return () => {
      for (const release of releases) release();
    };
  }
}

/** Settles with the work or with the first bound that is reached. The work itself is not stopped; that is up to its owner. */
export function bounded<T>(
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
