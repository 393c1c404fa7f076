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
 * Runs around every call of a client, outermost first. `next()` sends the call, `next({ params, options })` a changed one; what
 * it gives is the complete result. Return that, another object, or throw. After a failure `next` may be called again.
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
  // The method table knows more methods than the types, and the server judges the parameters.
  const call = { method, params, options } as unknown as ClientCall;
  return throughStack<ClientMiddleware, ClientCall, Record<string, unknown>>(call, {
    stack,
    enter: (middleware, given, next) => {
      const result = middleware(given, ({ params: others = given.params, options: chosen = given.options } = {}) =>
        // As above: the method is unchanged, and middleware may change the parameters.
        next({ method, params: others, options: chosen } as ClientCall),
      );
      // What middleware returns takes the place of the result, and is checked as one.
      return result as Promise<Record<string, unknown>>;
    },
    // The union of the parameters of all methods, which are objects.
    innermost: (given) => innermost(given.params as Params | undefined, given.options),
    again: true,
  });
}

/** Transports whose notifications pass middleware. */
const TAPPED = new WeakSet<Transport>();

/** Lets the notifications that a client sends over a transport pass middleware. */
export function tapNotices(
  transport: Transport | undefined,
  stack: readonly NotificationMiddleware[],
  warn: (message: string) => void,
): void {
  if (transport === undefined || stack.length === 0 || TAPPED.has(transport)) return;
  TAPPED.add(transport);
  const notify = transport.notify.bind(transport);
  // In place, because the connection and its calls know the transport by identity.
  transport.notify = (notification) => {
    let sent: Promise<void> | undefined;
    const send = (text: string) => {
      // Errors of the transport belong to the sender, not to middleware.
      sent = (async () => notify({ ...notification, text }))();
    };
    throughOutgoing(stack, undefined, send, warn)(notification.text);
    return sent;
  };
}
