/**
 * A value or a promise of one. Storages return this type, so that a storage in memory can answer within the same turn.
 */
export type MaybePromise<T> = T | Promise<T>;

/** True for promises, also those of another realm, and for every other object with a `then` method. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T>;
export function isThenable(value: unknown): value is PromiseLike<unknown>;
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value instanceof Promise) return true;
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Calls `next` now with a value, or later with the value of a promise. */
export function whenReady<T, R>(value: T | PromiseLike<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Calls `run` and passes the error to `failed` if it throws or rejects. */
export function guarded(run: () => unknown, failed: (error: unknown) => void): void {
  try {
    const result = run();
    if (isThenable(result)) Promise.resolve(result).catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** Returns the promise, but never reports its rejection as unhandled, so that a caller may ignore it. */
export function neverUnhandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
