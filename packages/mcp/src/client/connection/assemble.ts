import type { Id, NotificationMessage } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import { featuresOf } from "../../protocol/revisions.js";
import { Answerer } from "../answers/answerer.js";
import { ServerRequests } from "../answers/server-requests.js";
import { CachedCalls } from "../call/cache.js";
import { Caller } from "../call/caller.js";
import { NotificationRouter } from "../changes/notifications.js";
import { Subscriptions } from "../changes/subscriptions.js";
import { ToolBook } from "../features/known-tools.js";
import { restoreLogLevel } from "../features/logging.js";
import type { ToolCalls } from "../features/tools.js";
import type { ClientOptions } from "../options.js";
import { Link } from "./connection.js";
import type { LinkEvents } from "./connection-parts.js";
import type { VerdictCache } from "./revision-cache.js";
import type { Route } from "./route.js";

/** The parts of one client. */
export interface ClientParts {
  link: Link;
  caller: Caller;
  answerer: Answerer;
  router: NotificationRouter;
  requests: ServerRequests;
  subscriptions: Subscriptions;
  cache: CachedCalls | undefined;
  tools: ToolCalls;
}

/** Builds a client that is not connected yet. */
export function assemble(
  route: Route,
  options: ClientOptions,
  platform: Platform,
  verdicts: VerdictCache,
): ClientParts {
  const answerer = new Answerer(options);
  const cache = options.cache === false ? undefined : new CachedCalls(route.key, options.cache ?? {});
  // The link tells its events to parts that are made after it.
  let parts: ClientParts;
  const link = new Link({ route, options, platform, answerer, verdicts, events: eventsFor(() => parts) });
  const caller = new Caller(link, answerer, cache);
  const router = new NotificationRouter(link.methods, (message) => caller.warn(message));
  const book = new ToolBook(
    // A closed link has no transport to ask; the call itself is what reports that.
    () =>
      link.state !== "closed" &&
      link.transport.kind === "http" &&
      featuresOf(link.established.era.revision).paramHeaders,
  );
  parts = {
    link,
    caller,
    answerer,
    router,
    cache,
    requests: new ServerRequests(link, answerer, caller.deadlines, (error) => router.emit("fault", error)),
    subscriptions: new Subscriptions(link, caller),
    tools: { requester: caller, book, checksOutput: options.checkOutput !== false },
  };
  if (options.onLog !== undefined) router.on("notifications/message", options.onLog);
  return parts;
}

function eventsFor(parts: () => ClientParts): LinkEvents {
  return {
    request: (message) => parts().requests.answer(message),
    notification: (message, about) => receive(parts(), message, about),
    fault: (error) => parts().router.emit("fault", error),
    state(state, reason) {
      const { router, subscriptions, link } = parts();
      if (state === "closed") subscriptions.end();
      else if (state === "disconnected" && !link.mayReturn) subscriptions.end(reason);
      router.emit("state", { state, reason });
    },
    async recovered(reason) {
      const { link, caller, router, cache, tools, subscriptions } = parts();
      // Notifications of the time between are lost, so nothing that was learnt before can be relied on.
      tools.book.clear();
      cache?.forget();
      await restoreLogLevel(link, caller, { recovering: true });
      await subscriptions.restore();
      router.emit("session.recovered", { reason, protocolVersion: link.established.era.revision });
    },
  };
}

function receive(parts: ClientParts, message: NotificationMessage, about: Id | undefined): void {
  const { caller, requests, router, cache, tools, subscriptions } = parts;
  const { method, params } = message;
  if (method === "notifications/progress") caller.progress(params);
  else if (about !== undefined || method === "notifications/message") caller.heard(about);
  if (method === "notifications/cancelled") requests.cancel(params?.["requestId"]);
  if (method === "notifications/tools/list_changed") tools.book.clear();
  cache?.changed(method, params);
  subscriptions.notification(message, about);
  router.route(message);
}
