import type { HttpRequest, HttpRequestInfo } from "../../../http/http.js";
import { INVALID_REQUEST } from "../../../jsonrpc/error.js";

/** Alternating header names and values: the cheapest form in every runtime. */
export type HeaderList = readonly string[];

/**
 * One HTTP request and its reply, as an adapter passes them to the core.
 *
 * The core calls either `send` or `stream`, once. Neither may throw after the client has disconnected.
 */
export interface Incoming extends HttpRequest, HttpRequestInfo {
  /** Number of `Host` headers. The server refuses a request with more than one, which indicates an attack. */
  readonly hostCount: number;
  /** Number of `Content-Type` headers. */
  readonly contentTypeCount: number;
  /** True if the connection uses TLS, as far as the runtime reports it. */
  readonly isEncrypted: boolean;
  /** The request object of the runtime, for `authenticate`. */
  readonly native: unknown;
  /** Reads the whole body and calls `done` once, or never if the client disconnects first. Called at most once. */
  readBody(limits: BodyLimits, done: (body: Body) => void): void;
  /** Sends a complete reply. The adapter adds `content-length`. */
  send(status: number, headers: HeaderList, body: string | undefined): void;
  /** Begins a reply that stays open. */
  stream(status: number, headers: HeaderList): OutgoingStream;
  /**
   * Calls `request.turnEnded` at the end of this turn of the event loop, unless the request is settled by then. Most
   * requests are settled by then, so they need no bookkeeping. Adapters for runtimes that isolate the context of each
   * request call `turnEnded` immediately.
   */
  afterTurn(request: AfterTurn): void;
  /** Calls `run` once if the client disconnects before the reply ends. A later call replaces `run`. */
  onLeave(run: () => void): void;
}

/** A request that is notified at the end of the turn, unless it is settled by then. */
export interface AfterTurn {
  readonly settled: boolean;
  turnEnded(): void;
}

/**
 * The limits for reading one body. The reader adds received bytes to `bodyBytes` and to `state.unfinishedBytes`. A body
 * that would exceed `maxUnfinishedBytes` ends with `UNFINISHED_LIMIT_REACHED`.
 */
export interface BodyLimits {
  readonly maxBytes: number;
  bodyBytes: number;
  /** The counter that all bodies being received share. */
  readonly state: { unfinishedBytes: number; readonly limits: { readonly maxUnfinishedBytes: number } };
}

/** The text of a body, or the reason for its refusal. */
export type Body = { readonly text: string } | { readonly limit: string } | BodyRefusal;

/** The refusal of a body that would exceed `maxUnfinishedBytes`. */
export const UNFINISHED_LIMIT_REACHED: Body = { limit: "maxUnfinishedBytes" };

interface BodyRefusal {
  readonly status: number;
  readonly code: number;
  readonly reason: string;
}

/** The open body of a reply. After `end` or a disconnect, every method does nothing. */
export interface OutgoingStream {
  /** Returns the number of bytes that the client has not read yet. */
  write(text: string): number;
  /** Ends the reply after the data written so far. */
  end(): void;
  /** Ends the reply immediately and drops unsent data. */
  cut(): void;
}

/**
 * Turns a body that a framework has parsed back into text, so that the limits on size and depth apply to it. The limits
 * of the framework may differ.
 */
export function bodyOfValue(value: unknown, maxBytes: number, contentType = ""): Body {
  let text: string | undefined;
  try {
    if (typeof value === "string") text = value;
    else text = FORM.test(contentType) ? formOf(value) : JSON.stringify(value);
  } catch {
    // Nested too deeply for the runtime, or not a JSON value.
  }
  if (text === undefined) return { status: 400, code: INVALID_REQUEST, reason: "the parsed body is not a JSON value" };
  // A UTF-16 unit is at least one byte in UTF-8. The text may therefore exceed the limit in bytes, but a body within
  // the limit is never refused.
  return text.length > maxBytes ? bodyTooLong(maxBytes) : { text };
}

const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** Encodes a parsed form. Parsers turn a repeated field into a list, which becomes a repeated field again. */
function formOf(value: unknown): string {
  const form = new URLSearchParams();
  for (const [name, field] of Object.entries(value ?? {})) {
    for (const one of [field].flat()) form.append(name, typeof one === "string" ? one : JSON.stringify(one));
  }
  return form.toString();
}

/** The refusal of a body that is longer than `maxMessageBytes`. */
export function bodyTooLong(maxBytes: number): Body {
  return { status: 413, code: INVALID_REQUEST, reason: `the body is longer than ${maxBytes} bytes` };
}
