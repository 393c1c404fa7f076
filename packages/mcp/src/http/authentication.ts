/** The authenticated sender of a request. */
export interface Principal {
  /**
   * The identity of the sender. Two principals are the same if and only if their keys are equal. Must not be empty.
   */
  readonly key: string;
  /** The user or account, for example the `sub` claim of a token. */
  readonly subject?: string | undefined;
  /** The OAuth client that sent the request. */
  readonly clientId?: string | undefined;
  /** The granted scopes. */
  readonly scopes?: readonly string[] | undefined;
  /** Time at which the credentials expire, in milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number | undefined;
  /**
   * Registers `revoked`, which the application must call if the credentials are revoked before they expire. Returns a
   * function that removes `revoked`. Called for each event stream, WebSocket and socket that opens with the
   * credentials. `revoked` closes that connection. Default: connections stay open until `expiresAt`.
   */
  readonly onRevoked?: ((revoked: () => void) => () => void) | undefined;
  /** Further claims about the sender, for handlers. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Information about a sender, available before its message is read. It describes an HTTP request, the opening request
 * of a WebSocket, or a new socket connection. A socket connection has only an address.
 */
export interface AuthenticationRequest {
  /** The HTTP method. Absent on sockets. */
  readonly method?: string | undefined;
  /** Path and query as sent, for example `/mcp?x=1`. Absent on sockets. */
  readonly path?: string | undefined;
  /**
   * Returns the value of a header by its lower-case name. Several values are joined by `, `. Always undefined on
   * sockets.
   */
  header(name: string): string | undefined;
  /**
   * Returns how often a header was sent, by its lower-case name. If the runtime joins repeated headers, counts the
   * values between commas. Absent on sockets.
   */
  readonly headerCount?: ((name: string) => number) | undefined;
  /** Returns all headers by their lower-case names. Empty on sockets. */
  headers(): Record<string, string>;
  /** The IP address of the other end, if the runtime reports it. */
  readonly remoteAddress?: string | undefined;
}

/** A refusal, as HTTP sends it. A socket is closed instead, because it cannot send a refusal. */
export interface AuthenticationRefusal {
  /** The HTTP status of the refusal. */
  status: 400 | 401 | 403 | 429 | 503;
  /** Response headers, for example `WWW-Authenticate`. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** One sentence for the body. It must not repeat a credential. */
  message?: string | undefined;
  /** The reason in one word, for observers of the server. Never sent. */
  reason?: string | undefined;
}

/**
 * The result of `authenticate`: the sender, or a refusal that says how to authenticate. Undefined refuses with 401.
 */
export type Authentication = Principal | AuthenticationRefusal | undefined;

/** A reply that is not a message of the protocol, for example a metadata document or a page. */
export interface ServedDocument {
  /** The HTTP status. */
  readonly status: number;
  /** The response headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The response body. */
  readonly body: string;
}

/**
 * Protects a server: the `auth` option of all functions that serve HTTP. `resourceServer` of `@parley/mcp/auth` creates
 * one.
 */
export interface ServerAuthorization {
  /** The address of the server as clients use it. It is the default of `publicUrl`. */
  readonly resource: string;
  /** The paths that `respond` answers. */
  readonly paths: ReadonlySet<string>;
  /**
   * Identifies the sender of a request before its body is read. Called once per request, concurrently for several
   * requests.
   */
  authenticate(request: AuthenticationRequest, native: unknown): Authentication | Promise<Authentication>;
  /** Returns the response headers for a caller that lacks scopes. */
  challenge(scopes: readonly string[], caller?: Principal): Readonly<Record<string, string>>;
  /**
   * Answers requests for the documents of the authorization itself, without authentication. `body` reads the body of a
   * POST.
   */
  respond(request: AuthenticationRequest, body: () => Promise<string>): ServedDocument | Promise<ServedDocument>;
}
