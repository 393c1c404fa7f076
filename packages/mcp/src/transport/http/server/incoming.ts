import type { HttpRequest } from "../../../http/http.js";

/** Header names and values in turn: the form that costs least in every runtime. */
export type HeaderList = readonly string[];

/**
 * One HTTP request and the way to answer it, as an adapter offers both to the core.
 *
 * The core calls exactly one of `send` and `stream`, once. Neither may throw when the client has left.
 */
export interface Incoming extends HttpRequest {
  /** What the runtime itself calls a request, for `authenticate`. */
  readonly native: unknown;
  /** Reads the whole body and calls `done` once; never, if the client leaves before its end. Called at most once. */
  readBody(maxBytes: number, done: (body: Body) => void): void;
  /** Sends a whole reply. The adapter adds `content-length`. */
  send(status: number, headers: HeaderList, body: string | undefined): void;
  /** Begins a reply that stays open. */
  stream(status: number, headers: HeaderList): OutgoingStream;
  /** Calls `run` once if the client leaves before the reply has ended; the last `run` given counts. */
  onLeave(run: () => void): void;
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
