import { guarded, whenReady } from "../../../encoding/maybe-promise.js";
import { opensSessions } from "../../../era/session.js";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../../../jsonrpc/error.js";
import type { Platform } from "../../../platform/platform.js";
import { createMemoryStorage } from "../../../storage/memory.js";
import { isPrincipal, readAuthentication } from "../../authentication.js";
import type { Endpoint } from "../../transport.js";
import { createSessionRoutes, type SessionRoutes } from "../session/routes.js";
import { HttpExchange } from "./exchange.js";
import type { Incoming } from "./incoming.js";
import { createLegacySse, type LegacySse } from "./legacy-sse.js";
import type { HttpServerOptions } from "./options.js";
import { handlePost } from "./post.js";
import { type Refusal, refusal } from "./refusal.js";
import { ServerState } from "./state.js";

/** The part of an HTTP server that is the same in every runtime. Adapters call `handle` for each request. */
export interface HttpCore {
  handle(incoming: Incoming): void;
  /** Refuses new requests, asks open streams to end, and resolves when all are answered or `graceMs` have passed. */
  drain(graceMs: number): Promise<void>;
  /** Ends every stream at once and stops all timers. */
  close(): void;
}

/** Serves an endpoint over HTTP, for every revision at once. Throws for settings that would be unsafe. */
export function createHttpServer(endpoint: Endpoint, options: HttpServerOptions, platform: Platform): HttpCore {
  const state = new ServerState(endpoint, options, platform);
  const storage = endpoint.storage ?? createMemoryStorage({ clock: platform });
  const parts: HttpParts = {
    state,
    sessions: keepsSessions(endpoint, options) ? createSessionRoutes(state, storage) : undefined,
    legacy: options.legacySse === undefined ? undefined : createLegacySse(state, storage, options.legacySse),
  };
  return {
    handle(incoming) {
      const exchange = new HttpExchange(state, incoming);
      try {
        handleRequest(parts, exchange);
      } catch (error) {
        exchange.broken(error);
      }
    },
    drain: (graceMs) => state.drain(graceMs),
    close() {
      state.close();
      parts.sessions?.close();
      parts.legacy?.close();
      // Somebody else's storage goes on: other nodes and the next start use it.
      if (endpoint.storage === undefined) void storage.close?.();
    },
  };
}

/** A server that speaks no revision with a handshake has nobody to keep a session for. */
function keepsSessions(endpoint: Endpoint, options: HttpServerOptions): boolean {
  if (options.sessions !== undefined) return options.sessions;
  return endpoint.revisions === undefined || opensSessions(endpoint.revisions);
}

/** What one HTTP server consists of. */
interface HttpParts {
  readonly state: ServerState;
  readonly sessions: SessionRoutes | undefined;
  readonly legacy: LegacySse | undefined;
}

function handleRequest(parts: HttpParts, exchange: HttpExchange): void {
  const { state } = parts;
  const { http } = exchange;
  const refused = checkRequest(parts, exchange);
  if (refused !== undefined) return exchange.refuse(refused);
  // Browsers send preflights without credentials.
  if (http.method === "OPTIONS") return preflight(parts, exchange);
  if (state.draining) return exchange.refuse(refusal(503, INTERNAL_ERROR, "the server is closing", { headers: RETRY }));
  const { authenticate } = state.options;
  if (authenticate === undefined) return route(parts, exchange);
  const failed = (error: unknown) => {
    state.platform.warn(`\`authenticate\` failed: ${String(error)}`);
    exchange.refuse(refusal(500, INTERNAL_ERROR, "the sender could not be identified"));
  };
  guarded(
    () =>
      whenReady(authenticate.call(state.options, http, http.native), (returned) => admit(parts, exchange, returned)),
    failed,
  );
}

/** The checks on every request, before anything is read or anybody is identified. */
function checkRequest(parts: HttpParts, exchange: HttpExchange): Refusal | undefined {
  const { http } = exchange;
  const { guard, cors } = parts.state.access;
  const { host = "", origin } = http.protocolHeaders;
  if (http.hostCount > 1) return refusal(400, INVALID_REQUEST, "the request has more than one Host");
  // A request target with a host of its own counts more than the header, by the rules of HTTP.
  const named = http.path.startsWith("/") ? undefined : /^[a-z]+:\/\/([^/?#]*)/i.exec(http.path)?.[1];
  if (named !== undefined && !guard.host(named)) return forbidden("Host", named, "allowedHosts` or `publicUrl");
  if (!guard.host(host)) return forbidden("Host", host, "allowedHosts` or `publicUrl");
  if (origin !== undefined) {
    if (!guard.origin(origin)) return forbidden("Origin", origin, "allowedOrigins`, `cors` or `publicUrl");
    if (cors !== undefined) exchange.corsHeaders = cors.reply(origin);
  }
  if (METHODS.has(http.method)) return undefined;
  return refusal(405, INVALID_REQUEST, "this method is not supported here", { headers: allow(parts) });
}

const RETRY = ["retry-after", "1"];
const METHODS: ReadonlySet<string> = new Set(["POST", "GET", "DELETE", "OPTIONS"]);

function allow({ sessions }: HttpParts): string[] {
  return ["allow", sessions === undefined ? "POST" : "POST, GET, DELETE"];
}

/** Says which header, which value and which option, because this refusal is what breaks deployments behind proxies. */
function forbidden(header: string, value: string, option: string): Refusal {
  const shown = JSON.stringify(value.slice(0, 200));
  const fix = `Set \`${option}\` if clients are meant to use this address.`;
  return refusal(403, INVALID_REQUEST, `the ${header} header ${shown} is not allowed. ${fix}`, {
    data: { header, value: value.slice(0, 200), fix },
  });
}

function preflight(parts: HttpParts, exchange: HttpExchange): void {
  const { cors } = parts.state.access;
  const { origin } = exchange.http.protocolHeaders;
  if (cors === undefined || origin === undefined) {
    const headers = allow(parts);
    return exchange.refuse(refusal(405, INVALID_REQUEST, "this method is not supported here", { headers }));
  }
  exchange.corsHeaders = undefined;
  exchange.empty(204, cors.preflight(exchange.http, origin));
}

function admit(parts: HttpParts, exchange: HttpExchange, returned: unknown): void {
  const identity = readAuthentication(returned);
  if (isPrincipal(identity)) {
    exchange.principal = identity;
    return route(parts, exchange);
  }
  const { status, headers = {}, message = "the sender is not authorized" } = identity;
  exchange.refuse(refusal(status, INVALID_REQUEST, message, { headers: Object.entries(headers).flat() }));
}

function route(parts: HttpParts, exchange: HttpExchange): void {
  const { sessions, legacy } = parts;
  const { method } = exchange.http;
  if (legacy?.handle(exchange) === true) return;
  if (method === "POST") return handlePost(exchange, sessions);
  if (sessions === undefined) {
    const reason = "this server keeps no sessions, so that only POST is supported";
    return exchange.refuse(refusal(405, INVALID_REQUEST, reason, { headers: allow(parts) }));
  }
  if (method === "GET") sessions.get(exchange);
  else sessions.delete(exchange);
}
