import type { Accepted } from "../era/era.js";
import type { Session } from "../era/session.js";
import type { HttpFacts } from "../http/http.js";
import type { Id, NotificationMessage, RequestMessage } from "../jsonrpc/message.js";
import type { Revision } from "../protocol/revisions.js";
import type { Storage } from "../storage/storage.js";

/**
 * All that a transport knows of a server. Built once per server; called concurrently for any number of peers.
 * No method throws, and `request` never rejects: refusals and failures are answers too.
 */
export interface Endpoint {
  /** The revisions that it speaks; a transport offers sessions only where one of them has any. All when absent. */
  readonly revisions?: readonly Revision[];
  /** Where a transport keeps what must outlive a connection, or be seen by other processes. Memory of its own when absent. */
  readonly storage?: Storage | undefined;
  /** Decides which era serves a message, and says what that means for a transport; `http` is the request that carried it. */
  accept<M extends RequestMessage | NotificationMessage>(message: M, http?: HttpFacts): Accepted<M>;
  /** Serves what `accept` returned. */
  request(accepted: Accepted, exchange: Exchange): Answer | Promise<Answer>;
  /** `peer` is absent where every request stands alone. */
  notification(message: NotificationMessage, peer?: Peer): void;
  /** A peer became reachable for messages that belong to no request. */
  opened(peer: Peer): void;
  /** The peer is gone for good: its pipe ended, or its session was ended or expired. Called once per opened peer. */
  closed(peer: Peer): void;
}

/** One request and what may be said about it until its answer. */
export interface Exchange {
  readonly id: Id;
  /** Aborted when the peer cancels or, where that means the same, is gone. */
  readonly signal: AbortSignal;
  readonly peer?: Peer | undefined;
  readonly http?: HttpFacts | undefined;
  readonly principal?: Principal | undefined;
  /** True when the request came inside an array of messages. */
  readonly batched?: boolean;
  /** Sends a notification that belongs to this request, in order, before its answer. Dropped after the answer. */
  say(text: string): void;
  /**
   * Sends a request to the client on this exchange's own stream. Absent where the client cannot be asked. Once `signal`
   * aborts nobody waits any more: what is kept for the answer is to be let go, and a late answer dropped.
   */
  ask?(request: Outgoing, signal?: AbortSignal): Promise<unknown>;
  /** Closes the connection under a resumable stream; the client comes back after `retryMs`. */
  pause?(retryMs: number): void;
}

/** The other end of one pipe or of one HTTP session. */
export interface Peer {
  /** Absent until the stateful handshake; the endpoint sets it through `Answer.session`. */
  session?: Session | undefined;
  readonly principal?: Principal | undefined;
  /** Must be called after `session` was changed in place, so that a transport that stores it can do so. */
  sessionChanged?(): void;
  /** Ends the request with this id, if it is in flight, without an answer. */
  abort(id: Id, reason?: unknown): boolean;
  /** Sends a text that belongs to no request. */
  say(text: string): void;
  /** Sends a request that belongs to no request of the client. */
  ask(request: Outgoing): Promise<unknown>;
}

/** The end of one exchange, as text; a transport reads nothing out of it. */
export interface Answer {
  text: string;
  /** The HTTP status that goes with it where a transport has one; 200 without it. */
  status?: number;
  /** The handshake succeeded: the transport keeps this as the peer's session. */
  session?: Session;
  /** Scopes that the caller lacked; an authorizing transport turns them into a challenge. */
  scopes?: string[];
}

/** A message on its way out. */
export interface Outgoing {
  text: string;
  /** Present for requests. */
  id?: Id;
  method: string;
  /** What HTTP repeats outside the body; streams ignore it. */
  headers?: Record<string, string>;
}

/** Who sent a request, as authorization established it. */
export interface Principal {
  /** Compared as a whole: two principals are the same exactly when their keys are equal. */
  readonly key: string;
  readonly subject?: string;
  readonly clientId?: string;
  readonly scopes?: readonly string[];
  /** When the credentials end, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/**
 * How a client reaches one server. `open` comes first, `close` last.
 *
 * `request` settles exactly once: with the `result` of the answer, with an `RpcError` that the server sent, or with an
 * `McpError` of kind `connection_closed`, `transport_error`, `session_lost`, … that arose on the way. What the server says
 * before the answer reaches the receiver before `request` settles.
 */
export interface Transport {
  /** `http` transports carry headers, and a closed stream cancels a stateless request. */
  readonly kind: "channel" | "http";
  /** Where it leads, as messages may say it: nothing that could be a secret is in it. */
  readonly target: string;
  open(receiver: Receiver): void | Promise<void>;
  request(request: Outgoing & { id: Id }): Promise<unknown>;
  /** Resolves when the message left. */
  notify(notification: Outgoing): void | Promise<void>;
  /** Stops waiting for the answer; `request` rejects with `reason`. */
  abandon(id: Id, reason: Error): void;
  /** The handshake is over. `headers` go with every later request; `hasSessions` allows a session and a stream of its own. */
  established?(facts: { headers: Record<string, string>; hasSessions: boolean }): void;
  /** Throws away what was learnt of the server's session, before a new handshake. */
  reset?(): void;
  /** Says why no answer came, with what the transport saw meanwhile. For a handshake that failed or took too long. */
  explain?(cause: unknown): Error;
  /** Ends the connection; settles within its own bounded time, and everything pending rejects. */
  close(): Promise<void>;
}

/** What a transport calls on the client. No method may throw. */
export interface Receiver {
  /** A request of the server; the promise gives the whole text of the answer, empty where none may be sent, and never rejects. */
  request(message: RequestMessage): Promise<string>;
  /** `about` is the request on whose stream it came, where the transport knows. */
  notification(message: NotificationMessage, about?: Id): void;
  /** Something that was no message: garbage on stdout, an event that is not JSON. */
  fault(error: Error): void;
  /** The connection ended by itself. Called at most once, and not after `close`. */
  closed(reason?: Error): void;
}
