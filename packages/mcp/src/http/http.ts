/** An HTTP request as the server side sees it, whatever the runtime calls its own. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as sent, for example `/mcp?x=1`. */
  readonly path: string;
  /** The value of a header by its lower-case name; several values are joined by `, `. */
  header(name: string): string | undefined;
  /** How often the header was sent; more than one `Host` is an attack. */
  headerCount(name: string): number;
  /** Every header, for handlers that ask; built on demand. */
  headers(): Record<string, string>;
  readonly remoteAddress?: string;
}

/** What a handler may know of the HTTP request that carries its call. */
export interface HttpFacts {
  readonly method: string;
  readonly path: string;
  header(name: string): string | undefined;
  headers(): Record<string, string>;
  readonly remoteAddress?: string;
}

/** A request as the client side sends it. */
export interface SendRequest {
  method: "GET" | "POST" | "DELETE";
  url: string;
  /** Names and values in turn; every name in lower case, and none twice. */
  headers: readonly string[];
  body?: string;
}

/** A response as the client side receives it; the body is read once, by `text` or by `chunks`. */
export interface SendResponse {
  readonly status: number;
  /** The value of a header; several values are joined by `, `. */
  header(name: string): string | undefined;
  /** The whole body as text. Rejects when it is longer than `maxBytes`. */
  text(maxBytes: number): Promise<string>;
  /** The body as it arrives. Ends when the body ends, throws when the connection breaks. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Drops the rest of the body. */
  cancel(): void;
}

/** Ends one request: its wait for a response or the reading of its body fails with `reason`. Does nothing once both are over. */
export type CancelRequest = (reason: Error) => void;

/**
 * Sends one HTTP request and calls, after it has returned, exactly one of the two functions: `onResponse` when a response
 * began, `onError` when none came. Never throws, never follows a redirect.
 *
 * A body whose reading begins inside `onResponse` costs least. What comes back cancels the request: a plain function, because
 * an `AbortSignal` for each request costs 30 µs on Node.
 */
export type Sender = (
  request: SendRequest,
  onResponse: (response: SendResponse) => void,
  onError: (error: unknown) => void,
) => CancelRequest;
