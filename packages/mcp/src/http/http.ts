import type { ProtocolHeaders } from "./protocol-headers.js";

/**
 * An HTTP request on the server side, independent of the runtime's own type. Created by an adapter for each request.
 */
export interface HttpRequest {
  /** The HTTP method. */
  readonly method: string;
  /** Path and query as sent, for example `/mcp?x=1`. */
  readonly path: string;
  /** Returns the value of a header by its lower-case name. Several values are joined by `, `. */
  header(name: string): string | undefined;
  /** Returns how often a header was sent. RFC 9112, 3.2: more than one `Host` must be rejected. */
  headerCount(name: string): number;
  /** Returns all headers by their lower-case names. Built on each call. */
  headers(): Record<string, string>;
  /** The IP address of the client, if the runtime reports it. */
  readonly remoteAddress?: string;
}

/** The HTTP request of a call, as handlers can read it. */
export interface HttpRequestInfo {
  /** The HTTP method. */
  readonly method: string;
  /** Path and query as sent, for example `/mcp?x=1`. */
  readonly path: string;
  /** The headers that the protocol uses, read once when the request arrived. */
  readonly protocolHeaders: ProtocolHeaders;
  /** Returns the value of a header by its lower-case name. Several values are joined by `, `. */
  header(name: string): string | undefined;
  /** Returns all headers by their lower-case names. Built on each call. */
  headers(): Record<string, string>;
  /** The IP address of the client, if the runtime reports it. */
  readonly remoteAddress?: string;
}

/** An HTTP request on the client side. */
export interface SendRequest {
  /** The HTTP method. */
  method: "GET" | "POST" | "DELETE";
  /** The absolute address. */
  url: string;
  /** Names and values, alternating. Every name is in lower case and occurs once. */
  headers: readonly string[];
  /** The body of a POST, as text. */
  body?: string;
  /**
   * True if the request must use a new connection, because a pooled connection just broke. Ignored by senders that
   * cannot choose the connection.
   */
  newConnection?: boolean | undefined;
  /**
   * Called with each IP address that the host name resolves to, before a connection is opened. If it returns false for
   * any address, the request fails. Not called for hosts that are IP addresses, nor in runtimes that do not report
   * addresses.
   */
  admits?: ((address: string) => boolean) | undefined;
  /**
   * Called when the request must wait for the user, for example for a login, before it can be sent. The sender calls
   * the returned function when the wait ends. Deadlines of the request are paused in between.
   */
  onUserWait?: (() => () => void) | undefined;
}

/** An HTTP response on the client side. The body can be read once, with `text` or `chunks`. */
export interface SendResponse {
  /** The HTTP status. Browsers report 0 for a redirect. */
  readonly status: number;
  /** Returns the value of a header. Several values are joined by `, `. */
  header(name: string): string | undefined;
  /** Returns all headers by their lower-case names. Absent if the sender does not report them. */
  headers?(): Record<string, string>;
  /** Reads the whole body as text. Rejects if the body is longer than `maxBytes`. */
  text(maxBytes: number): Promise<string>;
  /** Reads the body as it arrives. The iteration ends with the body, and throws if the connection breaks. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Discards the rest of the body. */
  cancel(): void;
}

/**
 * Cancels one request: its response, or the reading of its body, fails with `reason`. Does nothing after the body has
 * ended.
 */
export type CancelRequest = (reason: Error) => void;

/**
 * Sends one HTTP request, then calls exactly one of the two functions once: `onResponse` when a response begins, or
 * `onError` if there is no response. Never throws, and never follows a redirect. Called concurrently.
 *
 * Reading the body is cheapest inside `onResponse`. The returned function cancels the request. It is a plain
 * function, because an `AbortSignal` for each request costs 30 µs on Node.
 */
export type Sender = (
  request: SendRequest,
  onResponse: (response: SendResponse) => void,
  onError: (error: unknown) => void,
) => CancelRequest;

/** The format of metrics: the Prometheus text format, or OpenMetrics 1.0. */
export type MetricsFormat = "prometheus" | "openmetrics";

/** The metrics that an HTTP server serves at its metrics path. */
export interface MetricsSource {
  /** Returns all metrics as text. Default format: `prometheus`. */
  text(format?: MetricsFormat): string;
  /**
   * Adds a gauge whose value `read` returns each time the metrics are written. Gauges of the same name are summed.
   * Returns a function that removes the gauge. Throws for a name that Prometheus does not allow.
   */
  gauge(name: string, help: string, read: () => number): () => void;
}

/** The media type of each format. */
export const METRICS_TYPES: Readonly<Record<MetricsFormat, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};
