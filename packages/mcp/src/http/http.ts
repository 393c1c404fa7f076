import type { ProtocolHeaders } from "./protocol-headers.js";

/** An HTTP request on the server side, independent of the runtime's own type. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as sent, for example `/mcp?x=1`. */
  readonly path: string;
  /** The value of a header by its lower-case name; several values are joined by `, `. */
  header(name: string): string | undefined;
  /** How often the header was sent; RFC 9112, 3.2: more than one `Host` must be rejected. */
  headerCount(name: string): number;
  /** All headers; built on demand. */
  headers(): Record<string, string>;
  readonly remoteAddress?: string;
}

/** What a handler can read about the HTTP request of its call. */
export interface HttpFacts {
  readonly method: string;
  readonly path: string;
  /** Read once, when the request arrived. */
  readonly protocolHeaders: ProtocolHeaders;
  header(name: string): string | undefined;
  headers(): Record<string, string>;
  readonly remoteAddress?: string;
}

/** An HTTP request on the client side. */
export interface SendRequest {
  method: "GET" | "POST" | "DELETE";
  url: string;
  /** Names and values in turn; every name in lower case, and none twice. */
  headers: readonly string[];
  body?: string;
  /** Not to be sent over a connection that was kept, where the sender can choose: one of them was just lost. */
  newConnection?: boolean | undefined;
  /**
   * Called with each IP address that the host resolves to, before a connection is made; one refusal fails the request. Not called
   * for hosts that are addresses, nor where the runtime does not tell.
   */
  admits?: ((address: string) => boolean) | undefined;
  /**
   * Called when the request has to wait for a user, such as a login, before it can be sent; the returned function is called when it
   * no longer does. Deadlines of the request do not count in between.
   */
  onUserWait?: (() => () => void) | undefined;
}

/** An HTTP response on the client side; the body can be read once, with `text` or `chunks`. */
export interface SendResponse {
  readonly status: number;
  /** The value of a header; several values are joined by `, `. */
  header(name: string): string | undefined;
  /** All headers, by lower-case name; absent where the sender does not tell. */
  headers?(): Record<string, string>;
  /** The whole body as text. Rejects if it is longer than `maxBytes`. */
  text(maxBytes: number): Promise<string>;
  /** The body as it arrives. Ends with the body, throws if the connection breaks. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Discards the rest of the body. */
  cancel(): void;
}

/** Cancels one request: waiting for its response or reading its body fails with `reason`. Does nothing after both. */
export type CancelRequest = (reason: Error) => void;

/**
 * Sends one HTTP request and later calls exactly one of the two functions: `onResponse` when a response begins, `onError`
 * if there is none. Never throws, never follows a redirect.
 *
 * Reading the body inside `onResponse` costs least. The returned function cancels the request; a plain function, because
 * an `AbortSignal` for each request costs 30 µs on Node.
 */
export type Sender = (
  request: SendRequest,
  onResponse: (response: SendResponse) => void,
  onError: (error: unknown) => void,
) => CancelRequest;

/** The form of a text with metrics: the one that every Prometheus reads, or OpenMetrics 1.0. */
export type MetricsFormat = "prometheus" | "openmetrics";

/** What an HTTP server shows at its path for metrics. */
export interface MetricsSource {
  /** All metrics as text. Default: `prometheus`. */
  text(format?: MetricsFormat): string;
  /**
   * Adds a value that is read for each text; several of one name are added up. Returns a function that removes it. Throws for
   * names that Prometheus does not take.
   */
  gauge(name: string, help: string, read: () => number): () => void;
}

/** The media type of each form. */
export const METRICS_TYPES: Readonly<Record<MetricsFormat, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};
