import type { Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { DispatchingServer } from "../call/dispatch.js";
import type { ServerCall } from "../call/server-call.js";
import type { MethodHandler } from "../lists/feature.js";
import { throughMiddleware } from "../middleware.js";

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
  const { middleware } = inner.pipeline;
  const call = outer.inner(inner.facts, route.row, params);
  call.straight = outer.straight && middleware.length === 0;
  try {
    const result = await (middleware.length === 0
      ? route.handler(call)
      : throughMiddleware(middleware, call, () => route.handler(call)));
    return { call, result };
  } finally {
    for (const act of call.beforeAnswer ?? []) act();
    outer.scopes = call.scopes;
    outer.failure = call.failure;
  }
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
