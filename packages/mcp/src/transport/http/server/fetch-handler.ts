import { platform as runtimePlatform } from "#platform";
import { LateHandler } from "../../late-handler.js";
import { endpointOf, type Servable } from "../../servable.js";
import { type ServeHandle, serveHandle } from "../../serve-handle.js";
import { checkAccess, type HttpServerOptions } from "./options.js";

/**
 * Answers web-standard requests. Never rejects: whatever goes wrong is a response. It is a handle too: `drain` (5 s unless
 * told otherwise) and `close` end its streams and sessions.
 *
 * `context` is for frameworks that have read the body already: `{ parsedBody }`. Runtimes pass objects of their own there,
 * which are ignored, so that the handler can be exported as it is.
 */
export interface FetchHandler extends ServeHandle {
  (request: Request, context?: unknown): Promise<Response>;
}

/**
 * Serves a server in any runtime that speaks `Request` and `Response`: Bun, Deno, Workers, Hono, h3, Next.
 * Only loopback names are served unless `publicUrl` or `allowedHosts` is given; then `authenticate` is needed too.
 *
 * Throws at once for settings that are wrong or unsafe. The rest is loaded from then on: a request that comes earlier waits.
 */
export function fetchHandler(servable: Servable, options: HttpServerOptions = {}): FetchHandler {
  checkAccess(options);
  const endpoint = endpointOf(servable);
  const platform = options.platform ?? runtimePlatform;
  const late = new LateHandler(
    import("./fetch-core.js").then(({ createFetchCore }) => createFetchCore(endpoint, options, platform)),
  );
  const handler = async (request: Request, context?: unknown) => late.use((core) => core(request, context));
  return Object.assign(handler, serveHandle(late));
}
