import type { Params } from "../jsonrpc/message.js";
import type { Requests } from "../protocol/method-types.js";
import type { CallOptions } from "./options.js";

/** A call as middleware sees it. Narrow by `method` to type `params`. */
export type ClientCall = {
  [M in keyof Requests & string]: {
    readonly method: M;
    readonly params: Requests[M]["params"] | undefined;
    readonly options: CallOptions;
  };
}[keyof Requests & string];

/**
 * Runs around every call of a client, outermost first. `next()` sends the call, `next({ params, options })` a changed one; what
 * it gives is the complete result. Return that, another object, or throw.
 */
export type ClientMiddleware = (
  call: ClientCall,
  next: (changed?: { params?: object; options?: CallOptions }) => Promise<Record<string, unknown>>,
) => object | Promise<object>;

/** Runs `innermost` inside all middleware. */
export function throughClientMiddleware(
  stack: readonly ClientMiddleware[],
  method: string,
  params: Params | undefined,
  options: CallOptions,
  innermost: (params: Params | undefined, options: CallOptions) => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const runFrom = async (
    index: number,
    nextParams: Params | undefined,
    nextOptions: CallOptions,
  ): Promise<Record<string, unknown>> => {
    const middleware = stack[index];
    if (middleware === undefined) return innermost(nextParams, nextOptions);
    // The method table knows more methods than the types, and the server judges the parameters.
    const call = { method, params: nextParams, options: nextOptions } as unknown as ClientCall;
    const result = await middleware(call, (changed = {}) =>
      runFrom(index + 1, (changed.params ?? nextParams) as Params | undefined, changed.options ?? nextOptions),
    );
    return result as Record<string, unknown>;
  };
  return runFrom(0, params, options);
}
