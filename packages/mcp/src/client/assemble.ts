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
import { tapClientNotifications } from "./contract/middleware.js";
import type { ClientOptions } from "./contract/options.js";
import { restoreLogLevel } from "./features/log-level.js";
import { ClientRoots } from "./features/roots.js";
import type { ToolRequests } from "./features/tools.js";

/** The components of one client. */
export interface ClientCore {
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
  /** Middleware around notifications, outermost first. */
  notifications: NotificationMiddleware[];
}

/** Builds a client without connecting it. */
export function assemble(
  route: ServerRoute,
  options: ClientOptions,
  platform: Platform,
  revisions: RevisionCache,
  forwarder?: QuestionForwarder,
): ClientCore {
  const cache = options.cache === false ? undefined : new CachedCalls(route.key, options.cache ?? {});
  // Assigned later: the connection emits events to components that are created after it.
  let core: ClientCore;
  const events = eventsFor(() => core);
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
  core = {
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
  for (const extension of options.extensions ?? []) extension.attachToClient?.(core);
  const { onLog } = options;
  if (onLog !== undefined) {
    router.on("notifications/message", (message) => callHook(warn, "onLog", () => onLog(message)));
  }
  return core;
}

function eventsFor(core: () => ClientCore): ConnectionEvents {
  return {
    request: (message, about) => core().requests.answer(message, about),
    notification: (message, about) => admit(core(), message, about),
    lateResult: (id, result) => core().caller.handleLateResult(id, result),
    fault: (error) => reportFault(core(), error),
    userWait: (about) => core().caller.userWait(about),
    notificationsLost() {
      forget(core());
      core().subscriptions.markMissed();
    },
    state(state, reason, transport) {
      const { router, subscriptions, connection, caller, requests, notifications } = core();
      if (notifications.length > 0) tapClientNotifications(transport, notifications, (message) => caller.warn(message));
      caller.observers?.state({ state, reason }, transport, connection.last?.era.revision);
      // Without a connection, answers cannot be sent to the server, so the user need not answer.
      if (state !== "ready") requests.cancelAll();
      if (state === "closed") subscriptions.end();
      else if (state === "disconnected" && !connection.canReopen) subscriptions.end(reason);
      router.emit("state", { state, reason });
    },
    async recovered(reason) {
      const { connection, caller, router, subscriptions } = core();
      forget(core());
      await restoreLogLevel(connection, caller, { recovering: true });
      await subscriptions.restore();
      router.emit("session.recovered", { reason, protocolVersion: connection.established.era.revision });
    },
  };
}

/** Clears the listed tools and the cached results, because change notifications may have been lost. */
function forget({ tools, cache }: ClientCore): void {
  tools.listed.clear();
  cache?.forget();
}

function reportFault({ caller, router }: ClientCore, error: Error): void {
  caller.observers?.fault(error);
  router.emit("fault", error);
}

/** Passes a notification of the server through middleware, then receives it. */
function admit(core: ClientCore, message: NotificationMessage, about: Id | undefined): void {
  const { notifications, caller } = core;
  if (notifications.length === 0) return receive(core, message, about);
  const deliver = (passed: NotificationMessage) => receive(core, passed, about);
  passNotification(notifications, message, { direction: "incoming", about }, deliver, (text) => caller.warn(text));
}

function receive(core: ClientCore, received: NotificationMessage, about: Id | undefined): void {
  const { caller, requests, router, cache, tools, subscriptions, connection } = core;
  const known = connection.methods.get(received.method) !== undefined;
  const message = known ? received : published(core, received);
  const { method, params } = message;
  if (method === "notifications/progress") caller.progress(params);
  else {
    if (about !== undefined || method === "notifications/message") caller.noteActivity(about);
    if (method === "notifications/cancelled") requests.cancel(params?.["requestId"]);
    if (method === "notifications/tools/list_changed") tools.listed.clear();
    cache?.changed(method, params);
    subscriptions.notification(message, about);
  }
  router.route(message, about);
}

/** Replaces an older name of a notification by the published one. */
function published(core: ClientCore, message: NotificationMessage): NotificationMessage {
  const method = publishedName(core.connection.methods, message.method);
  if (method === message.method) return message;
  reportFault(core, new McpError("invalid_response", `the server sent ${message.method} in place of ${method}`));
  return { ...message, method };
}

/** Options of `client.close`. */
export interface CloseOptions {
  /**
   * Time in milliseconds for calls in flight to end. The client rejects new calls meanwhile. Default: 0, so calls in
   * flight reject at once.
   */
  drainMs?: number | undefined;
}

/** Waits up to `drainMs` for calls in flight, then closes the connection. Calls that are still pending reject. */
export async function closeClient(
  { connection, caller, requests, extensions }: ClientCore,
  { drainMs = 0 }: CloseOptions = {},
): Promise<void> {
  if (drainMs > 0 && connection.state !== "closed") await caller.drain(drainMs);
  requests.cancelAll();
  extensions.close((message) => caller.warn(message));
  await connection.close();
  caller.deadlines.stop();
}
