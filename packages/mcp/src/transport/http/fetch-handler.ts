import { platform as runtimePlatform } from "#platform";
import { checkOptions } from "../../protocol/check-options.js";
import { LateHandler, loadFailure } from "../late-handler.js";
import { endpointOf, type Servable, type ServeHandle, serveHandle } from "../serve-handle.js";
import { checkAccess, HTTP_OPTIONS, type HttpServerOptions } from "./server/options.js";

/**
 * A handler for web-standard requests. It never rejects: every failure becomes a response. It is also a handle: `drain`
 * (default 5 s) and `close` end its streams and sessions.
 *
 * `context` is for frameworks that have already read the body: `{ parsedBody }`. The handler ignores other objects that
 * runtimes pass as this argument, so it can be exported directly.
 */
export interface FetchHandler extends ServeHandle {
  (request: Request, context?: unknown): Promise<Response>;
}

/**
 * Serves a server in any runtime that has `Request` and `Response`: Bun, Deno, Workers, Hono, h3, Next. Accepts only
 * loopback host names, unless `publicUrl` or `allowedHosts` names others. In that case `auth`, `authenticate` or
 * `allowUnauthenticated` is required.
 *
 * Throws for invalid or unsafe options. The implementation loads in the background; early requests wait for it.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/http.md | Serving over HTTP}
 */
export function fetchHandler(servable: Servable, options: HttpServerOptions = {}): FetchHandler {
  checkOptions("fetchHandler", options, HTTP_OPTIONS);
  checkAccess(options);
  const endpoint = endpointOf(servable);
  const platform = options.platform ?? runtimePlatform;
  const late = new LateHandler(
    import("./fetch-core.js").then(({ createFetchCore }) => createFetchCore(endpoint, options, platform)),
    (error) => {
      const { status, body } = loadFailure(platform, error);
      const headers = { "content-type": "application/json" };
      return Object.assign(async () => new Response(body, { status, headers }), { drain: async () => {}, close() {} });
    },
  );
  const handler = async (request: Request, context?: unknown) => late.use((core) => core(request, context));
  return Object.assign(handler, serveHandle(late));
}
