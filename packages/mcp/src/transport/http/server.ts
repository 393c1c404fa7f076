import { guarded, isThenable, whenReady } from "../../encoding/maybe-promise.js";
import { allowsBatches, opensSessions, sessionRevision } from "../../era/session.js";
import type { ServerAuthorization } from "../../http/authentication.js";
import { sortBatch } from "../../jsonrpc/batch.js";
import { faultData, INVALID_REQUEST } from "../../jsonrpc/error.js";
import {
  type ClassifiedMessage,
  PARSE_IN_TURNS_LENGTH,
  parseInTurns,
  parseMessage,
  type RequestMessage,
} from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { createMemoryStorage } from "../../storage/memory.js";
import { authenticationOf, isPrincipal, readAuthentication } from "../authentication.js";
import type { Endpoint } from "../transport.js";
import { createLegacySse, type LegacySse } from "./legacy-sse.js";
import { Probes } from "./probes.js";
import { acceptsPage, headerFault } from "./server/body-type.js";
import { HttpExchange } from "./server/exchange.js";
import type { Incoming } from "./server/incoming.js";
import type { HttpServerOptions } from "./server/options.js";
import { forbidden, type Refusal, refusal, refusedBy } from "./server/refusal.js";
import { ALONE, WITHOUT_SESSION } from "./server/reply-rules.js";
import { ServerState } from "./server/state.js";
import { createSessionRoutes, type PostedMessage, type SessionRoutes } from "./session/routes.js";

/** The part of an HTTP server that is the same in every runtime. Adapters call `handle` for each request. */
export interface HttpCore {
  readonly state: ServerState;
  /** Resolves with the result of the readiness check. */
  isReady(): Promise<boolean>;
  handle(incoming: Incoming): void;
  /** Refuses new requests, asks open streams to end, and resolves when all requests are answered or after `graceMs`. */
  drain(graceMs: number): Promise<void>;
  /**
   * Ends every stream immediately and stops all timers. Resolves when the end listeners of all sessions have finished.
   */
  close(): Promise<void>;
}

/** Serves an endpoint over HTTP in every revision. Throws for unsafe options. */
export function createHttpServer(endpoint: Endpoint, options: HttpServerOptions, platform: Platform): HttpCore {
  const state = new ServerState(endpoint, options, platform);
  const storage = endpoint.storage ?? createMemoryStorage({ clock: platform });
  const context: ServerContext = {
    state,
    authenticate: authenticationOf(options, platform),
    sessions: hasSessions(endpoint, options) ? createSessionRoutes(state, storage) : undefined,
    legacy: options.legacySse === undefined ? undefined : createLegacySse(state, storage, options.legacySse, readBody),
  };
  const probes = new Probes(state);
  return {
    state,
    isReady: () => probes.isReady(),
    handle(incoming) {
      if (incoming.method !== "POST" && probes.answer(incoming)) return;
      const exchange = new HttpExchange(state, incoming);
      try {
        handleRequest(context, exchange);
      } catch (error) {
        exchange.broken(error);
      }
    },
    drain: (graceMs) => state.drain(graceMs),
    async close() {
      // Without other nodes, closing the sessions answers their pending requests. `state.close` ends the streams, so it
      // must run after that.
      const isAlone = endpoint.storage === undefined;
      if (!isAlone) state.close();
      const closing = context.sessions?.close();
      if (isAlone) state.close();
      context.legacy?.close();
      // A storage that the application passed stays open, because other nodes and the next start use it.
      if (isAlone) void storage.close?.();
      await closing;
    },
  };
}

/** True if the server opens sessions. Only revisions with a handshake have them. */
function hasSessions(endpoint: Endpoint, options: HttpServerOptions): boolean {
  if (options.sessions === true || options.sessions === false) return options.sessions;
  return endpoint.revisions === undefined || opensSessions(endpoint.revisions);
}

/** The components that every request of one HTTP server uses. */
interface ServerContext {
  readonly state: ServerState;
  readonly authenticate: ReturnType<typeof authenticationOf>;
  readonly sessions: SessionRoutes | undefined;
  readonly legacy: LegacySse | undefined;
}

function handleRequest(context: ServerContext, exchange: HttpExchange): void {
  const { state } = context;
  const { http } = exchange;
  const refused = checkHost(context, exchange);
  if (refused !== undefined) return exchange.refuse(refused);
  if (state.arriving > state.limits.maxInFlight) return exchange.busy("maxInFlight");
  if (state.options.auth?.paths.has(http.path.split("?", 1)[0] ?? "") === true) {
    return serveDocument(exchange, state.options.auth);
  }
  const unfit = checkOrigin(context, exchange);
  if (unfit !== undefined) return exchange.refuse(unfit);
  // Browsers send preflights without credentials, so preflights are answered before authentication.
  if (http.method === "OPTIONS") return preflight(context, exchange);
  if (state.draining) return exchange.refuse(refusal(503, "the server is closing", { headers: RETRY }));
  const { authenticate } = context;
  if (authenticate === undefined) return route(context, exchange);
  const failed = (error: unknown) => {
    exchange.identifying = false;
    state.platform.warn(`\`authenticate\` failed: ${String(error)}`);
    exchange.refuse(refusal(500, "the sender could not be identified"));
  };
  guarded(() => {
    const returned = authenticate(http, http.native);
    if (isThenable(returned)) {
      exchange.identifying = true;
      http.afterTurn(exchange);
    }
    return whenReady(returned, (settled) => admit(context, exchange, settled));
  }, failed);
}

/**
 * Checks the `Host` header, before authentication and before the body is read.
 *
 * Spec: Transports, "Security Warning",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
function checkHost(context: ServerContext, exchange: HttpExchange): Refusal | undefined {
  const { http } = exchange;
  const { guard } = context.state;
  const { host = "" } = http.protocolHeaders;
  if (http.hostCount > 1) return refusal(400, "the request has more than one Host");
  // The host of an absolute request target overrides the header (RFC 9112, 3.2.2).
  const targetHost = http.path.startsWith("/") ? undefined : /^[a-z]+:\/\/([^/?#]*)/i.exec(http.path)?.[1];
  if (targetHost !== undefined && !guard.host(targetHost))
    return forbidden("Host", targetHost, "allowedHosts` or `publicUrl");
  return guard.host(host) ? undefined : forbidden("Host", host, "allowedHosts` or `publicUrl");
}

function checkOrigin(context: ServerContext, exchange: HttpExchange): Refusal | undefined {
  const { http } = exchange;
  const { guard, cors } = context.state;
  const { origin } = http.protocolHeaders;
  if (origin !== undefined) {
    if (!guard.origin(origin)) return forbidden("Origin", origin, "allowedOrigins`, `cors` or `publicUrl");
    if (cors !== undefined) exchange.corsHeaders = cors.reply(origin);
  }
  return METHODS.has(http.method) || asksForPage(exchange) ? undefined : unsupported(context);
}

/**
 * Serves the authorization documents. Runs before the Origin check, because pages of every origin may read metadata.
 */
function serveDocument(exchange: HttpExchange, auth: ServerAuthorization): void {
  const body = () => new Promise<string>((resolve) => readBody(exchange, resolve));
  guarded(
    () =>
      whenReady(auth.respond(exchange.http, body), ({ status, headers, body: text }) =>
        exchange.refuse({ status, headers: Object.entries(headers).flat(), text }),
      ),
    (error) => exchange.broken(error),
  );
}

const RETRY = ["retry-after", "1"];
const METHODS: ReadonlySet<string> = new Set(["POST", "GET", "DELETE", "OPTIONS"]);

function allow({ sessions }: ServerContext): string[] {
  return ["allow", sessions === undefined ? "POST" : "POST, GET, DELETE"];
}

function unsupported(context: ServerContext): Refusal {
  return refusal(405, "this method is not supported here", { headers: allow(context) });
}

/** True if a browser opens the address. Clients of the protocol send one of the other headers, or accept no HTML. */
function asksForPage({ http, state }: HttpExchange): boolean {
  if ((http.method !== "GET" && http.method !== "HEAD") || state.options.browserPage === false) return false;
  const { accept, sessionId, lastEventId, protocolVersion } = http.protocolHeaders;
  return (sessionId ?? lastEventId ?? protocolVersion) === undefined && acceptsPage(accept);
}

/** Sends the page for browsers. With `refused`, the page replaces the body of that refusal. */
function sendPage(exchange: HttpExchange, refused?: Pick<Refusal, "status" | "headers">): void {
  import("./server/browser-page.js")
    .then(({ browserPage }) => exchange.refuse(browserPage(exchange, refused)))
    .catch((error) => exchange.broken(error));
}

function preflight(context: ServerContext, exchange: HttpExchange): void {
  const { cors } = context.state;
  const { origin } = exchange.http.protocolHeaders;
  if (origin === undefined) return exchange.refuse(unsupported(context));
  // To the page, a refused preflight looks like a server that is down. This text is visible in the network tab of the
  // browser.
  if (cors?.allows(origin) !== true) return exchange.refuse(forbidden("Origin", origin, "cors.origins"));
  exchange.corsHeaders = undefined;
  exchange.empty(204, cors.preflight(exchange.http, origin));
}

function admit(context: ServerContext, exchange: HttpExchange, returned: unknown): void {
  const identity = readAuthentication(returned, context.state.endpoint);
  exchange.identifying = false;
  if (exchange.left) return exchange.finished();
  if (isPrincipal(identity)) {
    exchange.principal = identity;
    return route(context, exchange);
  }
  const { status, headers = {}, message = "the sender is not authorized" } = identity;
  const extra = Object.entries(headers).flat();
  // The page is the same for every server, so that its body does not reveal which servers exist.
  if (status === 401 && asksForPage(exchange)) return sendPage(exchange, { status, headers: extra });
  exchange.refuse(refusal(status, message, { code: INVALID_REQUEST, headers: extra }));
}

function route(context: ServerContext, exchange: HttpExchange): void {
  const { method } = exchange.http;
  if (context.legacy?.handle(exchange) === true) return;
  if (method === "POST") return handlePost(exchange, context.sessions);
  // An endpoint without `info` stands for a server that does not exist at the moment.
  if (asksForPage(exchange) && context.state.endpoint.info !== undefined) return sendPage(exchange);
  if (method === "HEAD") return exchange.refuse(unsupported(context));
  const sessions = isOutsideSessions(exchange) ? undefined : context.sessions;
  if (sessions === undefined) {
    const reason = "this server has no sessions, so only POST is supported";
    return exchange.refuse(refusal(405, reason, { headers: allow(context) }));
  }
  if (method === "GET") sessions.get(exchange);
  else sessions.delete(exchange);
}

/** Handles a POST with one message, or with a batch in revisions that have batches. */
function handlePost(exchange: HttpExchange, sessions: SessionRoutes | undefined): void {
  const fault = headerFault(exchange.http);
  if (fault !== undefined) return exchange.refuse(fault);
  readBody(exchange, (body) => {
    if (body.length < PARSE_IN_TURNS_LENGTH) return handleMessage(exchange, sessions, parseMessage(body));
    parseInTurns(body, exchange.state.platform.defer, (message) => {
      if (exchange.left) return;
      guarded(
        () => handleMessage(exchange, sessions, message),
        (error) => exchange.broken(error),
      );
    });
  });
}

/** Reads the text of the body, or refuses the request. */
function readBody(exchange: HttpExchange, use: (text: string) => void): void {
  const { http } = exchange;
  http.readBody(exchange, (body) => {
    try {
      if ("text" in body) use(body.text);
      else if ("limit" in body) exchange.busy(body.limit);
      else exchange.refuse(refusal(body.status, body.reason, { code: body.code }));
    } catch (error) {
      exchange.broken(error);
    }
  });
  // Most bodies are complete by the end of the turn. For the others, watch for a disconnect.
  if (exchange.arriving) http.afterTurn(exchange);
}

function handleMessage(exchange: HttpExchange, sessions: SessionRoutes | undefined, item: ClassifiedMessage): void {
  const { endpoint, limits } = exchange.state;
  const isOutside = isOutsideSessions(exchange);
  if (item.kind === "invalid") {
    return exchange.refuse(refusal(400, item.reason, { id: item.id, code: item.code, data: faultData(item.code) }));
  }
  if (item.kind === "request") {
    const accepted = endpoint.accept(item.message, exchange.http);
    if (!accepted.inSession) return exchange.runAlone(accepted, ALONE);
    const alone = isOutside && (!accepted.opensSession || endpoint.sessionless?.() === true);
    if (sessions === undefined || alone) return withoutSession(exchange, { kind: "request", accepted });
    return sessions.post(exchange, { kind: "request", accepted });
  }
  if (item.kind === "notification" && !endpoint.accept(item.message, exchange.http).inSession) {
    endpoint.notification(item.message);
    return exchange.empty(202);
  }
  if (item.kind === "batch" && item.items.length > limits.maxBatchItems) {
    const reason = `the array has more than ${limits.maxBatchItems} messages, the limit \`maxBatchItems\``;
    return exchange.refuse(refusal(400, reason, { data: { limit: "maxBatchItems" } }));
  }
  // The remaining messages are notifications and responses of clients in a session, and batches. Only revisions with
  // sessions have these.
  if (sessions === undefined || isOutside) withoutSession(exchange, item);
  else sessions.post(exchange, item);
}

/**
 * True if sessions are optional and the request has no session id. The client may have been accepted without a session.
 */
function isOutsideSessions({ state, http }: HttpExchange): boolean {
  return state.options.sessions === "auto" && http.protocolHeaders.sessionId === undefined;
}

/** Serves a client of the stateful era without a session. Each POST is independent. */
function withoutSession(exchange: HttpExchange, item: PostedMessage): void {
  const { endpoint } = exchange.state;
  const { protocolVersion } = exchange.http.protocolHeaders;
  // The `initialize` request has its version in the body, so the header is not checked. The answer must not promise
  // features that need a session.
  if (item.kind === "request" && item.accepted.opensSession)
    return exchange.runAlone({ ...item.accepted, opensSession: false }, WITHOUT_SESSION);
  const revision = sessionRevision(protocolVersion, endpoint.revisions);
  if (item.kind === "notification" && (protocolVersion === undefined || !McpError.is(revision))) {
    endpoint.notification(item.message);
    return exchange.empty(202);
  }
  if (McpError.is(revision))
    return exchange.refuse(refusedBy(revision, item.kind === "request" ? item.accepted.message.id : undefined));
  if (item.kind === "request") return exchange.runAlone(item.accepted, WITHOUT_SESSION);
  if (item.kind === "batch" && allowsBatches(revision) && item.items.length > 0) {
    const { requests, notifications, refused } = sortBatch(item.items);
    for (const message of notifications) endpoint.notification(message);
    if (requests.length + refused.length === 0) return exchange.empty(202);
    return runBatch(exchange, requests, refused);
  }
  exchange.refuse(refusal(400, NOT_ACCEPTED[item.kind === "batch" ? "batch" : "answer"]));
}

/** Runs the requests of a batch outside sessions, with one reply. `refused` are the answers to invalid messages. */
function runBatch(exchange: HttpExchange, requests: readonly RequestMessage[], refused: readonly string[]): void {
  const limit = exchange.admit(requests.length);
  if (limit !== undefined) return exchange.busy(limit);
  exchange.beginBatch(requests.length + refused.length, WITHOUT_SESSION);
  for (const text of refused) exchange.answered({ text });
  for (const message of requests) exchange.runInBatch(exchange.state.endpoint.accept(message, exchange.http));
}

const NOT_ACCEPTED = {
  batch: "an array of messages is not accepted here",
  answer: "the message is an answer, but this server sends no requests",
};
