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
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** A response as the client side receives it; the body is read once, by `text` or by `chunks`. */
export interface SendResponse {
  readonly status: number;
  header(name: string): string | undefined;
  /** The whole body as text. Rejects when it is longer than `maxBytes`. */
  text(maxBytes: number): Promise<string>;
  /** The body as it arrives. Ends when the body ends, throws when the connection breaks. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Drops the rest of the body. */
  cancel(): void;
}

/** Sends one HTTP request. Rejects only when no response came. Never follows a redirect. */
export type Sender = (request: SendRequest) => Promise<SendResponse>;
