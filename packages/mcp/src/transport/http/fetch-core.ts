import { type ProtocolHeaders, protocolHeaders } from "../../http/protocol-headers.js";
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from "../../jsonrpc/error.js";
import { isObject } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { Endpoint } from "../transport.js";
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
} from "./server/incoming.js";
import type { HttpServerOptions } from "./server/options.js";
import { createHttpServer } from "./server.js";

/** The request handler that `fetchHandler` loads on demand. */
export interface FetchCore {
  (request: Request, context?: unknown): Promise<Response>;
  /** Refuses new requests and resolves when all running requests are answered, or after `graceMs`. Default 5 s. */
  drain(graceMs?: number): Promise<void>;
  /** Ends every stream and session immediately. */
  close(): void;
}

/** Creates the handler for web-standard requests. */
export function createFetchCore(endpoint: Endpoint, options: HttpServerOptions, platform: Platform): FetchCore {
  const core = createHttpServer(endpoint, options, platform);
  const handler = (request: Request, context?: unknown) =>
    new Promise<Response>((resolve) => core.handle(new FetchIncoming(request, parsedBodyOf(context), resolve)));
  return Object.assign(handler, {
    drain: (graceMs = 5000) => core.drain(graceMs),
    close: () => core.close(),
  });
}

/**
 * Returns `context.parsedBody`. Ignores other objects that runtimes pass as this argument: bindings, the server, route
 * parameters.
 */
function parsedBodyOf(context: unknown): unknown {
  return isObject(context) && Object.hasOwn(context, "parsedBody") ? context["parsedBody"] : undefined;
}

class FetchIncoming implements Incoming {
  readonly native: Request;
  readonly method: string;
  readonly protocolHeaders: ProtocolHeaders;
  readonly hostCount: number;
  readonly contentTypeCount: number;
  readonly #parsedBody: unknown;
  readonly #resolve: (response: Response) => void;
  #left: (() => void) | undefined;
  #ended = false;

  constructor(request: Request, parsedBody: unknown, resolve: (response: Response) => void) {
    this.native = request;
    this.method = request.method;
    const headers = this.headers();
    // Some runtimes omit `Host`, because the URL contains it.
    headers["host"] ??= new URL(request.url).host;
    this.protocolHeaders = protocolHeaders(headers);
    this.hostCount = this.headerCount("host");
    this.contentTypeCount = this.headerCount("content-type");
    this.#parsedBody = parsedBody;
    this.#resolve = resolve;
  }

  get path(): string {
    const { url } = this.native;
    const start = url.indexOf("/", url.indexOf("://") + 3);
    return start < 0 ? "/" : (url.slice(start).split("#", 1)[0] ?? "/");
  }

  get isEncrypted(): boolean {
    return this.native.url.startsWith("https:");
  }

  header(name: string): string | undefined {
    return this.native.headers.get(name) ?? (name === "host" ? this.protocolHeaders.host : undefined);
  }

  headerCount(name: string): number {
    const value = this.native.headers.get(name);
    if (value === null) return 0;
    // Repeated headers arrive as one joined value. A single value of a header that the library counts (`Host`,
    // `Content-Type`, `Authorization` with a token) has no comma.
    return value.split(",").length;
  }

  headers(): Record<string, string> {
    const result: Record<string, string> = {};
    this.native.headers.forEach((value, name) => {
      result[name] = value;
    });
    return result;
  }

  readBody(limits: BodyLimits, done: (body: Body) => void): void {
    if (this.#parsedBody !== undefined)
      return done(bodyOfValue(this.#parsedBody, limits.maxBytes, this.header("content-type")));
    if (this.native.bodyUsed) return done(BODY_USED);
    readText(this.native, limits).then(done, () =>
      done({ status: 400, code: INVALID_REQUEST, reason: "the body could not be read" }),
    );
  }

  send(status: number, headers: HeaderList, body: string | undefined): void {
    this.#ended = true;
    // A `Response` with a status such as 204 must not have a body, not even an empty text. A reply to HEAD has none,
    // and not every runtime removes it.
    const content = this.method === "HEAD" ? null : body || null;
    this.#resolve(new Response(content, { status, headers: pairs(headers) }));
  }

  stream(status: number, headers: HeaderList): OutgoingStream {
    const encoder = new TextEncoder();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>(
      {
        start(created) {
          controller = created;
        },
        cancel: () => this.#leave(),
      },
      // Counts bytes, so that `desiredSize` shows how many bytes a slow reader has not read.
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
    );
    this.#resolve(new Response(body, { status, headers: pairs(headers) }));
    const end = () => {
      if (this.#ended) return;
      this.#ended = true;
      controller?.close();
    };
    return {
      write: (text) => {
        if (this.#ended) return 0;
        controller?.enqueue(encoder.encode(text));
        return -(controller?.desiredSize ?? 0);
      },
      end,
      // The same as `end`, because the runtime owns the queue and drops it when the reader disconnects.
      cut: end,
    };
  }

  afterTurn(request: AfterTurn): void {
    // Some runtimes forbid work for one request in the context of another, so this adapter defers nothing.
    request.turnEnded();
  }

  onLeave(run: () => void): void {
    const isFirst = this.#left === undefined;
    this.#left = run;
    if (!isFirst) return;
    // Some runtimes have no `signal`. In these runtimes, a disconnect is not reported here.
    const signal: AbortSignal | undefined = this.native.signal;
    if (signal?.aborted === true) queueMicrotask(() => this.#leave());
    else signal?.addEventListener("abort", () => this.#leave(), { once: true });
  }

  #leave(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#left?.();
  }
}

const BODY_USED: Body = {
  status: 500,
  code: INTERNAL_ERROR,
  reason: "the body has already been read; pass it as `{ parsedBody }`, or mount the handler before the body parser",
};

function pairs(headers: HeaderList): [string, string][] {
  const result: [string, string][] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) result.push([headers[at] ?? "", headers[at + 1] ?? ""]);
  return result;
}

async function readText(request: Request, limits: BodyLimits): Promise<Body> {
  const { maxBytes, state } = limits;
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return bodyTooLong(maxBytes);
  // `fatal` rejects invalid UTF-8. `ignoreBOM` leaves a byte order mark in the text, so that the JSON parser rejects
  // it.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  let size = 0;
  const reader = request.body?.getReader();
  try {
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) return { text: text + decoder.decode() };
      const { byteLength } = chunk.value;
      size += byteLength;
      if (size > maxBytes || state.unfinishedBytes + byteLength > state.limits.maxUnfinishedBytes) {
        void reader?.cancel().catch(() => {});
        return size > maxBytes ? bodyTooLong(maxBytes) : UNFINISHED_LIMIT_REACHED;
      }
      limits.bodyBytes += byteLength;
      state.unfinishedBytes += byteLength;
      text += decoder.decode(chunk.value, { stream: true });
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { status: 400, code: PARSE_ERROR, reason: "the body is not valid UTF-8" };
  }
}
