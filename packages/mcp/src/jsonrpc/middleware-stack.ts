/** Describes how a stack of middleware is run. */
export interface MiddlewareStack<M, C, R> {
  readonly stack: readonly M[];
  /** Calls one middleware. `next` continues with the call that the middleware passes to it. */
  enter(middleware: M, call: C, next: (call: C) => Promise<R>): R | Promise<R>;
  /** Runs the call after the last middleware. */
  innermost(call: C): R | Promise<R>;
  /** True if a middleware may call `next` again after the previous `next` failed. */
  readonly canRetry: boolean;
}

/**
 * Runs a call through middleware, the first of which is outermost. A second call to `next` throws, because the rest of
 * the stack would run twice for one call. With `canRetry`, a middleware may call `next` again after `next` has failed.
 */
export function throughStack<M, C, R>(
  call: C,
  { stack, enter, innermost, canRetry }: MiddlewareStack<M, C, R>,
): Promise<R> {
  const from = async (index: number, given: C): Promise<R> => {
    const middleware = stack[index];
    if (middleware === undefined) return innermost(given);
    let called = false;
    return enter(middleware, given, (passed) => {
      if (called) throw new Error("middleware called next() twice");
      called = true;
      const result = from(index + 1, passed);
      if (!canRetry) return result;
      return result.catch((error) => {
        called = false;
        throw error;
      });
    });
  };
  return from(0, call);
}
