import type { IncomingMessage, ServerResponse } from "node:http";
import { INVALID_REQUEST } from "../../jsonrpc/error.js";
import { errorText } from "../../jsonrpc/message-text.js";
import type { HttpServerOptions } from "../../transport/http/server/options.js";
import { createHttpServer } from "../../transport/http/server/server.js";
import { endpointOf, type Servable } from "../../transport/servable.js";
import { platform as nodePlatform } from "../platform.js";
import { AnswerQueue } from "./answer-queue.js";
import { NodeIncoming } from "./incoming.js";

/** Node drops what is beyond its own limit without a word, and a dropped header cannot be checked. */
const MAX_HEADERS = 256;
const TOO_MANY_HEADERS = errorText(undefined, INVALID_REQUEST, `the request has more than ${MAX_HEADERS} headers`);

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
  const core = createHttpServer(endpointOf(servable), options, platform, true);
  const queue = new AnswerQueue(platform);
  const handler = (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown) => {
    const body = typeof parsedBody === "function" ? undefined : parsedBody;
    const incoming = new NodeIncoming(request, response, body, queue);
    if (request.rawHeaders.length <= 2 * MAX_HEADERS) core.handle(incoming);
    else incoming.send(431, ["content-type", "application/json"], TOO_MANY_HEADERS);
  };
  return Object.assign(handler, {
    drain: (graceMs = 5000) => core.drain(graceMs),
    close: () => core.close(),
  });
}
