import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuthenticationRequest } from "../../http/authentication.js";
import { headerValue, type ProtocolHeaders, protocolHeaders } from "../../http/protocol-headers.js";
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from "../../jsonrpc/error.js";
import { errorText } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import {
  type AfterTurn,
  type Body,
  type BodyLimits,
  bodyOfValue,
  bodyTooLong,
  type HeaderList,
  type Incoming,
  type OutgoingStream,
  UNFINISHED_LIMIT_REACHED,
} from "../../transport/http/server/incoming.js";
import type { HttpServerOptions } from "../../transport/http/server/options.js";
import { createHttpServer, type HttpCore } from "../../transport/http/server.js";
import { endpointOf, type Servable, type ServeHandle, serveHandle } from "../../transport/serve-handle.js";
import { builtin } from "../builtin.js";
import { platform as nodePlatform } from "../platform.js";

const { isUtf8 } = builtin("node:buffer");

/**
 * Maximum number of headers. A request with more is answered with 431. Node silently drops headers beyond a limit of
 * its own, and a dropped header cannot be checked.
 */
const MAX_HEADERS = 256;
const TOO_MANY_HEADERS = errorText(undefined, INVALID_REQUEST, `the request has more than ${MAX_HEADERS} headers`);

/**
 * Answers requests of `node:http` and of frameworks built on it: Express, Fastify, Koa, Nest. Pass `parsedBody` if the
 * framework does not leave the body on the request. A function (`next`) in place of `parsedBody` is ignored. The
 * handler is also a handle: `drain` (default 5 s) and `close` end its streams and sessions.
 */
export interface NodeHandler extends ServeHandle {
  (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown): void;
}

/**
 * Serves a server inside an existing Node HTTP server. Accepts only loopback host names unless `publicUrl` or
 * `allowedHosts` is set. If either is set, `auth`, `authenticate` or `allowUnauthenticated` is required too.
 */
export function nodeHandler(servable: Servable, options: HttpServerOptions = {}): NodeHandler {
  return handlerAndCore(servable, options).handler;
}

/** Creates the handler, and returns it together with its core. */
export function handlerAndCore(
  servable: Servable,
  options: HttpServerOptions,
): { handler: NodeHandler; core: HttpCore } {
  const platform = options.platform ?? nodePlatform;
  const core = createHttpServer(endpointOf(servable), options, platform);
  const queue = new TurnQueue(platform, core.state);
  const handler = (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown) => {
    const body = typeof parsedBody === "function" ? undefined : parsedBody;
    const incoming = new NodeIncoming(request, response, body, queue);
    if (request.rawHeaders.length <= 2 * MAX_HEADERS) core.handle(incoming);
    else incoming.send(431, ["content-type", "application/json"], TOO_MANY_HEADERS);
  };
  const ends = serveHandle({ drain: (graceMs = 5000) => core.drain(graceMs), close: () => core.close() });
  return { handler: Object.assign(handler, ends), core };
}

/** Passes requests for these paths to the handler and others to `fallback`. */
export function listenerOf(
  handler: NodeHandler,
  { state }: HttpCore,
  paths: ReadonlySet<string>,
  fallback: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (state.closesConnections) response.shouldKeepAlive = false;
    // The URL of nearly every request is exactly one of the paths and needs no parsing.
    if (paths.has(request.url ?? "")) handler(request, response);
    else fallback(request, response);
  };
}

/**
 * Writes the replies of one turn of the event loop together, after all its requests were read. Under load this gives
 * about a third more throughput: reads and writes do not alternate, so caches stay warm and clients wake up once for
 * many replies.
 */
class TurnQueue {
  readonly platform: Platform;
  readonly state: HttpCore["state"];
  readonly unsent: UnsentReplies;
  #items: AfterTurn[] = [];
  readonly #flush = () => {
    const items = this.#items;
    this.#items = [];
    for (const item of items) {
      try {
        if (!item.settled) item.turnEnded();
      } catch (error) {
        // A reply that cannot be written must not affect the replies after it, or the process.
        this.platform.warn(`a reply could not be written: ${String(error)}`);
        if (item instanceof NodeIncoming) item.sendFailure();
      }
    }
  };

  constructor(platform: Platform, state: HttpCore["state"]) {
    this.platform = platform;
    this.state = state;
    let warned = false;
    this.unsent = new UnsentReplies(state.limits.maxUnsentBytes, () => {
      if (!warned)
        platform.warn("a client that did not read its reply was disconnected: the limit `maxUnsentBytes` is reached");
      warned = true;
    });
  }

  push(item: AfterTurn): void {
    // A request enters the queue when it waits for its body, and often again in the same turn when it waits for its
    // handler. One entry is enough.
    if (this.#items.at(-1) === item) return;
    if (this.#items.push(item) === 1) this.platform.defer(this.#flush);
  }
}

/** Properties that frameworks add to a request. */
type MaybeParsed = IncomingMessage & { body?: unknown; originalUrl?: unknown };

/** Adapts Node's request and response to the HTTP core. */
class NodeIncoming implements Incoming, AfterTurn {
  readonly native: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly protocolHeaders: ProtocolHeaders;
  readonly hostCount: number;
  readonly contentTypeCount: number;
  /** Always false: the reply is written at the end of the turn. */
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
    // Frameworks remove the mount path from `url` and store the full URL in `originalUrl`.
    const { originalUrl, url = "/" }: MaybeParsed = request;
    this.path = typeof originalUrl === "string" ? originalUrl : url;
    this.protocolHeaders = protocolHeaders(request.headers);
    this.hostCount = this.headerCount("host");
    this.contentTypeCount = this.headerCount("content-type");
  }

  get remoteAddress(): string {
    return this.native.socket.remoteAddress ?? "";
  }

  get isEncrypted(): boolean {
    return (this.native.socket as { encrypted?: boolean }).encrypted === true;
  }

  header(name: string): string | undefined {
    return headerValue(this.native.headers[name]);
  }

  headerCount(name: string): number {
    // Node stores only the first of several `Host` headers in `headers`.
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

  readBody(limits: BodyLimits, done: (body: Body) => void): void {
    const request: MaybeParsed = this.native;
    const { maxBytes } = limits;
    // Frameworks that read the body leave the result on the request.
    const parsed = this.#parsedBody ?? (request.readableEnded ? request.body : undefined);
    if (parsed !== undefined) {
      if (parsed instanceof Uint8Array) return done(bodyOfBytes(Buffer.from(parsed)));
      return done(bodyOfValue(parsed, maxBytes, request.headers["content-type"]));
    }
    if (request.readableEnded) return done(BODY_USED);
    // Reject a body that is declared too long before reading any of it.
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) return done(bodyTooLong(maxBytes));
    readBytes(request, limits, this.#queue.platform, done);
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
    // The client may have disconnected before the end of the turn.
    if (response.destroyed || response.headersSent) return;
    if (this.#queue.state.closesConnections) response.shouldKeepAlive = false;
    const headers = [...this.#headers];
    const length = Buffer.byteLength(this.#body);
    // A reply with status 204 has no body and must not have a `content-length`.
    if (this.#status !== 204) headers.push("content-length", String(length));
    if (!this.native.complete) return endAfterBody(this.native, response, this.#status, headers, this.#body);
    response.writeHead(this.#status, headers);
    response.end(this.#body);
    if (length >= WATCHED_BYTES) this.#queue.unsent.watch(response, length);
  }

  /** Replaces a reply that Node refused to write. */
  sendFailure(): void {
    if (!this.#response.headersSent) this.#response.writeHead(500, FAILED);
    this.#response.end();
  }

  stream(status: number, headers: HeaderList): OutgoingStream {
    const response = this.#response;
    if (!response.destroyed && !response.headersSent) {
      if (this.#queue.state.closesConnections) response.shouldKeepAlive = false;
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
const FAILED = ["content-length", "0", "connection", "close"];

const BODY_USED: Body = {
  status: 500,
  code: INTERNAL_ERROR,
  reason: "the body has already been read; pass it as the third argument, or mount the handler before the body parser",
};

/** Decodes a complete body. */
function bodyOfBytes(bytes: Buffer): Body {
  // `toString` would replace invalid bytes with U+FFFD. The server would then process another text than the one that a
  // filter in front of it may have checked.
  return isUtf8(bytes) ? { text: bytes.toString() } : NOT_UTF8;
}

const NOT_UTF8: Body = { status: 400, code: PARSE_ERROR, reason: "the body is not valid UTF-8" };

/**
 * From this length on, the chunks of a body are decoded as they arrive. Decoding megabytes at once would delay other
 * clients.
 */
const DECODE_CHUNKS_BYTES = 524_288;

/** Reads a body into memory. Calls `done` once, or never if the client disconnects first. */
function readBytes(request: IncomingMessage, limits: BodyLimits, platform: Platform, done: (body: Body) => void): void {
  const { maxBytes, state } = limits;
  // Nearly every body arrives as one chunk.
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let long: LongBody | undefined;
  let size = 0;
  let refused = false;
  const refuse = (reason: Body) => {
    refused = true;
    first = rest = long = undefined;
    done(reason);
  };
  request.on("data", (chunk: Buffer) => {
    // A body is rejected only once. Its later chunks are dropped until the connection closes.
    if (refused) return;
    size += chunk.length;
    if (size > maxBytes || state.unfinishedBytes + chunk.length > state.limits.maxUnfinishedBytes)
      return refuse(size > maxBytes ? bodyTooLong(maxBytes) : UNFINISHED_LIMIT_REACHED);
    limits.bodyBytes += chunk.length;
    state.unfinishedBytes += chunk.length;
    if (long !== undefined) long.add(chunk);
    else if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
    if (size >= DECODE_CHUNKS_BYTES && rest !== undefined) {
      long = new LongBody(rest);
      rest = undefined;
    }
    if (long?.isInvalid === true) refuse(NOT_UTF8);
  });
  request.on("end", () => {
    if (refused) return;
    if (long === undefined)
      return done(bodyOfBytes(rest === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest)));
    const body = long.end();
    // The text is still a tree of its chunks. Its first access copies it, which is a step of its own.
    if ("text" in body) body.text.charCodeAt(0);
    platform.defer(() => done(body));
  });
}

/** A body whose chunks are decoded as they arrive. */
class LongBody {
  isInvalid = false;
  #text = "";
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  constructor(chunks: readonly Buffer[]) {
    for (const chunk of chunks) this.add(chunk);
  }

  add(chunk: Buffer): void {
    this.#decode(() => this.#decoder.decode(chunk, { stream: true }));
  }

  end(): Body {
    this.#decode(() => this.#decoder.decode());
    return this.isInvalid ? NOT_UTF8 : { text: this.#text };
  }

  #decode(decode: () => string): void {
    try {
      if (!this.isInvalid) this.#text += decode();
    } catch {
      this.isInvalid = true;
    }
  }
}

/** Maximum number of bytes of a rejected body that are read and dropped, so that the client can read the error. */
const LINGER_BYTES = 1024 * 1024;
/** Maximum time for reading the rest of a rejected body, in milliseconds. After that, the response ends. */
const LINGER_MS = 1000;

/**
 * Answers a request whose body has not been read completely. If the connection closed immediately, the kernel would
 * reset it and the client would never see the answer. So the rest of the body is read and dropped, but only up to a
 * limit, because the client could send forever.
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
  // A body that is declared short is read completely, so that the connection can serve the next request.
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

/** Minimum length of a watched reply, in bytes. Shorter replies fit into the kernel's buffer. */
const WATCHED_BYTES = 16 * 1024;

/**
 * Complete replies that clients have not read. If these replies exceed `maxBytes` in total, closes the connections with
 * the oldest replies, so that clients which do not read cannot exhaust the memory.
 */
class UnsentReplies {
  readonly #maxBytes: number;
  readonly #cut: () => void;
  /** Lengths of the unread replies, in the order in which the replies were written. */
  readonly #bytes = new Map<ServerResponse, number>();
  #total = 0;

  /** `cut` is called for each closed connection. */
  constructor(maxBytes: number, cut: () => void) {
    this.#maxBytes = maxBytes;
    this.#cut = cut;
  }

  /** Watches a reply after its end was written. `bytes` is the length of its body. */
  watch(response: ServerResponse, bytes: number): void {
    if (response.writableLength === 0) return;
    this.#bytes.set(response, bytes);
    this.#total += bytes;
    const sent = () => this.#forget(response);
    response.once("finish", sent).once("close", sent);
    for (const [oldest] of this.#bytes) {
      if (this.#total <= this.#maxBytes) return;
      this.#forget(oldest);
      oldest.destroy();
      this.#cut();
    }
  }

  #forget(response: ServerResponse): void {
    this.#total -= this.#bytes.get(response) ?? 0;
    this.#bytes.delete(response);
  }
}

/** Converts a Node request to the form that `authenticate` receives on every transport. */
export function authenticationRequest(request: IncomingMessage): AuthenticationRequest {
  const { method, url, socket } = request;
  const header = (name: string) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
  const headers = () => Object.fromEntries(Object.keys(request.headers).map((name) => [name, header(name) ?? ""]));
  const headerCount = (name: string) => request.headersDistinct[name]?.length ?? 0;
  return { method, path: url, header, headerCount, headers, remoteAddress: socket.remoteAddress };
}
