import { isThenable } from "../encoding/maybe-promise.js";
import { thrownMessage } from "../encoding/thrown-message.js";
import { type Id, isObject, type NotificationMessage, type Params } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import type { Notifications } from "../protocol/features/method-types.js";

/** A notification as middleware receives it. Narrow by `method` to get the type of `params`. */
export type MiddlewareNotification = {
  [M in keyof Notifications & string]: {
    /** `incoming` if the peer sent the notification, `outgoing` if it is about to be sent to the peer. */
    readonly direction: "incoming" | "outgoing";
    /** The JSON-RPC method, for example `notifications/progress`. */
    readonly method: M;
    /** The parameters. Undefined if the notification has none. */
    readonly params: Notifications[M] | undefined;
    /** The id of the request whose stream carries the notification, if known. */
    readonly about: Id | undefined;
  };
}[keyof Notifications & string];

/**
 * Runs around every notification. Notifications pass one at a time and in order, through the outermost middleware
 * first. `next()` passes the notification on, and `next({ params })` passes it on with other parameters. Without a call
 * of `next` the notification is dropped. Call `next` before the function returns: a later call would change the order
 * of messages. An exception drops the notification and is reported as a warning.
 */
export type NotificationMiddleware = (
  notification: MiddlewareNotification,
  next: (changed?: { params?: object | undefined }) => void,
) => void;

/** Reports failed middleware. */
type Warn = (message: string) => void;

/**
 * Checks that every middleware is a function. Otherwise throws `invalid_definition`, so that the author sees the error
 * at registration.
 */
export function checkedNotificationMiddleware(middleware: readonly unknown[]): readonly NotificationMiddleware[] {
  for (const one of middleware) {
    if (typeof one === "function") continue;
    throw new McpError(
      "invalid_definition",
      `middleware must be a function, not ${one === null ? "null" : typeof one}`,
      {
        fix: "Write `useNotifications((notification, next) => next())`.",
      },
    );
  }
  // Safe: any function can be called with a notification and `next`.
  return middleware as readonly NotificationMiddleware[];
}

/**
 * Runs a notification through middleware. `deliver` receives the resulting notification, which is `message` itself if
 * no middleware changed it. Never throws.
 */
export function passNotification(
  stack: readonly NotificationMiddleware[],
  message: NotificationMessage,
  place: Pick<MiddlewareNotification, "direction" | "about">,
  deliver: (message: NotificationMessage) => void,
  warn: Warn,
): void {
  const { method } = message;
  const from = (index: number, given: NotificationMessage): void => {
    const middleware = stack[index];
    if (middleware === undefined) return deliver(given);
    let open = true;
    const next = (changed?: { params?: object | undefined }) => {
      if (!open) throw new McpError("misuse", `next() was called twice or too late for ${method}`, { fix: NEXT });
      open = false;
      from(index + 1, changed === undefined ? given : withParams(given, changed.params));
    };
    // The cast is needed because the method table has methods that the type `Notifications` lacks.
    const seen = { ...place, method, params: given.params } as unknown as MiddlewareNotification;
    let returned: unknown;
    try {
      returned = middleware(seen, next);
    } finally {
      open = false;
    }
    if (!isThenable(returned)) return;
    warn(`notification middleware for ${method} returned a promise, which is not awaited. ${NEXT}`);
    returned.then(undefined, failed);
  };
  const failed = (error: unknown) => warn(`notification middleware for ${method} failed: ${thrownMessage(error)}`);
  try {
    from(0, message);
  } catch (error) {
    failed(error);
  }
}

/** Replaces the parameters. The receiver validates them. */
function withParams({ method }: NotificationMessage, params: object | undefined): NotificationMessage {
  return { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params: params as Params }) };
}

const NEXT = "Call `next()` at most once, and before the function returns.";

/** Returns a `send` that runs notifications through middleware and sends other messages unchanged. */
export function throughOutgoing(
  stack: readonly NotificationMiddleware[],
  about: Id | undefined,
  send: (text: string) => void,
  warn: Warn,
): (text: string) => void {
  return (text) => {
    const message: unknown = JSON.parse(text);
    if (!isNotification(message)) return send(text);
    const deliver = (passed: NotificationMessage) => send(passed === message ? text : JSON.stringify(passed));
    passNotification(stack, message, { direction: "outgoing", about }, deliver, warn);
  };
}

function isNotification(message: unknown): message is NotificationMessage {
  return isObject(message) && typeof message["method"] === "string" && message["id"] === undefined;
}
