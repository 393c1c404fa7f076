/** A promise whose rejection is never reported as unhandled, so a caller may ignore it. */
export function neverUnhandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
