import { type NotificationMiddleware, passNotification } from "../era/notification-middleware.js";
import type { Id, NotificationMessage } from "../jsonrpc/message.js";
import { callHook } from "../platform/call-hook.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import { Answerer, type QuestionForwarder } from "./answers/answerer.js";
import { ServerRequests } from "./answers/server-requests.js";
import { Caller } from "./call/caller.js";
import { NotificationRouter, publishedName } from "./changes/notifications.js";
import { ClientSubscriptions } from "./changes/subscriptions.js";
import { ClientConnection, type ConnectionEvents } from "./connection/connection.js";

import type { RevisionCache } from "./connection/current-connection.js";
import { observersOf } from "./connection/request-observers.js";
import type { ServerRoute } from "./connection/route.js";
import { CachedCalls } from "./contract/cache.js";
import { ClientExtensions } from "./contract/extension.js";
import { tapNotices } from "./contract/middleware.js";
import type { ClientOptions } from "./contract/options.js";
import { restoreLogLevel } from "./features/log-level.js";
import { ClientRoots } from "./features/roots.js";
import type { ToolRequests } from "./features/tools.js";

/** The parts of one client. */
export interface ClientParts {
  connection: ClientConnection;
  caller: Caller;
  answerer: Answerer;
  router: NotificationRouter;
  requests: ServerRequests;
  subscriptions: ClientSubscriptions;
  cache: CachedCalls | undefined;
  tools: ToolRequests;
  roots: ClientRoots;
  extensions: ClientExtensions;
  /** Middleware around notifications. */
  notifications: NotificationMiddleware[];
}

/** Builds a client that is not connected yet. */
export function assemble(
  route: ServerRoute,
  options: ClientOptions,
  platform: Platform,
  revisions: RevisionCache,
  forwarder?: QuestionForwarder,
): ClientParts {
  const cache = options.cache === false ? undefined : new CachedCalls(route.key, options.cache ?? {});
  // The connection tells its events to parts that are made after it.
  let parts: ClientParts;
  const events = eventsFor(() => parts);
  const extensions = new ClientExtensions();
  const answerer = new Answerer(options, platform, extensions, forwarder);
  const observers = observersOf(platform, options.observe);
  const connection = new ClientConnection({
    route,
    options,
    platform,
    capabilities: (revision) => answerer.capabilities(revision),
    revisions,
    events,
    observers,
  });
  const caller = new Caller(connection, answerer, cache, extensions, observers);
  const warn = (message: string) => caller.warn(message);
  const router = new NotificationRouter(connection.methods, warn, () => platform.monotonic());
  parts = {
    connection,
    caller,
    answerer,
    router,
    cache,
    requests: new ServerRequests({
      connection,
      answerer,
      extensions,
      deadlines: caller.deadlines,
      observers,
      fault: (error) => router.emit("fault", error),
      warn,
    }),
    subscriptions: new ClientSubscriptions(connection, caller),
    tools: {
      requester: caller,
      connection,
      listed: new Map(),
      allSessionless: false,
      sessionMode: undefined,
      sessionModeChanged: (mode) => router.emit("session.mode", mode),
      checksOutput: options.checkOutput !== false,
      textOnly: new Set(),
    },
    roots: new ClientRoots(answerer, connection, caller),
    extensions,
    notifications: [],
  };
  for (const extension of options.extensions ?? []) extension.attachToClient?.(parts);
  const { onLog } = options;
  if (onLog !== undefined) {
    router.on("notifications/message", (message) => callHook(warn, "onLog", () => onLog(message)));
  }
  return parts;
}

function eventsFor(parts: () => ClientParts): ConnectionEvents {
  return {
    request: (message, about) => parts().requests.answer(message, about),
    notification: (message, about) => admit(parts(), message, about),
    late: (id, result) => parts().caller.late(id, result),
    fault: (error) => reportFault(parts(), error),
    userWait: (about) => parts().caller.userWait(about),
    missed() {
      forget(parts());
      parts().subscriptions.missed();
    },
    state(state, reason, transport) {
      const { router, subscriptions, connection, caller, requests, notifications } = parts();
      if (notifications.length > 0) tapNotices(transport, notifications, (message) => caller.warn(message));
      caller.observers?.state({ state, reason }, transport, connection.last?.era.revision);
      // Whoever asked something is gone with the connection, and the user is asked in vain.
      if (state !== "ready") requests.cancelAll();
      if (state === "closed") subscriptions.end();
      else if (state === "disconnected" && !connection.mayReturn) subscriptions.end(reason);
      router.emit("state", { state, reason });
    },
    async recovered(reason) {
      const { connection, caller, router, subscriptions } = parts();
      forget(parts());
      await restoreLogLevel(connection, caller, { recovering: true });
      await subscriptions.restore();
      router.emit("session.recovered", { reason, protocolVersion: connection.established.era.revision });
    },
  };
}

/** Notifications are lost, so nothing that was learnt before can be relied on. */
function forget({ tools, cache }: ClientParts): void {
  tools.listed.clear();
  cache?.forget();
}

function reportFault({ caller, router }: ClientParts, error: Error): void {
  caller.observers?.fault(error);
  router.emit("fault", error);
}

/** Receives a notification, through middleware if there is any. */
function admit(parts: ClientParts, message: NotificationMessage, about: Id | undefined): void {
  const { notifications, caller } = parts;
  if (notifications.length === 0) return receive(parts, message, about);
  const deliver = (passed: NotificationMessage) => receive(parts, passed, about);
  passNotification(notifications, message, { direction: "incoming", about }, deliver, (text) => caller.warn(text));
}

function receive(parts: ClientParts, received: NotificationMessage, about: Id | undefined): void {
  const { caller, requests, router, cache, tools, subscriptions, connection } = parts;
  const known = connection.methods.get(received.method) !== undefined;
  const message = known ? received : published(parts, received);
  const { method, params } = message;
  if (method === "notifications/progress") caller.progress(params);
  else {
    if (about !== undefined || method === "notifications/message") caller.heard(about);
    if (method === "notifications/cancelled") requests.cancel(params?.["requestId"]);
    if (method === "notifications/tools/list_changed") tools.listed.clear();
    cache?.changed(method, params);
    subscriptions.notification(message, about);
  }
  router.route(message, about);
}

/** The notification under its published name, where the server sent an older one. */
function published(parts: ClientParts, message: NotificationMessage): NotificationMessage {
  const method = publishedName(parts.connection.methods, message.method);
  if (method === message.method) return message;
  reportFault(parts, new McpError("invalid_response", `the server sent ${message.method} in place of ${method}`));
  return { ...message, method };
}

/** How a client is closed. */
export interface CloseOptions {
  /** How long calls in flight may take to end; new ones are refused meanwhile. Default 0: they reject at once. */
  drainMs?: number | undefined;
}

/** Ends the connection, after the calls in flight if they get the time; everything pending rejects. */
export async function closeClient(
  { connection, caller, requests, extensions }: ClientParts,
  { drainMs = 0 }: CloseOptions = {},
): Promise<void> {
  if (drainMs > 0 && connection.state !== "closed") await caller.drain(drainMs);
  requests.cancelAll();
  extensions.close((message) => caller.warn(message));
  await connection.close();
  caller.deadlines.stop();
}
