import type { MaybePromise } from "../encoding/maybe-promise.js";
import type { Accepted } from "../era/era.js";
import type { Session } from "../era/session.js";
import type { AuthenticationRefusal, Principal } from "../http/authentication.js";
import type { HttpRequestInfo } from "../http/http.js";
import type { Id, NotificationMessage, RequestMessage } from "../jsonrpc/message.js";
import type { Implementation } from "../protocol/implementation.js";
import type { Revision } from "../protocol/revisions.js";
import type { Storage } from "../storage/storage.js";

/**
 * The interface of a server to its transports. A transport gets it from `server.endpoint()` and calls it. There is one
 * endpoint per server. Its methods may be called concurrently, for any number of peers and transports.
 *
 * Each request is passed to `accept` and then to `request`, each notification to `notification`. A peer is announced by
 * `opened` and ends with `closed`; independent requests have no peer.
 *
 * No method throws, and `request` never rejects: refusals and failures are answers. The exception is `opened`, which
 * throws an `McpError` of kind `misuse` for a peer without `send`.
 */
export interface Endpoint {
  /** The server's name. It separates the records of several servers that share one storage. */
  readonly name?: string | undefined;
  /**
   * The name, version and description that the server reports to every client. Transports show them to people. Absent:
   * unknown.
   */
  readonly info?: Implementation | undefined;
  /** The supported revisions. Absent: all revisions. A transport offers sessions only if one of them has sessions. */
  readonly revisions?: readonly Revision[] | undefined;
  /**
   * The store for state that outlives a connection or is shared with other processes. Absent: the transport uses its
   * own memory.
   */
  readonly storage?: Storage | undefined;
  /**
   * True if objects of the application must be terminated when their peer ends or the server closes. A process then
   * waits for their termination before it exits.
   */
  readonly endsObjects?: boolean | undefined;
  /**
   * Closes the server, like `server.close()`, before the process exits. Absent if the endpoint cannot close its server.
   */
  close?(): Promise<void>;
  /** Returns true if no current tool, resource or prompt needs a session. Absent: unknown. */
  sessionless?(): boolean;
  /**
   * Decides which era of the protocol serves a message, and returns what the transport must know about it, such as
   * whether the request opens a session. Call it once per message, before `request`. `http` is the HTTP request that
   * contained the message.
   */
  accept<M extends RequestMessage | NotificationMessage>(message: M, http?: HttpRequestInfo): Accepted<M>;
  /**
   * Serves an accepted request and resolves with its answer. Call it once for each result of `accept`. The transport
   * drops the answer if the request was aborted meanwhile.
   */
  request(accepted: Accepted, exchange: Exchange): Answer | Promise<Answer>;
  /**
   * Handles a notification of the client. `peer` is absent if the transport has no sessions and every request is
   * independent.
   */
  notification(message: NotificationMessage, peer?: Peer): void;
  /**
   * Announces a peer that can now receive messages outside a request. Call it once per peer: when its pipe is open, or
   * when its handshake has opened a session.
   */
  opened(peer: Peer): void;
  /**
   * Announces the end of a peer: its pipe closed, or its session ended or expired. Call it exactly once per opened
   * peer.
   */
  closed(peer: Peer): void;
  /**
   * Announces that another process changed the session of an opened peer. `missed` is true if messages of other
   * processes may have been lost since the change. Resolves when the change is effective in this process.
   */
  sessionChanged?(peer: Peer, missed: boolean): void | Promise<void>;
  /**
   * Registers a function that the server calls once, when it is closed. Absent if the server does not report its end.
   */
  onClosed?(act: () => void): void;
  /** The limit on sessions, for all nodes that serve them. Absent: the server does not limit sessions. */
  readonly sessionPlaces?: SessionQuota | undefined;
  /**
   * Acquires a place for a stream that belongs to no request, or returns the answer that refuses it. Call it before
   * opening the stream. Absent: the server does not limit such streams.
   */
  takeStream?(from: Caller): MaybePromise<StreamPlace | Answer>;
  /** Reports to the server's observers that `authenticate` refused the sender of a request or connection. */
  senderRefused?(refusal: AuthenticationRefusal): void;
}

/** The sender of a request. */
type Caller = Pick<Exchange, "principal" | "peer" | "http">;

/** Releases the place of a stream. Further calls do nothing. */
type StreamPlace = () => void;

/** A session that holds or requests a place. */
export interface PlacedSession {
  /** The session id. */
  readonly id: string;
  /** Time after which the storage drops the session if it stays idle, in milliseconds. */
  readonly lifeMs: number;
  /** Returns true if a session with this id exists. */
  exists(id: string): MaybePromise<boolean>;
}

/**
 * Limits the number of sessions over all nodes that may serve them. The transport calls it; calls may be concurrent.
 */
export interface SessionQuota {
  /**
   * Acquires a place before the handshake and returns its name, or the answer that refuses the handshake. `request` is
   * the id of that handshake request.
   */
  take(from: Caller, session: PlacedSession, request: Id): Promise<{ readonly place: string } | Answer>;
  /** Extends a place because its session was active. `lifeMs` is the new time to live, in milliseconds. */
  keep(place: string, lifeMs: number): MaybePromise<unknown>;
  /** Releases a place: its session has ended or was not opened. Call it once per acquired place. */
  free(place: string, session: Omit<PlacedSession, "exists">): MaybePromise<unknown>;
}

/**
 * One request of the client, from its arrival to its answer. The transport implements it, one object per request; the
 * server calls its methods, possibly concurrently, until the answer.
 */
export interface Exchange {
  /** The id of the request. */
  readonly id: Id;
  /** Aborts when the client cancels the request. Also aborts on a disconnect, if a disconnect cancels requests. */
  readonly signal: AbortSignal;
  /** The peer that sent the request. Absent if the transport has no sessions and every request is independent. */
  readonly peer?: Peer | undefined;
  /** The HTTP request that contained the message. Absent on other transports. */
  readonly http?: HttpRequestInfo | undefined;
  /** The authenticated sender. Absent if the transport does not authenticate. */
  readonly principal?: Principal | undefined;
  /**
   * True if the client may be untrusted and neither `http` nor `peer` shows that. The server then hides the text of
   * unexpected errors.
   */
  readonly remote?: boolean | undefined;
  /** True if the request arrived in a batch. */
  readonly batched?: boolean | undefined;
  /**
   * Sends a notification that belongs to this request, as JSON text. Notifications are sent in the order of the calls,
   * and before the answer. Drops the text after the answer. Must not throw.
   */
  send(text: string): void;
  /**
   * Sends a request of the server to the client on the stream of this exchange, and resolves with the client's result.
   * Absent if the client cannot receive requests. When `signal` aborts, the promise rejects with its reason, and the
   * transport drops an answer that arrives later.
   */
  ask?(request: Outgoing, signal?: AbortSignal): Promise<unknown>;
  /**
   * Closes the connection of a resumable stream. The client reconnects after `retryMs` milliseconds. Absent if the
   * stream cannot be resumed.
   */
  pause?(retryMs: number): void;
}

/**
 * The reason why a peer ended. `left`: the client disconnected or deleted its session. `expired`: the session or the
 * credentials expired. `closed`: the server or its transport was closed. `answered`: a request without a session was
 * answered. Any other text is the reason that a handler passed to end the session.
 */
export type EndReason = "left" | "expired" | "closed" | "answered" | (string & {});

/**
 * The other end of one pipe or one HTTP session. The transport implements it, one object per connection or session, and
 * passes it to `Endpoint.opened`. The server calls its methods at any time until the peer ends, possibly concurrently.
 */
export interface Peer {
  /** The id of the HTTP session. Absent on channels. */
  readonly id?: string | undefined;
  /** Network attributes of the connection, for telemetry. Absent: unknown. */
  readonly network?: NetworkInfo | undefined;
  /** The kind of transport. Default: `channel`. */
  readonly transport?: "http" | "channel" | undefined;
  /**
   * State of the stateful handshake. Absent before it. The transport stores `Answer.session` here when the handshake
   * succeeds.
   */
  session?: Session | undefined;
  /** The authenticated client. Absent if the transport does not authenticate. */
  readonly principal?: Principal | undefined;
  /**
   * True if the client may be an untrusted program on another machine. A peer with a principal always counts as
   * untrusted.
   */
  readonly remote?: boolean | undefined;
  /**
   * Stores the session. The server calls it after each change of `session` in place. Returns a promise of false if the
   * transport cannot store the session. Absent if there is nothing to store.
   */
  sessionChanged?(): unknown;
  /**
   * Aborts the request with this id. An aborted request gets no answer. Returns false if no such request is in flight.
   */
  abort(id: Id, reason?: unknown): boolean;
  /**
   * Sends a notification that belongs to no request, as JSON text. Must not throw; does nothing after the peer has
   * ended.
   */
  send(text: string): void;
  /**
   * Sends a request of the server outside any request of the client, and resolves with the client's result. Rejects
   * when the peer ends.
   */
  ask(request: Outgoing): Promise<unknown>;
  /**
   * Registers a function that the transport calls once, when the peer ends, or at once if the peer has already ended.
   * `act` neither throws nor rejects; closing waits for its promise.
   */
  onEnded?(act: (reason: EndReason) => void | Promise<void>): void;
  /** Ends the session or the connection. If `after` is set, waits until the request with that id is answered. */
  end?(reason: EndReason, after?: Id): void;
}

/** The answer to one request. Transports send its text without parsing it. */
export interface Answer {
  /** The JSON-RPC response as JSON text. */
  text: string;
  /** The HTTP status, for transports that have one. Default: 200. */
  status?: number | undefined;
  /** Set if a handshake succeeded. The transport stores it as the session of the peer. */
  session?: Session | undefined;
  /** The transport calls it once, when `session` ends, if the exchange has no peer. Neither throws nor rejects. */
  sessionEnded?: ((reason: EndReason) => void | Promise<void>) | undefined;
  /** Time after which a refused caller may retry, in milliseconds. HTTP sends it as `Retry-After`. */
  retryAfterMs?: number | undefined;
  /** The scopes that the caller lacks. A transport with authorization sends them in a challenge. */
  scopes?: string[] | undefined;
}

/** An outgoing message. */
export interface Outgoing {
  /** The whole message as JSON text. */
  text: string;
  /** The request id. Present for requests only. */
  id?: Id | undefined;
  /** The method of the message. */
  method: string;
  /** Values that HTTP repeats in headers. Other transports ignore them. */
  headers?: Record<string, string> | undefined;
  /** True if the request was sent before and its connection was lost. */
  resent?: boolean | undefined;
}

/**
 * The connection of a client to one server. The client calls it: `open` first, `close` last. In between,
 * `request`, `notify` and `abandon` may be called concurrently.
 *
 * `request` settles exactly once: with the `result` of the response, with the `RpcError` that the server sent, or
 * with an `McpError` of kind `connection_closed`, `transport_error`, `session_lost`, … if the transport fails.
 * Messages that the server sends before the response reach the receiver before `request` settles.
 */
export interface Transport {
  /** The kind of transport. `http` transports send headers, and closing a stream cancels a stateless request. */
  readonly kind: "channel" | "http";
  /** The address of the server for error messages, without credentials. */
  readonly target: string;
  /** Network attributes of the connection, for telemetry. Absent: unknown. */
  readonly network?: NetworkInfo | undefined;
  /** The id of the session that the server has opened, if any. */
  readonly sessionId?: string | undefined;
  /** True if the server has opened a session. Absent on channels, and before the handshake. */
  readonly hasSession?: boolean | undefined;
  /**
   * Opens the connection and delivers all messages of the server to `receiver`. Rejects if the server cannot be
   * reached.
   */
  open(receiver: Receiver): void | Promise<void>;
  /** Sends a request and waits for its result. Settles as described for `Transport`. */
  request(request: Outgoing & { id: Id }): Promise<unknown>;
  /** Sends a notification. Resolves when it is sent. */
  notify(notification: Outgoing): void | Promise<void>;
  /**
   * Stops waiting for the response to a request. Its promise rejects with `reason`. Does nothing if no such request is
   * pending.
   */
  abandon(id: Id, reason: Error): void;
  /**
   * Called after each handshake. `headers` are sent with every later request. If `hasSessions` is true, the transport
   * may use a session and open a GET stream.
   */
  established?(handshake: { headers: Record<string, string>; hasSessions: boolean }): void;
  /** Discards the session that the server opened, before a new handshake. */
  reset?(): void;
  /**
   * Converts the failure of a handshake to an error that includes observations of the transport, such as output on
   * stderr.
   */
  explain?(cause: unknown): Error;
  /** Closes the connection and rejects all pending requests. Settles within a bounded time. */
  close(): Promise<void>;
}

/** The interface of a client to its transport. The transport calls it. No method throws. */
export interface Receiver {
  /**
   * Handles a request of the server. Resolves with the response as JSON text, or with an empty text if no response must
   * be sent. Never rejects. `about` is the id of the request on whose stream the message arrived, if the transport
   * knows it.
   */
  request(message: RequestMessage, about?: Id): Promise<string>;
  /**
   * Handles a notification of the server. `about` is the id of the request on whose stream the notification arrived, if
   * the transport knows it.
   */
  notification(message: NotificationMessage, about?: Id): void;
  /** Reports a result that no request waits for: the request with this id was abandoned or never sent. */
  late?(id: Id, result: unknown): void;
  /** Reports input that is not a message, such as log lines on stdout or an event that is not JSON. */
  fault(error: Error): void;
  /**
   * Reports that messages outside a request may have been lost, because their stream broke and could not be resumed.
   */
  missed?(): void;
  /**
   * Reports that a message must wait for the user, for example for a login, before it can be sent. `about` is the id of
   * the message if it is a request, otherwise absent. The transport calls the returned function when the wait ends.
   * Deadlines are paused in between.
   */
  userWait?(about?: Id): () => void;
  /** Reports that the connection ended without `close`. Called at most once, and not after `close`. */
  closed(reason?: Error): void;
}

/** Network attributes of a connection, with the names of OpenTelemetry. */
export interface NetworkInfo {
  /** The transport protocol (`network.transport`). */
  readonly transport?: "tcp" | "pipe" | "unix" | undefined;
  /** The application protocol (`network.protocol.name`). */
  readonly protocol?: "http" | "websocket" | undefined;
  /** The address of the other end, as the client knows it. */
  readonly address?: string | undefined;
  /** The port of the other end. Absent for pipes and Unix sockets. */
  readonly port?: number | undefined;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "ws:": 80, "https:": 443, "wss:": 443 };

/** Returns the network attributes of a connection to a URL. */
export function networkOf(url: string, protocol: NetworkInfo["protocol"]): NetworkInfo {
  const { hostname, port, protocol: scheme } = new URL(url);
  return { transport: "tcp", protocol, address: hostname, port: port === "" ? DEFAULT_PORTS[scheme] : Number(port) };
}
