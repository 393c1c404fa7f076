/** A value or a promise of one. Storage returns this, so that memory costs no turn of the event loop. */
export type Soon<T> = T | Promise<T>;

/** Calls `next` now with a value, or later with the value of a promise. */
export function whenReady<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  // A value from user code may be a promise of another realm or any object with `then`.
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Calls `run` and passes the error to `failed` if it throws or rejects. */
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
