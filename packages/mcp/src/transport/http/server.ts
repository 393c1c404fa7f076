import { INTERNAL_ERROR, INVALID_REQUEST } from "../../jsonrpc/error.js";
import type { Platform } from "../../platform/platform.js";
import type { Endpoint } from "../transport.js";
import type { Incoming } from "./incoming.js";
import type { Authentication, HttpServerOptions } from "./server-options.js";
import { handlePost, type SessionDesk } from "./server-post.js";
import { type Refusal, refusal } from "./server-refusal.js";
import { ServerState } from "./server-state.js";
import { createSessionDesk } from "./session-desk.js";
import { flatten, Visit } from "./visit.js";

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
  const sessions = options.sessions === false ? undefined : createSessionDesk(state, options.storage);
  return {
    handle: (incoming) => handle(state, sessions, incoming),
    drain: (graceMs) => state.drain(graceMs),
    close() {
      state.close();
      sessions?.close();
    },
  };
}

function handle(state: ServerState, sessions: SessionDesk | undefined, incoming: Incoming): void {
  const visit = new Visit(state, incoming);
  const refused = knock(state, sessions, visit);
  if (refused !== undefined) return visit.refuse(refused);
  if (incoming.method === "OPTIONS") return preflight(state, sessions, visit);
  if (state.draining) return visit.busy("draining");
  const { authenticate } = state.options;
  if (authenticate === undefined) return route(state, sessions, visit);
  const failed = (error: unknown) => {
    state.platform.warn(`\`authenticate\` failed: ${String(error)}`);
    visit.refuse(refusal(500, INTERNAL_ERROR, "the sender could not be identified"));
  };
  let identity: Authentication | Promise<Authentication>;
  try {
    identity = authenticate(incoming, incoming.native);
  } catch (error) {
    return failed(error);
  }
  if (!("then" in identity)) return admit(state, sessions, visit, identity);
  identity.then((settled) => admit(state, sessions, visit, settled)).catch(failed);
}

/** The checks on every request, before anything is read or anybody is identified. */
function knock(state: ServerState, sessions: SessionDesk | undefined, visit: Visit): Refusal | undefined {
  const { incoming } = visit;
  const { guard, cors } = state.doors;
  if (incoming.headerCount("host") > 1) return refusal(400, INVALID_REQUEST, "the request has more than one Host");
  const host = incoming.header("host") ?? "";
  if (!guard.host(host)) return forbidden("Host", host, "allowedHosts` or `publicUrl");
  const origin = incoming.header("origin");
  if (origin !== undefined) {
    if (!guard.origin(origin)) return forbidden("Origin", origin, "allowedOrigins`, `cors` or `publicUrl");
    if (cors !== undefined) visit.corsHeaders = cors.reply(origin);
  }
  if (METHODS.has(incoming.method)) return undefined;
  return refusal(405, INVALID_REQUEST, "this method is not supported here", { headers: allow(sessions) });
}

const METHODS: ReadonlySet<string> = new Set(["POST", "GET", "DELETE", "OPTIONS"]);

function allow(sessions: SessionDesk | undefined): string[] {
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

function preflight(state: ServerState, sessions: SessionDesk | undefined, visit: Visit): void {
  const { incoming } = visit;
  const { cors } = state.doors;
  const origin = incoming.header("origin");
  if (cors === undefined || origin === undefined) {
    return visit.refuse(
      refusal(405, INVALID_REQUEST, "this method is not supported here", { headers: allow(sessions) }),
    );
  }
  visit.corsHeaders = undefined;
  visit.empty(204, cors.preflight(incoming, origin));
}

function admit(state: ServerState, sessions: SessionDesk | undefined, visit: Visit, identity: Authentication): void {
  if ("key" in identity) {
    visit.principal = identity;
    return route(state, sessions, visit);
  }
  const { status, headers = {}, message = "the sender is not authorized" } = identity;
  visit.refuse(refusal(status, INVALID_REQUEST, message, { headers: flatten(headers) }));
}

function route(state: ServerState, sessions: SessionDesk | undefined, visit: Visit): void {
  const { method } = visit.incoming;
  if (method === "POST") return handlePost(state, sessions, visit);
  if (sessions === undefined) {
    const reason = "this server keeps no sessions, so that only POST is supported";
    return visit.refuse(refusal(405, INVALID_REQUEST, reason, { headers: allow(sessions) }));
  }
  if (method === "GET") sessions.get(visit);
  else sessions.delete(visit);
}
