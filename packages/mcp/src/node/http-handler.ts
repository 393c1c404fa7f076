import type { IncomingMessage, ServerResponse } from "node:http";
import { endpointOf, type Servable } from "../transport/http/fetch-handler.js";
import { createHttpServer } from "../transport/http/server.js";
import type { HttpServerOptions } from "../transport/http/server-options.js";
import { AnswerQueue } from "./http-answer-queue.js";
import { NodeIncoming } from "./http-incoming.js";
import { platform as nodePlatform } from "./platform.js";

/**
 * Answers requests of `node:http` and of all that is built on it: Express, Fastify, Koa, Nest. `parsedBody` is for
 * frameworks that keep the body elsewhere than on the request; a function in its place (`next`) is ignored.
 */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown): void;
  /** Refuses new requests and resolves when the running ones are answered, or after `graceMs` (default 5 s). */
  drain(graceMs?: number): Promise<void>;
  /** Ends all streams and sessions of this handler. */
  close(): void;
}

/**
 * Serves a server inside an existing Node HTTP server. Only loopback names are served unless `publicUrl` or
 * `allowedHosts` is given; then `authenticate` is needed too.
 */
export function nodeHandler(servable: Servable, options: HttpServerOptions = {}): NodeHandler {
  const platform = options.platform ?? nodePlatform;
  const core = createHttpServer(endpointOf(servable), options, platform);
  const queue = new AnswerQueue(platform);
  const handler = (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown) => {
    const body = typeof parsedBody === "function" ? undefined : parsedBody;
    core.handle(new NodeIncoming(request, response, body, queue));
  };
  return Object.assign(handler, {
    drain: (graceMs = 5000) => core.drain(graceMs),
    close: () => core.close(),
  });
}
