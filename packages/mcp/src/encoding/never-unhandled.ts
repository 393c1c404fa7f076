/** A promise whose rejection is never reported as unhandled: whoever asked may drop it. */
export function neverUnhandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
