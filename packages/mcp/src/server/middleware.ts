import { throughStack } from "../jsonrpc/middleware-stack.js";
import type { Requests } from "../protocol/method-types.js";
import type { ServerCall } from "./call/server-call.js";
import type { RequestContext } from "./context.js";

/** A call as middleware gets it. Narrow by `method` to get the type of `params`. */
export type MiddlewareCall<D = Record<string, unknown>> = {
  [M in keyof Requests & string]: {
    readonly method: M;
    readonly params: Requests[M]["params"];
    readonly ctx: RequestContext<D>;
  };
}[keyof Requests & string];

/**
 * Runs around every call, outermost first. It returns the result of `next()`, changed or not, or a result of its own, or
 * throws. It may call `next` once. An interim result that asks the client is an opaque object: return it unchanged.
 */
export type Middleware<D = Record<string, unknown>> = (
  call: MiddlewareCall<D>,
  next: () => Promise<object>,
) => object | Promise<object>;

/** Runs `innermost` inside all middleware. */
export function throughMiddleware(
  stack: readonly Middleware[],
  call: ServerCall,
  innermost: () => object | Promise<object>,
): Promise<object> {
  // The method table and the era made sure that params fit the method as far as a structural check can tell.
  const { method, params } = call.request;
  const seen = { method, params, ctx: call.ctx } as unknown as MiddlewareCall;
  return throughStack<Middleware, MiddlewareCall, object>(seen, {
    stack,
    enter: (middleware, given, next) => middleware(given, () => next(given)),
    innermost,
    again: false,
  });
}
