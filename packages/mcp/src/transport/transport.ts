import type { MaybePromise } from "../encoding/maybe-promise.js";
import type { Accepted } from "../era/era.js";
import type { Session } from "../era/session.js";
import type { AuthenticationRefusal, Principal } from "../http/authentication.js";
import type { HttpFacts } from "../http/http.js";
import type { Id, NotificationMessage, RequestMessage } from "../jsonrpc/message.js";
import type { Revision } from "../protocol/revisions.js";
import type { Storage } from "../storage/storage.js";

/**
 * The interface of a server to transports. Created once per server; called concurrently for any number of peers.
 * No method throws, and `request` never rejects: rejections and failures are answers too.
 */
export interface Endpoint {
  /** The server's name, which keeps apart what several servers have in one storage. */
  readonly name?: string | undefined;
  /** The supported revisions, all if absent; a transport has sessions only if one of them does. */
  readonly revisions?: readonly Revision[] | undefined;
  /** Where a transport keeps state that outlives a connection or is shared with other processes; its own memory if absent. */
  readonly storage?: Storage | undefined;
  /** True if something of the program must end with a peer or with the server; a process then does not end before it. */
  readonly endsObjects?: boolean | undefined;
  /** Closes the server, as its own `close` does, before the process ends; absent if that is not possible. */
  close?(): Promise<void>;
  /** Whether nothing that is offered now needs a session; not known if absent. */
  sessionless?(): boolean;
  /** Decides which era serves a message, and what that means for the transport; `http` is the request that contained it. */
  accept<M extends RequestMessage | NotificationMessage>(message: M, http?: HttpFacts): Accepted<M>;
  /** Serves what `accept` returned. */
  request(accepted: Accepted, exchange: Exchange): Answer | Promise<Answer>;
  /** `peer` is absent if every request is independent. */
  notification(message: NotificationMessage, peer?: Peer): void;
  /** A peer can now receive messages that belong to no request. */
  opened(peer: Peer): void;
  /** The peer is gone: its pipe ended, or its session ended or expired. Called once per opened peer. */
  closed(peer: Peer): void;
  /**
   * The session of an opened peer was changed by another process; `missed`: messages of other processes may have been lost since
   * the change. Resolves when the change is effective here.
   */
  sessionChanged?(peer: Peer, missed: boolean): void | Promise<void>;
  /** Calls `act` once when the server is closed; absent if that is not known. */
  onClosed?(act: () => void): void;
  /** Where sessions take their places; absent if they are not limited by the server. */
  readonly sessionPlaces?: SessionQuota | undefined;
  /** Takes a place for a stream that belongs to no request; absent if they are not limited by the server. */
  takeStream?(from: Caller): MaybePromise<StreamPlace | Answer>;
  /** Tells observers that `authenticate` refused the sender of a request or connection. */
  senderRefused?(refusal: AuthenticationRefusal): void;
}

/** Who sends a request. */
type Caller = Pick<Exchange, "principal" | "peer" | "http">;

/** Frees the place of a stream; the second time it does nothing. */
type StreamPlace = () => void;

/** A session that has or wants a place. */
export interface PlacedSession {
  readonly id: string;
  /** How long the storage keeps it without activity. */
  readonly lifeMs: number;
  /** Whether there is a session with this id. */
  exists(id: string): MaybePromise<boolean>;
}

/** The places of sessions, on all nodes that may serve them. */
export interface SessionQuota {
  /** Takes a place before the handshake, and gives its name; or the answer that refuses the handshake `request`. */
  take(from: Caller, session: PlacedSession, request: Id): Promise<{ readonly place: string } | Answer>;
  /** The session was active. */
  keep(place: string, lifeMs: number): MaybePromise<unknown>;
  /** The session has ended, or was not opened. */
  free(place: string, session: Omit<PlacedSession, "exists">): MaybePromise<unknown>;
}

/** One request and the messages about it until its answer. */
export interface Exchange {
  readonly id: Id;
  /** Aborted when the peer cancels or, if that means the same, disconnects. */
  readonly signal: AbortSignal;
  readonly peer?: Peer | undefined;
  readonly http?: HttpFacts | undefined;
  readonly principal?: Principal | undefined;
  /** True if the other end may be a stranger, where neither `http` nor `peer` tells it. */
  readonly remote?: boolean | undefined;
  /** True if the request was part of a batch. */
  readonly batched?: boolean | undefined;
  /** Sends a notification that belongs to this request, in order, before its answer. Dropped after the answer. */
  send(text: string): void;
  /**
   * Sends a request to the client on this exchange's own stream. Absent if the client cannot be asked. When `signal`
   * aborts, the transport must free what it keeps for the answer and drop a late one.
   */
  ask?(request: Outgoing, signal?: AbortSignal): Promise<unknown>;
  /** Closes the connection of a resumable stream; the client reconnects after `retryMs`. */
  pause?(retryMs: number): void;
}

/**
 * Why a peer is gone: its client `left` or deleted its session; the session or the credentials `expired`; the server or its
 * transport was `closed`; a request without a session was `answered`; or what a handler gave as its reason to end it.
 */
export type EndReason = "left" | "expired" | "closed" | "answered" | (string & {});

/** The other end of one pipe or of one HTTP session. */
export interface Peer {
  /** The id of an HTTP session. */
  readonly id?: string | undefined;
  readonly network?: NetworkFacts | undefined;
  /** Default `channel`. */
  readonly transport?: "http" | "channel" | undefined;
  /** Absent until the stateful handshake; the endpoint sets it through `Answer.session`. */
  session?: Session | undefined;
  readonly principal?: Principal | undefined;
  /** True if the other end may be a stranger on another machine; always assumed of one with a principal. */
  readonly remote?: boolean | undefined;
  /** Must be called after changing `session` in place, so that the transport stores it; a promise of false if it cannot. */
  sessionChanged?(): unknown;
  /** Ends the request with this id without an answer, if it is in flight. */
  abort(id: Id, reason?: unknown): boolean;
  /** Sends a text that belongs to no request. */
  send(text: string): void;
  /** Sends a request that belongs to no request of the client. */
  ask(request: Outgoing): Promise<unknown>;
  /** Calls `act` once when the peer is gone, at once if it is already. `act` neither throws nor rejects; closing waits for it. */
  onEnded?(act: (reason: EndReason) => void | Promise<void>): void;
  /** Ends the session or the connection; after the request with this id is answered, if one is given. */
  end?(reason: EndReason, after?: Id): void;
}

/** The answer of one exchange as text, which transports do not parse. */
export interface Answer {
  text: string;
  /** The HTTP status, for transports that have one; default 200. */
  status?: number | undefined;
  /** Set if the handshake succeeded; the transport keeps it as the peer's session. */
  session?: Session | undefined;
  /** To be called once when that session ends, if the exchange has no peer. Neither throws nor rejects. */
  sessionEnded?: ((reason: EndReason) => void | Promise<void>) | undefined;
  /** Milliseconds after which a refused caller may call again; over HTTP it becomes `Retry-After`. */
  retryAfterMs?: number | undefined;
  /** Scopes that the caller lacks; a transport with authorization converts them to a challenge. */
  scopes?: string[] | undefined;
}

/** An outgoing message. */
export interface Outgoing {
  text: string;
  /** Present for requests. */
  id?: Id | undefined;
  method: string;
  /** What HTTP repeats in headers; other transports ignore it. */
  headers?: Record<string, string> | undefined;
  /** True if the call was sent before and its connection was lost. */
  resent?: boolean | undefined;
}

/**
 * The connection of a client to one server. `open` is called first, `close` last.
 *
 * `request` settles exactly once: with the `result` of the answer, with an `RpcError` that the server sent, or with an
 * `McpError` of kind `connection_closed`, `transport_error`, `session_lost`, … for a failure of the transport. Messages
 * that the server sends before the answer reach the receiver before `request` settles.
 */
export interface Transport {
  /** `http` transports have headers, and closing a stream cancels a stateless request. */
  readonly kind: "channel" | "http";
  /** The server's address for error messages, without anything that could be a secret. */
  readonly target: string;
  readonly network?: NetworkFacts | undefined;
  /** The id of the session that the server has opened, if any. */
  readonly sessionId?: string | undefined;
  /** Whether the server has opened a session; absent where there are none: on channels, and before the handshake. */
  readonly hasSession?: boolean | undefined;
  open(receiver: Receiver): void | Promise<void>;
  request(request: Outgoing & { id: Id }): Promise<unknown>;
  /** Resolves when the message is sent. */
  notify(notification: Outgoing): void | Promise<void>;
  /** Stops waiting for the answer; `request` rejects with `reason`. */
  abandon(id: Id, reason: Error): void;
  /** The handshake is complete. `headers` are sent with every later request; `hasSessions` allows a session and a GET stream. */
  established?(facts: { headers: Record<string, string>; hasSessions: boolean }): void;
  /** Discards the server's session before a new handshake. */
  reset?(): void;
  /** Explains a handshake that failed or timed out, with what the transport has observed. */
  explain?(cause: unknown): Error;
  /** Ends the connection and rejects everything pending; settles within a bounded time. */
  close(): Promise<void>;
}

/** The interface of a client to its transport. No method may throw. */
export interface Receiver {
  /**
   * A request of the server. Resolves with the text of the answer, empty if none may be sent; never rejects. `about` is the
   * request on whose stream it arrived, if the transport knows.
   */
  request(message: RequestMessage, about?: Id): Promise<string>;
  /** `about` is the request on whose stream it arrived, if the transport knows. */
  notification(message: NotificationMessage, about?: Id): void;
  /** A result that nothing waits for: the request with this id was abandoned, or never sent. */
  late?(id: Id, result: unknown): void;
  /** Input that is not a message: garbage on stdout, an event that is not JSON. */
  fault(error: Error): void;
  /** Messages that belong to no request may have been lost: their stream broke and could not be resumed. */
  missed?(): void;
  /**
   * A message has to wait for a user, such as a login, before it can be sent; `about` is the request, absent for other messages.
   * The returned function is called when it no longer waits; deadlines do not count in between.
   */
  userWait?(about?: Id): () => void;
  /** The connection ended by itself. Called at most once, and not after `close`. */
  closed(reason?: Error): void;
}

/** How messages travel, in the words of OpenTelemetry. */
export interface NetworkFacts {
  readonly transport?: "tcp" | "pipe" | "unix" | undefined;
  readonly protocol?: "http" | "websocket" | undefined;
  /** The other end, as a client knows it. */
  readonly address?: string | undefined;
  readonly port?: number | undefined;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "ws:": 80, "https:": 443, "wss:": 443 };

/** How messages travel to a URL. */
export function networkOf(url: string, protocol: NetworkFacts["protocol"]): NetworkFacts {
  const { hostname, port, protocol: scheme } = new URL(url);
  return { transport: "tcp", protocol, address: hostname, port: port === "" ? DEFAULT_PORTS[scheme] : Number(port) };
}
