import { isThenable } from "../../encoding/maybe-promise.js";
import {
  checkedNotificationMiddleware,
  type NotificationMiddleware,
  passNotification,
  throughOutgoing,
} from "../../era/notification-middleware.js";
import { throughStack } from "../../jsonrpc/middleware-stack.js";
import { McpError } from "../../protocol/error.js";
import type { Requests } from "../../protocol/features/method-types.js";
import type { Endpoint, Exchange, Peer } from "../../transport/transport.js";
import type { RequestContext } from "../contract/context.js";
import type { ServerCore } from "./endpoint.js";
import { inLayer } from "./in-layer.js";
import type { Around, Layer } from "./layers.js";
import type { ServerCall } from "./server-call.js";

/** A call as middleware receives it. Narrow by `method` to get the type of `params`. */
export type MiddlewareCall<D = Record<string, unknown>> = {
  [M in keyof Requests & string]: {
    readonly method: M;
    readonly params: Requests[M]["params"];
    readonly ctx: RequestContext<D>;
  };
}[keyof Requests & string];

/**
 * Runs around every call, outermost first. Middleware returns the result of `next()`, changed or unchanged, returns
 * another result, or throws. It may call `next` at most once. While a question to the client has no answer, `next()`
 * resolves with an empty object, and the result of the middleware is ignored: the middleware runs again with the
 * answer.
 */
export type Middleware<D = Record<string, unknown>> = (
  call: MiddlewareCall<D>,
  next: () => Promise<object>,
) => object | Promise<object>;

/** The middleware of one server: the layer around handlers. */
export class MiddlewareLayer implements Layer {
  readonly name = "middleware";
  readonly stage = "middleware";
  readonly #stack: Middleware[] = [];
  readonly notifications: NotificationMiddleware[] = [];

  /** True if the server has no middleware. Results of handlers are then sent unchanged. */
  get isEmpty(): boolean {
    return this.#stack.length === 0;
  }

  get around(): Around | undefined {
    return this.isEmpty ? undefined : (call, next) => throughMiddleware(this.#stack, call, () => next(call));
  }

  use(middleware: readonly unknown[]): void {
    this.#stack.push(...checkedMiddleware(middleware));
  }

  /**
   * Adds middleware around notifications. Throws for a value that is not a function, and if the server already has an
   * `endpoint`, which was created without this middleware.
   */
  useNotifications(middleware: readonly NotificationMiddleware[], endpoint: Endpoint | undefined): void {
    this.notifications.push(...checkedNotificationMiddleware(middleware));
    if (endpoint === undefined) return;
    throw new McpError("misuse", "notification middleware was added to a server that is already in use", {
      fix: "Call `useNotifications` before the server is served, connected to or mounted.",
    });
  }
}

/** Runs `innermost` inside all middleware. */
function throughMiddleware(
  stack: readonly Middleware[],
  call: ServerCall,
  innermost: () => object | Promise<object>,
): Promise<object> {
  // Safe: the method table and the era have checked the structure of the params.
  const { method, params } = call.request;
  const seen = { method, params, ctx: call.ctx } as unknown as MiddlewareCall;
  return throughStack<Middleware, MiddlewareCall, object>(seen, {
    stack,
    enter: (middleware, given, next) => {
      const made = inLayer(call, "middleware", () => middleware(given, () => next(given)), middleware.name);
      return isThenable(made) ? made.then((result) => checked(result, method)) : checked(made, method);
    },
    innermost,
    canRetry: false,
  });
}

/** Throws if middleware forgot its `return`, which no compiler reports in JavaScript programs. */
function checked(result: object | undefined, method: string): object {
  if (typeof result === "object" && result !== null) return result;
  throw new McpError(
    "misuse",
    `middleware returned ${result === undefined ? "nothing" : typeof result} for ${method}`,
    {
      fix: "Write `return next();`, or return a result.",
    },
  );
}

/** Throws for values that are not functions when middleware is added, so that its author sees the error. */
function checkedMiddleware(middleware: readonly unknown[]): readonly Middleware[] {
  for (const one of middleware) {
    if (typeof one === "function") continue;
    throw new McpError(
      "invalid_definition",
      `middleware must be a function, not ${one === null ? "null" : typeof one}`,
      {
        fix: "Write `server.use((call, next) => next())`.",
      },
    );
  }
  // Safe: the server's type parameter determines the type of `ctx.data` for all middleware.
  return middleware as readonly Middleware[];
}

/**
 * Passes notifications through middleware: those that clients send, and those that the server sends on request streams
 * and peer connections. Returns the endpoint unchanged if the server has no notification middleware.
 */
export function tapNotifications(endpoint: Endpoint, { config, layers }: ServerCore): Endpoint {
  const notifications = layers.all().flatMap((layer) => layer.notifications ?? []);
  if (notifications.length === 0) return endpoint;
  const warn = (line: string) => config.platform.warn(line);
  const tapped = new WeakSet<Exchange | Peer>();
  const tap = (stream: Exchange | Peer | undefined, about?: Exchange["id"]) => {
    if (stream === undefined || tapped.has(stream)) return;
    tapped.add(stream);
    // Replaced in place, because transports and features identify exchanges and peers by object identity.
    stream.send = throughOutgoing(notifications, about, stream.send.bind(stream), warn);
  };
  return {
    ...endpoint,
    request(accepted, exchange) {
      tap(exchange, exchange.id);
      tap(exchange.peer);
      return endpoint.request(accepted, exchange);
    },
    notification(message, peer) {
      const place = { direction: "incoming", about: undefined } as const;
      passNotification(notifications, message, place, (passed) => endpoint.notification(passed, peer), warn);
    },
    opened(peer) {
      tap(peer);
      endpoint.opened(peer);
    },
  };
}
