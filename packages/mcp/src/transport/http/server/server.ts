import { guarded, whenReady } from "../../../encoding/maybe-promise.js";
import { opensSessions } from "../../../era/session.js";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../../../jsonrpc/error.js";
import type { Platform } from "../../../platform/platform.js";
import { createMemoryStorage } from "../../../storage/memory.js";
import type { Endpoint } from "../../transport.js";
import { createSessionDesk } from "../session/routes.js";
import type { Incoming } from "./incoming.js";
import { createLegacySse, type LegacySse } from "./legacy-sse.js";
import type { Authentication, HttpServerOptions } from "./options.js";
import { handlePost, type SessionDesk } from "./post.js";
import { type Refusal, refusal } from "./refusal.js";
import { ServerState } from "./state.js";
import { flatten, Visit } from "./visit.js";

/** The part of an HTTP server that is the same in every runtime. Adapters call `handle` for each request. */
export interface HttpCore {
  handle(incoming: Incoming): void;
  /** Refuses new requests, asks open streams to end, and resolves when all are answered or `graceMs` have passed. */
  drain(graceMs: number): Promise<void>;
  /** Ends every stream at once and stops all timers. */
  close(): void;
}

/**
 * Serves an endpoint over HTTP, for every revision at once. Throws for settings that would be unsafe. `sharesTurns` says
 * that work of several requests may be done together; some runtimes keep each request to its own context.
 */
export function createHttpServer(
  endpoint: Endpoint,
  options: HttpServerOptions,
  platform: Platform,
  sharesTurns: boolean,
): HttpCore {
  const state = new ServerState(endpoint, options, platform, sharesTurns);
  const storage = options.storage ?? createMemoryStorage({ clock: platform });
  const site: Site = {
    state,
    sessions: keepsSessions(endpoint, options) ? createSessionDesk(state, storage) : undefined,
    legacy: options.legacySse === undefined ? undefined : createLegacySse(state, storage, options.legacySse),
  };
  return {
    handle: (incoming) => handle(site, incoming),
    drain: (graceMs) => state.drain(graceMs),
    close() {
      state.close();
      site.sessions?.close();
      site.legacy?.close();
      // Somebody else's storage goes on: other nodes and the next start use it.
      if (options.storage === undefined) void storage.close?.();
    },
  };
}

/** A server that speaks no revision with a handshake has nobody to keep a session for. */
function keepsSessions(endpoint: Endpoint, options: HttpServerOptions): boolean {
  if (options.sessions !== undefined) return options.sessions;
  return endpoint.revisions === undefined || opensSessions(endpoint.revisions);
}

/** What one HTTP server consists of. */
interface Site {
  readonly state: ServerState;
  readonly sessions: SessionDesk | undefined;
  readonly legacy: LegacySse | undefined;
}

function handle(site: Site, incoming: Incoming): void {
  const visit = new Visit(site.state, incoming);
  try {
    enter(site, visit);
  } catch (error) {
    visit.broken(error);
  }
}

function enter(site: Site, visit: Visit): void {
  const { state } = site;
  const { incoming } = visit;
  const refused = knock(site, visit);
  if (refused !== undefined) return visit.refuse(refused);
  // Browsers send preflights without credentials.
  if (incoming.method === "OPTIONS") return preflight(site, visit);
  if (state.draining) return visit.refuse(refusal(503, INTERNAL_ERROR, "the server is closing", { headers: RETRY }));
  const { authenticate } = state.options;
  if (authenticate === undefined) return route(site, visit);
  const failed = (error: unknown) => {
    state.platform.warn(`\`authenticate\` failed: ${String(error)}`);
    visit.refuse(refusal(500, INTERNAL_ERROR, "the sender could not be identified"));
  };
  guarded(
    () =>
      whenReady(authenticate.call(state.options, incoming, incoming.native), (identity) =>
        admit(site, visit, identity),
      ),
    failed,
  );
}

/** The checks on every request, before anything is read or anybody is identified. */
function knock(site: Site, visit: Visit): Refusal | undefined {
  const { incoming } = visit;
  const { guard, cors } = site.state.doors;
  if (incoming.headerCount("host") > 1) return refusal(400, INVALID_REQUEST, "the request has more than one Host");
  const host = incoming.header("host") ?? "";
  // A request target with a host of its own counts more than the header, by the rules of HTTP.
  const named = incoming.path.startsWith("/") ? undefined : /^[a-z]+:\/\/([^/?#]*)/i.exec(incoming.path)?.[1];
  if (named !== undefined && !guard.host(named)) return forbidden("Host", named, "allowedHosts` or `publicUrl");
  if (!guard.host(host)) return forbidden("Host", host, "allowedHosts` or `publicUrl");
  const origin = incoming.header("origin");
  if (origin !== undefined) {
    if (!guard.origin(origin)) return forbidden("Origin", origin, "allowedOrigins`, `cors` or `publicUrl");
    if (cors !== undefined) visit.corsHeaders = cors.reply(origin);
  }
  if (METHODS.has(incoming.method)) return undefined;
  return refusal(405, INVALID_REQUEST, "this method is not supported here", { headers: allow(site) });
}

const RETRY = ["retry-after", "1"];
const METHODS: ReadonlySet<string> = new Set(["POST", "GET", "DELETE", "OPTIONS"]);

function allow({ sessions }: Site): string[] {
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

function preflight(site: Site, visit: Visit): void {
  const { incoming } = visit;
  const { cors } = site.state.doors;
  const origin = incoming.header("origin");
  if (cors === undefined || origin === undefined) {
    return visit.refuse(refusal(405, INVALID_REQUEST, "this method is not supported here", { headers: allow(site) }));
  }
  visit.corsHeaders = undefined;
  visit.empty(204, cors.preflight(incoming, origin));
}

function admit(site: Site, visit: Visit, identity: Authentication): void {
  if ("key" in identity) {
    visit.principal = identity;
    return route(site, visit);
  }
  const { status, headers = {}, message = "the sender is not authorized" } = identity;
  visit.refuse(refusal(status, INVALID_REQUEST, message, { headers: flatten(headers) }));
}

function route(site: Site, visit: Visit): void {
  const { sessions, legacy } = site;
  const { method } = visit.incoming;
  if (legacy?.handle(visit) === true) return;
  if (method === "POST") return handlePost(site.state, site.sessions, visit);
  if (sessions === undefined) {
    const reason = "this server keeps no sessions, so that only POST is supported";
    return visit.refuse(refusal(405, INVALID_REQUEST, reason, { headers: allow(site) }));
  }
  if (method === "GET") sessions.get(visit);
  else sessions.delete(visit);
}
