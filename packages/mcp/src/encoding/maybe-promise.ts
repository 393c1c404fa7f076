/** A value that is there, or will be. Storage answers this way, so that memory costs no turn of the event loop. */
export type Soon<T> = T | Promise<T>;

/** Goes on at once with a value that is there, and later with one that is not. */
export function whenReady<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  // What users give may come from another realm, or be no more than something with a `then`.
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Runs something that may fail now or later; the failure goes to `failed` once. */
export function guarded(run: () => Soon<unknown>, failed: (error: unknown) => void): void {
  try {
    const result = run();
    if (result instanceof Promise) result.catch(failed);
  } catch (error) {
    failed(error);
  }
}

function isPromise<T>(value: Soon<T>): value is Promise<T> {
  return value instanceof Promise || typeof (value as { then?: unknown } | undefined)?.then === "function";
}
