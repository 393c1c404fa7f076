import type { IncomingMessage, ServerResponse } from "node:http";
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from "../../jsonrpc/error.js";
import type { Body, HeaderList, Incoming, OutgoingStream } from "../../transport/http/server/incoming.js";
import { bodyOfValue } from "../../transport/http/server/parsed-body.js";
import { builtin } from "../builtin.js";
import type { AnswerQueue } from "./answer-queue.js";
import { endAfterBody } from "./linger.js";

const { isUtf8 } = builtin("node:buffer");

/** What frameworks leave on a request. */
type MaybeParsed = IncomingMessage & { body?: unknown; originalUrl?: unknown };

/** Node's request and response as the core sees them: no copies, no streams, one `end`. */
export class NodeIncoming implements Incoming {
  readonly native: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #queue: AnswerQueue;
  readonly #parsedBody: unknown;
  #left: (() => void) | undefined;
  #ended = false;
  #status = 200;
  #headers: HeaderList = NO_HEADERS;
  #body = "";

  constructor(request: IncomingMessage, response: ServerResponse, parsedBody: unknown, queue: AnswerQueue) {
    this.native = request;
    this.#response = response;
    this.#parsedBody = parsedBody;
    this.#queue = queue;
  }

  get method(): string {
    return this.native.method ?? "";
  }

  get path(): string {
    // Frameworks cut the mount path off `url` and keep the whole one here.
    const { originalUrl, url = "/" }: MaybeParsed = this.native;
    return typeof originalUrl === "string" ? originalUrl : url;
  }

  get remoteAddress(): string {
    return this.native.socket.remoteAddress ?? "";
  }

  header(name: string): string | undefined {
    const value = this.native.headers[name];
    return typeof value === "object" ? value.join(", ") : value;
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

  /** Writes the reply; called by the queue at the end of the loop turn. */
  flush(): void {
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
