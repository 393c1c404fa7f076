/** The authenticated sender of a request. */
export interface Principal {
  /** Two principals are the same if and only if their keys are equal. */
  readonly key: string;
  readonly subject?: string | undefined;
  readonly clientId?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** When the credentials expire, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
  /**
   * Registers a function that must be called if the credentials are revoked before they expire, and returns a function that
   * removes it. Called for each event stream, WebSocket and socket that opens with the credentials; these close when the
   * function is called. Default: they stay open until `expiresAt`.
   */
  readonly onRevoked?: ((revoked: () => void) => () => void) | undefined;
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * What is known of a sender before anything it sent is read: an HTTP request, the opening request of a WebSocket, or a new
 * connection of a socket, which has an address and nothing else.
 */
export interface AuthenticationRequest {
  /** The HTTP method; absent on sockets. */
  readonly method?: string | undefined;
  /** Path and query as sent, for example `/mcp?x=1`; absent on sockets. */
  readonly path?: string | undefined;
  /** The value of a header by its lower-case name; several values are joined by `, `. Always undefined on sockets. */
  header(name: string): string | undefined;
  /** How often a header was sent, by its lower-case name, where the transport tells it: some runtimes hide all but the first. */
  readonly headerCount?: ((name: string) => number) | undefined;
  /** Every header by its lower-case name; empty on sockets. */
  headers(): Record<string, string>;
  /** The address of the other end, where the runtime tells it. */
  readonly remoteAddress?: string | undefined;
}

/** A refusal, as the sender of the request is told. A socket has no way to tell: it closes. */
export interface AuthenticationRefusal {
  status: 400 | 401 | 403 | 429 | 503;
  /** For example `WWW-Authenticate`. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** One sentence for the body; it must not repeat a credential. */
  message?: string | undefined;
  /** Why, in one word, for those who observe the server; it is never sent. */
  reason?: string | undefined;
}

/** Who sends a request, or the refusal that tells them how to identify themselves; undefined refuses with 401. */
export type Authentication = Principal | AuthenticationRefusal | undefined;

/** A reply that is no message of the protocol: a metadata document, a page. */
export interface ServedDocument {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Protects a server: the `auth` option of everything that serves over HTTP. `resourceServer` of `@parley/mcp/auth` makes one.
 */
export interface ServerAuthorization {
  /** The address of the server as clients use it; what `publicUrl` is unless it is set. */
  readonly resource: string;
  /** The paths that `respond` answers. */
  readonly paths: ReadonlySet<string>;
  /** Identifies the sender of a request, before its body is read. */
  authenticate(request: AuthenticationRequest, native: unknown): Authentication | Promise<Authentication>;
  /** The headers for a caller that lacks scopes. */
  challenge(scopes: readonly string[], caller?: Principal): Readonly<Record<string, string>>;
  /** Answers requests for documents of the authorization itself, for anybody. `body` reads the body of a POST. */
  respond(request: AuthenticationRequest, body: () => Promise<string>): ServedDocument | Promise<ServedDocument>;
}
