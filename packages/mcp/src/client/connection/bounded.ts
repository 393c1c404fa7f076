import type { Platform } from "../../platform/platform.js";

/** One thing that may end a wait early: a time in milliseconds or a signal, and the error that the wait then ends with. */
export interface WaitBound {
  on: number | AbortSignal | undefined;
  error(): Error;
}

/** Settles with the work or with the first bound that is reached. The work itself is not stopped; that is up to its owner. */
export function bounded<T>(platform: Platform, bounds: readonly WaitBound[], work: () => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const releases = bounds.map(({ on, error }) => watch(platform, on, () => reject(error())));
    const release = () => {
      for (const one of releases) one();
    };
    if (bounds.some(({ on }) => typeof on === "object" && on.aborted)) return release();
    work().then(resolve, reject).finally(release);
  });
}

function watch(platform: Platform, on: WaitBound["on"], reached: () => void): () => void {
  if (on === undefined) return () => {};
  if (typeof on === "number") {
    const timer = platform.timer(on, reached, true);
    return () => timer.cancel();
  }
  if (on.aborted) reached();
  on.addEventListener("abort", reached, { once: true });
  return () => on.removeEventListener("abort", reached);
}
