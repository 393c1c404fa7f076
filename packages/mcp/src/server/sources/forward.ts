import type { Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { endOf } from "../call/call-failure.js";
import type { DispatchingServer } from "../call/dispatch.js";
import type { MethodHandler } from "../call/feature.js";
import { throughMiddleware } from "../call/middleware.js";
import type { ServerCall } from "../call/server-call.js";

/** The result of a mounted server, with the call that has its cache hint. */
export interface Forwarded {
  readonly call: ServerCall;
  readonly result: object;
}

/**
 * Serves a call by a mounted server, through that server's own middleware. Questions, progress, cancellation and `ctx.data`
 * are those of the outer call.
 */
export async function forward(outer: ServerCall, inner: DispatchingServer, params: Params): Promise<Forwarded> {
  const { request } = outer;
  const route = inner.registry.route(request.method, request.revision);
  if (route === undefined)
    throw new McpError("method_not_found", `the mounted server does not offer ${request.method}`);
  await inner.pipeline.gate?.();
  const { middleware, limits } = inner.pipeline;
  const call = outer.inner(inner.facts, route.row, params);
  call.straight = outer.straight && middleware.length === 0;
  const run = async () => {
    try {
      const serve = () =>
        middleware.length === 0 ? route.handler(call) : throughMiddleware(middleware, call, () => route.handler(call));
      const result = await (limits === undefined ? serve() : limits(call, serve));
      return { call, result };
    } finally {
      for (const act of call.beforeAnswer ?? []) act(true);
      outer.scopes = call.scopes;
      outer.limited = call.limited;
      outer.failure = call.failure;
    }
  };
  return inner.pipeline.observers.length === 0 ? run() : observed(inner, call, run);
}

/** Notifies the mounted server's observers too. The length of the response is the outer server's to know. */
async function observed(inner: DispatchingServer, call: ServerCall, run: () => Promise<Forwarded>): Promise<Forwarded> {
  let outcome: { forwarded: Forwarded } | { error: unknown } | undefined;
  await inner.pipeline.observed(call, async () => {
    try {
      const forwarded = await run();
      outcome = { forwarded };
      call.end = endOf(call, forwarded);
    } catch (error) {
      outcome = { error };
      call.end = endOf(call, outcome);
    }
    return { text: "" };
  });
  if (outcome !== undefined && "forwarded" in outcome) return outcome.forwarded;
  throw outcome?.error;
}

/** Bounds a handler object whose cursors never end; no real list has as many pages. */
const MOST_PAGES = 1000;

/** Collects all pages of a list. */
export async function allPages(
  params: Params,
  page: (params: Params) => Forwarded | Promise<Forwarded>,
): Promise<Forwarded[]> {
  const { cursor: _cursor, ...rest } = params;
  const pages: Forwarded[] = [];
  let cursor: unknown;
  for (let count = 0; count < MOST_PAGES; count++) {
    const next = await page(cursor === undefined ? rest : { ...rest, cursor });
    pages.push(next);
    cursor = (next.result as { nextCursor?: unknown }).nextCursor;
    if (cursor === undefined) return pages;
  }
  throw new McpError("limit_exceeded", `a list has more than ${MOST_PAGES} pages`);
}

/** A page of the list that the outer server has without its mounts. */
export async function ownPage(outer: ServerCall, handler: MethodHandler, params: Params): Promise<Forwarded> {
  const call = outer.inner(outer.facts, outer.row, params);
  call.straight = outer.straight;
  return { call, result: await handler(call) };
}

/**
 * A joined list gets the shortest time of its parts, and is private if one of them is.
 *
 * Spec: Caching, "Cacheable Model",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-model
 */
export function narrowCache(call: ServerCall, pages: readonly Forwarded[]): void {
  const hints = pages.map((page) => page.call.cache);
  if (hints.length === 0) return;
  call.cache = {
    ttlMs: Math.min(...hints.map(({ ttlMs }) => ttlMs)),
    scope: hints.some(({ scope }) => scope === "private") ? "private" : "public",
  };
}
