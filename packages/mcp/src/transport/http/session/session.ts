import type { MaybePromise } from "../../../encoding/maybe-promise.js";
import { primesStreams, type Session } from "../../../era/session.js";
import type { Principal } from "../../../http/authentication.js";
import { RpcError } from "../../../jsonrpc/error.js";
import type { ErrorMessage, Id, ResultMessage } from "../../../jsonrpc/message.js";
import { PendingRequests } from "../../../jsonrpc/pending-requests.js";
import { McpError } from "../../../protocol/error.js";
import type { Unsubscribe, Versioned } from "../../../storage/storage.js";
import type { EndReason, Outgoing } from "../../transport.js";
import { sessionEnd } from "../server/refusal.js";
import type { ReplySession } from "../server/reply-rules.js";
import type { RunningRequest } from "../server/state.js";
import type { NodeMessage } from "./nodes/node-messenger.js";
import { type SessionStreamServices, SessionStreams, type StreamShare } from "./streams/session-streams.js";
import type { SessionStream } from "./streams/stream.js";
import { GET_STREAM_ID } from "./streams/stream-log.js";

type EndListener = (reason: EndReason) => void | Promise<void>;

/** The resources that all sessions of one principal use together. */
export interface SessionShare extends StreamShare {
  /** Number of characters of messages that the clients have not read. */
  unread: number;
}

/** The parts of the session store that a session uses. */
export interface SessionServices {
  /** Stores a changed session. Resolves with false if the storage did not accept the change. */
  save(session: HttpSession): Promise<boolean>;
  readonly nodes: {
    readonly id: string;
    /** Sends a message to the other nodes. The message may be lost. */
    notify(session: string, message: NodeMessage): void;
    /** Passes an answer to the node that waits for it. Throws or rejects if the storage fails. */
    passAnswer(session: HttpSession, message: ResultMessage | ErrorMessage): MaybePromise<void>;
  };
  readonly logs: SessionStreamServices;
  /** Ends the session on every node. If `after` is given, waits until the request with this id is answered. */
  endAfter(session: HttpSession, reason: EndReason, after: Id | undefined): void;
  readonly eventLog: UnreadLimits;
  readonly alone: boolean;
}

/** One HTTP session: the peer of the endpoint, independent of the open connections of the client. */
export class HttpSession implements ReplySession {
  readonly transport = "http";
  readonly id: string;
  readonly principal: Principal | undefined;
  /** True if streams begin with an empty event, whose id the client can resume from. */
  readonly primes: boolean;
  readonly #services: SessionServices;
  session: Session;
  /** The stored record when this node last read or wrote it. */
  stored: Versioned;
  /** Time of the client's last activity. Undefined until the handshake is complete. */
  activeAt: number | undefined;
  /** Time when this node last extended the lifetime of the stored record. */
  notedAt = 0;
  /** Time when the storage last confirmed the record. */
  confirmedAt: number;
  /** True if no node has confirmed that its endpoint serves the session as an open peer. */
  unattended = false;
  /** The resources that the session shares with other sessions of its principal. */
  share: SessionShare | undefined;
  /** True while the endpoint of this node serves the session as an open peer. */
  opened = false;
  /** Set while a change is being stored. */
  saving: Promise<unknown> | undefined;
  /** True if the record names this node, and this node has not reported the session as unused since. */
  joined = false;
  unsubscribe: Unsubscribe | undefined;
  ended = false;
  /** Set while the end listeners run. */
  stopping: Promise<unknown> | undefined;
  #whenEnded: EndListener[] | undefined;
  // Created on demand, because most sessions are idle most of the time.
  requests: Map<Id, RunningRequest> | undefined;
  #asks: PendingRequests | undefined;
  readonly streams: SessionStreams;
  #unread: UnreadMessages | undefined;
  /** True if messages were dropped before the client read them. */
  hasDropped = false;

  constructor(
    services: SessionServices,
    id: string,
    principal: Principal | undefined,
    session: Session,
    stored: Versioned,
    confirmedAt: number,
  ) {
    this.#services = services;
    this.id = id;
    this.principal = principal;
    this.session = session;
    this.stored = stored;
    this.confirmedAt = confirmedAt;
    this.primes = primesStreams(session.revision);
    this.streams = new SessionStreams(services.logs, this, services.nodes.id);
  }

  /** Number of requests without an answer. */
  get inFlight(): number {
    return this.requests?.size ?? 0;
  }

  /** True while a client is connected or waits for an answer. */
  get busy(): boolean {
    return this.inFlight > 0 || this.streams.anyAttached;
  }

  sessionChanged(): Promise<boolean> {
    const saving: Promise<boolean> = this.#services.save(this).finally(() => {
      if (this.saving === saving) this.saving = undefined;
    });
    this.saving = saving;
    return saving;
  }

  abort(id: Id, reason?: unknown): boolean {
    const request = this.requests?.get(id);
    if (request !== undefined) {
      this.requests?.delete(id);
      request.cancel(reason);
      return true;
    }
    this.#services.nodes.notify(this.id, { kind: "abort", id, reason: reason instanceof Error ? reason.message : "" });
    return false;
  }

  send(text: string): void {
    if (this.ended) return;
    const stream = this.#forUnrelated();
    if (stream === undefined) this.#storeUnread(text);
    else stream.message(text);
  }

  /** Moves the unread messages to the first GET stream of the client. */
  releaseUnread(): void {
    const unread = this.#unread?.removeAll() ?? [];
    if (unread.length === 0) return;
    const first = this.streams.open(GET_STREAM_ID);
    for (const text of unread) first.message(text);
  }

  #storeUnread(text: string): void {
    this.#unread ??= new UnreadMessages(this.#services.eventLog, this.share);
    if (!this.#unread.add(text)) this.hasDropped = true;
  }

  ask(request: Outgoing): Promise<unknown> {
    return this.askOn(request, (text) => this.send(text));
  }

  askOn(request: Outgoing, send: (text: string) => void, signal?: AbortSignal): Promise<unknown> {
    const { id, text } = request;
    if (id === undefined) return Promise.reject(new TypeError("a request needs an id"));
    if (this.ended) return Promise.reject(sessionEnd(true));
    this.#asks ??= new PendingRequests();
    return this.#asks.ask(id, text, send, signal);
  }

  /** Handles an answer of the client to a request that this or another node sent. */
  answered(message: ResultMessage | ErrorMessage): MaybePromise<void> {
    return this.settleAsk(message) ? undefined : this.#services.nodes.passAnswer(this, message);
  }

  /** Handles a message of another node about the streams and requests of this node. */
  receive(message: NodeMessage): void {
    if (message.kind === "log") this.streams.get(message.stream)?.follow();
    else if (message.kind === "answer") this.settleAsk(message.message);
    else if (message.kind === "lost") {
      const stream = this.streams.open(message.stream);
      stream.hasGap = true;
      stream.disconnect();
    } else if (message.kind === "abort") {
      const request = this.requests?.get(message.id);
      this.requests?.delete(message.id);
      request?.cancel(new McpError("cancelled", message.reason));
    } else if (message.kind === "taken") this.#readElsewhere(message.stream);
  }

  /** Releases a stream that a client now reads on another node. */
  #readElsewhere(id: string): void {
    if (id === GET_STREAM_ID) this.releaseUnread();
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    if (stream.hasGap) this.#services.nodes.notify(this.id, { kind: "lost", stream: id });
    if (!stream.attached) return;
    stream.disconnect();
    // This node may have appended entries after the other node read the log and before the `taken` message arrived
    // here. The other node must therefore read the log again.
    this.#services.nodes.notify(this.id, { kind: "log", stream: id });
  }

  /** True if this node waits for an answer of the client. */
  get hasPendingAsks(): boolean {
    return this.#asks?.isEmpty === false;
  }

  onEnded(act: EndListener): void {
    if (this.ended) return void act("closed");
    this.#whenEnded ??= [];
    this.#whenEnded.push(act);
  }

  end(reason: EndReason, after?: Id): void {
    this.#services.endAfter(this, reason, after);
  }

  /**
   * Ends the requests and streams of the session on this node. `gone` means that no other node continues them. `closed`
   * resolves when no entry is being stored any more.
   */
  stop(reason: EndReason, gone: boolean): { closed: Promise<unknown>; streams: SessionStream[] } {
    if (this.ended) return { closed: Promise.resolve(), streams: [] };
    this.ended = true;
    this.streams.gone = gone;
    const acts = this.#whenEnded;
    this.stopping = acts && Promise.all(acts.map((act) => act(reason)));
    const streams = this.streams.removeAll();
    const error = sessionEnd(gone);
    const requests = [...(this.requests?.values() ?? [])];
    this.requests = undefined;
    const isLast = gone || this.#services.alone;
    if (isLast) {
      for (const stream of streams) stream.abandon();
      for (const request of requests) request.fail(error, false);
      for (const stream of streams) for (const id of stream.unanswered ?? []) stream.message(error.answerTo(id));
    }
    // Closes the streams before the requests fail. A request that ends must not end its stream, because the client can
    // resume the stream on another node.
    const closed = Promise.all(streams.map((stream) => stream.close(gone)));
    if (!isLast) for (const request of requests) request.fail(error, true);
    this.#asks?.rejectAll(error);
    this.#unread?.removeAll();
    return { closed, streams };
  }

  /**
   * Returns the stream for a message outside requests: an open one, else the stored first GET stream, or undefined if
   * the client has never opened a GET stream.
   */
  #forUnrelated(): SessionStream | undefined {
    const open = this.streams.openForUnrelated;
    if (open !== undefined) return open;
    // If this node serves the session, it knows whether the client has opened a GET stream. Otherwise another node may
    // have that stream.
    const isRead = !this.opened || this.streams.get(GET_STREAM_ID)?.byGet === true;
    return isRead ? this.streams.open(GET_STREAM_ID) : undefined;
  }

  /** Settles the request that this message answers. Returns false if this node did not send that request. */
  settleAsk(message: ResultMessage | ErrorMessage): boolean {
    const { id } = message;
    const pending = id === undefined || id === null ? undefined : this.#asks?.remove(id);
    if (pending === undefined) return false;
    if ("error" in message) {
      const { code, message: text, data } = message.error;
      pending.reject(new RpcError(code, text, data));
    } else {
      pending.resolve(message.result);
    }
    return true;
  }
}

/** Limits on messages for a client that does not read. */
export interface UnreadLimits {
  readonly maxEvents: number;
  readonly maxUnreadLength: number;
  readonly maxUnreadLengthPerPrincipal: number;
}

/** Number of characters that all sessions of a principal have not read. */
interface UnreadCount {
  unread: number;
}

/**
 * Messages of one session outside requests, until its client opens its first GET stream. They stay in memory, because
 * otherwise many clients that never read would fill the storage. The oldest are dropped first.
 */
export class UnreadMessages {
  readonly #limits: UnreadLimits;
  readonly #share: UnreadCount | undefined;
  #texts: string[] = [];
  #length = 0;

  constructor(limits: UnreadLimits, share?: UnreadCount) {
    this.#limits = limits;
    this.#share = share;
  }

  /** Adds a message. Returns false if messages were dropped to meet the limits. */
  add(text: string): boolean {
    this.#texts.push(text);
    this.#count(text.length);
    let complete = true;
    while (this.#texts.length > 0 && this.#isOverLimit()) {
      this.#count(-(this.#texts.shift()?.length ?? 0));
      complete = false;
    }
    return complete;
  }

  /** Removes and returns all messages. */
  removeAll(): string[] {
    const texts = this.#texts;
    this.#texts = [];
    this.#count(-this.#length);
    return texts;
  }

  #isOverLimit(): boolean {
    const { maxEvents, maxUnreadLength, maxUnreadLengthPerPrincipal } = this.#limits;
    if (this.#length > maxUnreadLength || this.#texts.length > maxEvents) return true;
    return (this.#share?.unread ?? 0) > maxUnreadLengthPerPrincipal;
  }

  #count(change: number): void {
    this.#length += change;
    if (this.#share !== undefined) this.#share.unread += change;
  }
}
