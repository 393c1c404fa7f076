import type { IncomingMessage, ServerResponse } from "node:http";
import { headerValue, type ProtocolHeaders, protocolHeaders } from "../../http/protocol-headers.js";
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from "../../jsonrpc/error.js";
import { errorText } from "../../jsonrpc/message-text.js";
import type { Platform } from "../../platform/platform.js";
import {
  type AfterTurn,
  type Body,
  bodyOfValue,
  type HeaderList,
  type Incoming,
  type OutgoingStream,
} from "../../transport/http/server/incoming.js";
import type { HttpServerOptions } from "../../transport/http/server/options.js";
import { createHttpServer } from "../../transport/http/server/server.js";
import { endpointOf, type Servable } from "../../transport/servable.js";
import { type ServeHandle, serveHandle } from "../../transport/serve-handle.js";
import { builtin } from "../builtin.js";
import { platform as nodePlatform } from "../platform.js";

const { isUtf8 } = builtin("node:buffer");

/** Node drops what is beyond its own limit without a word, and a dropped header cannot be checked. */
const MAX_HEADERS = 256;
const TOO_MANY_HEADERS = errorText(undefined, INVALID_REQUEST, `the request has more than ${MAX_HEADERS} headers`);

/**
 * Answers requests of `node:http` and of all that is built on it: Express, Fastify, Koa, Nest. `parsedBody` is for
 * frameworks that keep the body elsewhere than on the request; a function in its place (`next`) is ignored. It is a handle
 * too: `drain` (5 s unless told otherwise) and `close` end its streams and sessions.
 */
export interface NodeHandler extends ServeHandle {
  (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown): void;
}

/**
 * Serves a server inside an existing Node HTTP server. Only loopback names are served unless `publicUrl` or
 * `allowedHosts` is given; then `authenticate` is needed too.
 */
export function nodeHandler(servable: Servable, options: HttpServerOptions = {}): NodeHandler {
  const platform = options.platform ?? nodePlatform;
  const core = createHttpServer(endpointOf(servable), options, platform);
  const queue = new TurnQueue(platform);
  const handler = (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown) => {
    const body = typeof parsedBody === "function" ? undefined : parsedBody;
    const incoming = new NodeIncoming(request, response, body, queue);
    if (request.rawHeaders.length <= 2 * MAX_HEADERS) core.handle(incoming);
    else incoming.send(431, ["content-type", "application/json"], TOO_MANY_HEADERS);
  };
  const ends = serveHandle({ drain: (graceMs = 5000) => core.drain(graceMs), close: () => core.close() });
  return Object.assign(handler, ends);
}

/**
 * Does at the end of a loop turn what all its requests left to do. Replies are written together, after all requests of
 * the turn were read: under load this is worth about a third of the throughput, since reads and writes no longer
 * alternate, so that caches stay warm and clients wake up for many replies at once.
 */
class TurnQueue {
  readonly #platform: Platform;
  #items: AfterTurn[] = [];
  readonly #flush = () => {
    const items = this.#items;
    this.#items = [];
    for (const item of items) if (!item.settled) item.turnEnded();
  };

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  push(item: AfterTurn): void {
    if (this.#items.push(item) === 1) this.#platform.defer(this.#flush);
  }
}

/** What frameworks leave on a request. */
type MaybeParsed = IncomingMessage & { body?: unknown; originalUrl?: unknown };

/** Node's request and response as the core sees them: no copies, no streams, one `end`. */
class NodeIncoming implements Incoming, AfterTurn {
  readonly native: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly protocolHeaders: ProtocolHeaders;
  readonly hostCount: number;
  /** The reply is written at the end of the turn, whenever it was sent. */
  readonly settled = false;
  readonly #response: ServerResponse;
  readonly #queue: TurnQueue;
  readonly #parsedBody: unknown;
  #left: (() => void) | undefined;
  #ended = false;
  #status = 200;
  #headers: HeaderList = NO_HEADERS;
  #body = "";

  constructor(request: IncomingMessage, response: ServerResponse, parsedBody: unknown, queue: TurnQueue) {
    this.native = request;
    this.#response = response;
    this.#parsedBody = parsedBody;
    this.#queue = queue;
    this.method = request.method ?? "";
    // Frameworks cut the mount path off `url` and keep the whole one here.
    const { originalUrl, url = "/" }: MaybeParsed = request;
    this.path = typeof originalUrl === "string" ? originalUrl : url;
    this.protocolHeaders = protocolHeaders(request.headers);
    this.hostCount = this.headerCount("host");
  }

  get remoteAddress(): string {
    return this.native.socket.remoteAddress ?? "";
  }

  header(name: string): string | undefined {
    return headerValue(this.native.headers[name]);
  }

  headerCount(name: string): number {
    // Node keeps only the first of several `Host` headers in `headers`.
    const raw = this.native.rawHeaders;
    let count = 0;
    for (let at = 0; at < raw.length; at += 2) {
      const other = raw[at];
      if (other !== undefined && other.length === name.length && other.toLowerCase() === name) count++;
    }
    return count;
  }

  headers(): Record<string, string> {
    const result: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.native.headers)) {
      if (value !== undefined) result[name] = typeof value === "string" ? value : value.join(", ");
    }
    return result;
  }

  readBody(maxBytes: number, done: (body: Body) => void): void {
    const request: MaybeParsed = this.native;
    // Frameworks that read the body leave what they made of it on the request.
    const parsed = this.#parsedBody ?? (request.readableEnded ? request.body : undefined);
    if (parsed !== undefined) {
      return done(parsed instanceof Uint8Array ? bodyOfBytes(Buffer.from(parsed)) : bodyOfValue(parsed, maxBytes));
    }
    if (request.readableEnded) return done(BODY_USED);
    // Refused before a byte of it is read.
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) return done(tooLarge(maxBytes));
    readBytes(request, maxBytes, done);
  }

  send(status: number, headers: HeaderList, body = ""): void {
    this.#ended = true;
    this.#status = status;
    this.#headers = headers;
    this.#body = body;
    this.#queue.push(this);
  }

  afterTurn(request: AfterTurn): void {
    this.#queue.push(request);
  }

  /** Writes the reply. */
  turnEnded(): void {
    const response = this.#response;
    // The client may have left while the reply waited for its turn.
    if (response.destroyed || response.headersSent) return;
    const headers = [...this.#headers];
    // A status without a body must not announce one either.
    if (this.#status !== 204) headers.push("content-length", String(Buffer.byteLength(this.#body)));
    if (!this.native.complete) return endAfterBody(this.native, response, this.#status, headers, this.#body);
    response.writeHead(this.#status, headers);
    response.end(this.#body);
  }

  stream(status: number, headers: HeaderList): OutgoingStream {
    const response = this.#response;
    if (!response.destroyed && !response.headersSent) {
      response.writeHead(status, [...headers]);
      response.flushHeaders();
    }
    return {
      write: (text) => {
        if (this.#ended || response.destroyed) return 0;
        response.write(text);
        return response.writableLength;
      },
      end: () => {
        if (this.#ended) return;
        this.#ended = true;
        response.end();
      },
      cut: () => {
        this.#ended = true;
        response.destroy();
      },
    };
  }

  onLeave(run: () => void): void {
    const isFirst = this.#left === undefined;
    this.#left = run;
    if (!isFirst) return;
    const leave = () => {
      if (this.#ended) return;
      this.#ended = true;
      this.#left?.();
    };
    if (this.#response.destroyed) queueMicrotask(leave);
    else this.#response.once("close", leave);
  }
}

const NO_HEADERS: HeaderList = [];

const BODY_USED: Body = {
  status: 500,
  code: INTERNAL_ERROR,
  reason:
    "the body was read before it came here; pass it as third argument, or mount the handler before the body parser",
};

function tooLarge(maxBytes: number): Body {
  return { status: 413, code: INVALID_REQUEST, reason: `the body is longer than ${maxBytes} bytes` };
}

function bodyOfBytes(bytes: Buffer): Body {
  // `toString` would replace bad bytes by U+FFFD, and a filter before us may have seen something else.
  if (!isUtf8(bytes)) return { status: 400, code: PARSE_ERROR, reason: "the body is not valid UTF-8" };
  return { text: bytes.toString() };
}

function readBytes(request: IncomingMessage, maxBytes: number, done: (body: Body) => void): void {
  // Nearly every body comes as one chunk.
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) {
      // The answer goes out once; what still arrives is dropped by whoever closes the connection.
      if (size - chunk.length <= maxBytes) done(tooLarge(maxBytes));
      first = undefined;
      rest = undefined;
      return;
    }
    if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  request.on("end", () => {
    if (size > maxBytes) return;
    done(bodyOfBytes(rest === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest)));
  });
}

/** What is read and dropped of a refused body, so that its sender gets to read the refusal. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1000;

/**
 * Answers a request whose body is not read to its end. Closing at once would make the kernel reset the connection, and
 * the client would see that instead of the answer; reading on without bound would let it send for ever.
 */
function endAfterBody(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: string[],
  body: string,
): void {
  let budget = LINGER_BYTES;
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  const declared = Number(request.headers["content-length"] ?? Number.NaN);
  // A short rest is read to its end, and then the connection can serve the next request.
  const closes = !(declared <= LINGER_BYTES);
  response.writeHead(status, closes ? [...headers, "connection", "close"] : headers);
  response.write(body);
  response.once("close", end);
  request.once("end", end);
  request.on("data", (chunk: Buffer) => {
    budget -= chunk.length;
    if (budget < 0) end();
  });
  request.resume();
}
