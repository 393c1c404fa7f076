import { platform as runtimePlatform } from "#platform";
import { LateHandler } from "../../late-handler.js";
import { endpointOf, type Servable } from "../../servable.js";
import { createAccessRules, type HttpServerOptions } from "./options.js";

/**
 * Answers web-standard requests; `parsedBody` is for frameworks that have read the body already.
 * Never rejects: whatever goes wrong is a response.
 */
export interface FetchHandler {
  (request: Request, parsedBody?: unknown): Promise<Response>;
  /** Refuses new requests and resolves when the running ones are answered, or after `graceMs` (default 5 s). */
  drain(graceMs?: number): Promise<void>;
  /** Ends all streams and sessions of this handler. */
  close(): void;
}

/**
 * Serves a server in any runtime that speaks `Request` and `Response`: Bun, Deno, Workers, Hono, h3, Next.
 * Only loopback names are served unless `publicUrl` or `allowedHosts` is given; then `authenticate` is needed too.
 *
 * Throws at once for settings that are wrong or unsafe. The rest is loaded from then on: a request that comes earlier waits.
 */
export function fetchHandler(servable: Servable, options: HttpServerOptions = {}): FetchHandler {
  createAccessRules(options);
  const endpoint = endpointOf(servable);
  const platform = options.platform ?? runtimePlatform;
  const late = new LateHandler(
    import("./fetch-core.js").then(({ createFetchCore }) => createFetchCore(endpoint, options, platform)),
  );
  const handler = async (request: Request, parsedBody?: unknown) => late.use((core) => core(request, parsedBody));
  return Object.assign(handler, {
    drain: (graceMs?: number) => late.drain(graceMs),
    close: () => late.close(),
  });
}
