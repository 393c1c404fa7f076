import type { HttpFacts, HttpRequest } from "../../../http/http.js";
import { INVALID_REQUEST } from "../../../jsonrpc/error.js";

/** Header names and values in turn: the form that costs least in every runtime. */
export type HeaderList = readonly string[];

/**
 * One HTTP request and the way to answer it, as an adapter offers both to the core.
 *
 * The core calls exactly one of `send` and `stream`, once. Neither may throw when the client has left.
 */
export interface Incoming extends HttpRequest, HttpFacts {
  /** How often `Host` was sent; more than once is an attack. */
  readonly hostCount: number;
  /** What the runtime itself calls a request, for `authenticate`. */
  readonly native: unknown;
  /** Reads the whole body and calls `done` once; never, if the client leaves before its end. Called at most once. */
  readBody(maxBytes: number, done: (body: Body) => void): void;
  /** Sends a whole reply. The adapter adds `content-length`. */
  send(status: number, headers: HeaderList, body: string | undefined): void;
  /** Begins a reply that stays open. */
  stream(status: number, headers: HeaderList): OutgoingStream;
  /**
   * Calls `turnEnded` of a request that is not settled at the end of this turn of the event loop. Most are settled by
   * then, and never have to be watched. Runtimes that keep each request to its own context call it at once.
   */
  afterTurn(request: AfterTurn): void;
  /** Calls `run` once if the client leaves before the reply has ended; the last `run` given counts. */
  onLeave(run: () => void): void;
}

/** Something to be done at the end of the turn, unless it is settled by then. */
export interface AfterTurn {
  readonly settled: boolean;
  turnEnded(): void;
}

/** A body as text, or why it is none. */
export type Body = { readonly text: string } | BodyRefusal;

interface BodyRefusal {
  readonly status: number;
  readonly code: number;
  readonly reason: string;
}

/** The open body of a reply. After `end`, or after the client left, every method does nothing. */
export interface OutgoingStream {
  /** Returns how many bytes wait for a client that does not read them. */
  write(text: string): number;
  /** Ends the reply; what was written before still leaves if its reader takes it. */
  end(): void;
  /** Ends the reply at once, for a reader that takes nothing. */
  cut(): void;
}

/**
 * The body that a framework has parsed already, as text again: the limits of size and depth must hold on this way in
 * too, and a framework's own limits are not ours to trust.
 */
export function bodyOfValue(value: unknown, maxBytes: number): Body {
  let text: string | undefined;
  try {
    text = typeof value === "string" ? value : JSON.stringify(value);
  } catch {
    // A value nested too deeply for the runtime, or one that is no JSON at all.
  }
  if (text === undefined) return { status: 400, code: INVALID_REQUEST, reason: "the parsed body is no JSON value" };
  // A UTF-16 unit is at least one byte, so that this refuses nothing which would fit.
  if (text.length > maxBytes) {
    return { status: 413, code: INVALID_REQUEST, reason: `the body is longer than ${maxBytes} bytes` };
  }
  return { text };
}
