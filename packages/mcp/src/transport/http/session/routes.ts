import { guarded, isThenable, type MaybePromise, whenReady } from "../../../encoding/maybe-promise.js";
import type { Accepted } from "../../../era/era.js";
import { allowsBatches, sessionRevision } from "../../../era/session.js";
import { sortBatch } from "../../../jsonrpc/batch.js";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../../../jsonrpc/error.js";
import { type ClassifiedMessage, errorText, type Id } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import type { Storage } from "../../../storage/storage.js";
import type { HttpExchange } from "../server/exchange.js";
import { type Refusal, refusal, refusedBy } from "../server/refusal.js";
import type { ServerState } from "../server/state.js";
import { handshake, refuseForNow } from "./handshake.js";
import { openStream } from "./open-stream.js";
import type { HttpSession } from "./session.js";
import { SessionStore } from "./store.js";

/** The content of one POST. A request comes with the endpoint's decision about its era. */
export type PostedMessage =
  | Exclude<ClassifiedMessage, { kind: "invalid" | "request" }>
  | { readonly kind: "request"; readonly accepted: Accepted };

/** Serves the messages and streams of clients with a session. */
export interface SessionRoutes {
  post(exchange: HttpExchange, item: PostedMessage): void;
  get(exchange: HttpExchange): void;
  delete(exchange: HttpExchange): void;
  close(): Promise<void>;
}

export function createSessionRoutes(state: ServerState, storage: Storage): SessionRoutes {
  const store = new SessionStore(state, storage, state.endpoint.storage === undefined);
  return {
    post(exchange, item) {
      // Only the session header decides here. The session itself refuses a second handshake.
      if (exchange.http.protocolHeaders.sessionId !== undefined) {
        const id = item.kind === "request" ? item.accepted.message.id : undefined;
        return withSession(store, exchange, (session) => receive(session, exchange, item), id);
      }
      if (item.kind === "request" && item.accepted.opensSession) {
        return void handshake(store, exchange, item.accepted);
      }
      exchange.refuse(noSession(item));
    },
    get: (exchange) =>
      withSession(store, exchange, (session) => exchange.openCounted(() => openStream(store, session, exchange))),
    delete: (exchange) =>
      withSession(store, exchange, async (session) => {
        await store.delete(session, "left");
        exchange.empty(204);
      }),
    close: () => store.close(),
  };
}

function noSession(item?: PostedMessage): Refusal {
  const id = item?.kind === "request" ? item.accepted.message.id : undefined;
  const reason = "the Mcp-Session-Id header is missing; send `initialize` first, or set the version in `_meta`";
  return refusal(400, reason, { id });
}

/**
 * Finds the session of a request and calls `serve`. The responses for unknown, ended and foreign sessions are
 * identical.
 *
 * Spec: Transports, "Session Management",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
function withSession(
  store: SessionStore,
  exchange: HttpExchange,
  serve: (session: HttpSession) => void | Promise<void>,
  id?: Id,
): void {
  const { sessionId, protocolVersion } = exchange.http.protocolHeaders;
  if (sessionId === undefined) return exchange.refuse(noSession());
  // A request with an unsupported revision is refused below, so it does not count as activity of the session.
  const revision = sessionRevision(protocolVersion, exchange.state.endpoint.revisions);
  const isSupported = !McpError.is(revision);
  guarded(
    () =>
      whenReady(store.find(sessionId, exchange.principal, isSupported), (session) => {
        if (session === undefined) return exchange.refuse(notFound(store, sessionId));
        return McpError.is(revision) ? exchange.refuse(refusedBy(revision)) : serve(session);
      }),
    (error) => refuseForNow(exchange, error, id),
  );
}

/**
 * Refuses a request with 404. A client treats 404 as the end of its session and opens another session. If another
 * process has the session in its memory, the client would open sessions again and again. The answer and a warning
 * therefore name the cause.
 */
function notFound(store: SessionStore, sessionId: string): Refusal {
  const fix = store.nodes.fixForUnknown(sessionId);
  if (fix === undefined) return refusal(404, "session not found");
  const message = "session not found: it was opened by another process of this server, or before a restart";
  return refusal(404, `${message}. ${fix}`, { data: { reason: "another_process", fix } });
}

function receive(session: HttpSession, exchange: HttpExchange, item: PostedMessage): void {
  switch (item.kind) {
    case "request":
      return runOne(session, exchange, item.accepted);
    case "notification":
      exchange.state.endpoint.notification(item.message, session);
      return confirm(session, exchange);
    case "result":
    case "error":
      return accept(exchange, [session.answered(item.message)], () => exchange.empty(202));
    case "batch":
      return runBatch(session, exchange, item.items);
  }
}

/**
 * Calls `then` when the answers of the client are stored or delivered. If that fails, the client must send the answers
 * again.
 */
function accept(exchange: HttpExchange, answers: readonly MaybePromise<void>[], then: () => void): void {
  if (!answers.some(isThenable)) return then();
  Promise.all(answers).then(then, (error) => refuseForNow(exchange, error));
}

/** Acknowledges a message after its changes to the session are stored, so that the client can rely on them. */
function confirm(session: HttpSession, exchange: HttpExchange): void {
  if (session.saving === undefined) return exchange.empty(202);
  void session.saving.then(() => exchange.empty(202));
}

const FULL = "maxInFlightPerSession";

function runOne(session: HttpSession, exchange: HttpExchange, accepted: Accepted): void {
  const { id } = accepted.message;
  // Registered before the handler runs, because the handler itself may cause its cancellation.
  const refused = begin(session, id, exchange);
  if (refused === FULL) return exchange.busy(FULL, id);
  if (refused !== undefined) return exchange.refuse(refusal(400, refused, { id }));
  const limit = exchange.admit(1);
  if (limit === undefined) return exchange.run(accepted, session.streams);
  session.requests?.delete(id);
  exchange.busy(limit, id);
}

/** Registers a request of a session, or returns why it cannot run. */
function begin(session: HttpSession, id: Id, exchange: HttpExchange): string | undefined {
  session.requests ??= new Map();
  if (session.requests.size >= exchange.state.limits.maxInFlightPerSession) return FULL;
  // Two answers with one id would be ambiguous, and a cancellation could end the wrong request.
  if (session.requests.has(id)) return "a request with this id is still in flight";
  session.requests.set(id, exchange);
  return undefined;
}

function runBatch(session: HttpSession, exchange: HttpExchange, items: readonly unknown[]): void {
  const { endpoint, limits } = exchange.state;
  if (!allowsBatches(session.session.revision) || items.length === 0) {
    return exchange.refuse(refusal(400, "an array of messages is not accepted here"));
  }
  if (session.inFlight >= limits.maxInFlightPerSession) return exchange.busy(FULL);
  const { requests, notifications, answers, refused } = sortBatch(items);
  const limit = exchange.admit(requests.length);
  if (limit !== undefined) return exchange.busy(limit);
  const passed = answers.map((message) => session.answered(message));
  accept(exchange, passed, () => {
    for (const message of notifications) endpoint.notification(message, session);
    const size = requests.length + refused.length;
    if (size === 0) return confirm(session, exchange);
    exchange.beginBatch(size, session.streams);
    for (const text of refused) exchange.answered({ text });
    for (const message of requests) {
      exchange.runInBatch(endpoint.accept(message, exchange.http), (inner) => {
        const why = begin(session, message.id, inner);
        if (why !== FULL) return why === undefined ? undefined : errorText(message.id, INVALID_REQUEST, why);
        return errorText(message.id, INTERNAL_ERROR, "too many requests are in flight", { limit: FULL });
      });
    }
  });
}
