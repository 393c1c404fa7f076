import { type NotificationMiddleware, throughOutgoing } from "../../era/notification-middleware.js";
import type { Params } from "../../jsonrpc/message.js";
import { throughStack } from "../../jsonrpc/middleware-stack.js";
import type { Requests } from "../../protocol/features/method-types.js";
import type { Transport } from "../../transport/transport.js";
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
 * Middleware around every call of a client. `next()` sends the call, `next({ params, options })` a changed one; both
 * return the complete result. Return that result or another object, or throw. `next` may be called again after a
 * failure.
 */
export type ClientMiddleware = (
  call: ClientCall,
  next: (changed?: {
    params?: object | undefined;
    options?: CallOptions | undefined;
  }) => Promise<Record<string, unknown>>,
) => object | Promise<object>;

/** Runs `innermost` inside all middleware. */
export function throughClientMiddleware(
  stack: readonly ClientMiddleware[],
  method: string,
  params: Params | undefined,
  options: CallOptions,
  innermost: (params: Params | undefined, options: CallOptions) => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  // Safe: the types list only a part of the methods, and the server validates the parameters.
  const call = { method, params, options } as unknown as ClientCall;
  return throughStack<ClientMiddleware, ClientCall, Record<string, unknown>>(call, {
    stack,
    enter: (middleware, given, next) => {
      const result = middleware(given, ({ params: others = given.params, options: chosen = given.options } = {}) =>
        // Safe: the method is unchanged, and middleware may replace the parameters by any object.
        next({ method, params: others, options: chosen } as ClientCall),
      );
      // The returned object replaces the result, and the caller validates it as a result.
      return result as Promise<Record<string, unknown>>;
    },
    // Safe: the parameters of every method are objects.
    innermost: (given) => innermost(given.params as Params | undefined, given.options),
    canRetry: true,
  });
}

/** Transports whose notifications already pass through middleware. */
const TAPPED = new WeakSet<Transport>();

/** Passes the notifications that a client sends over a transport through middleware. */
export function tapClientNotifications(
  transport: Transport | undefined,
  stack: readonly NotificationMiddleware[],
  warn: (message: string) => void,
): void {
  if (transport === undefined || stack.length === 0 || TAPPED.has(transport)) return;
  TAPPED.add(transport);
  const notify = transport.notify.bind(transport);
  // Replaced in place, because the connection and its calls compare transports by identity.
  transport.notify = (notification) => {
    let sent: Promise<void> | undefined;
    const send = (text: string) => {
      // In an async function, so that an error of the transport rejects `sent` and does not reach the middleware.
      sent = (async () => notify({ ...notification, text }))();
    };
    throughOutgoing(stack, undefined, send, warn)(notification.text);
    return sent;
  };
}
