import type { MaybePromise } from "../../../encoding/maybe-promise.js";
import { primesStreams, type Session } from "../../../era/session.js";
import type { Principal } from "../../../http/authentication.js";
import { RpcError } from "../../../jsonrpc/error.js";
import type { ErrorMessage, Id, ResultMessage } from "../../../jsonrpc/message.js";
import { PendingAsks } from "../../../jsonrpc/pending-asks.js";
import { McpError } from "../../../protocol/error.js";
import type { Unsubscribe, Versioned } from "../../../storage/storage.js";
import type { EndReason, Outgoing } from "../../transport.js";
import { sessionEnd } from "../server/refusal.js";
import type { ReplySession } from "../server/reply-rules.js";
import type { RunningRequest } from "../server/state.js";
import type { NodeMessage } from "./nodes/node-talk.js";
import { SessionStreams, type SessionStreamsHost, type StreamShare } from "./streams/session-streams.js";
import type { SessionStream } from "./streams/stream.js";
import { GET_STREAM_ID } from "./streams/stream-log.js";

type Ender = (reason: EndReason) => void | Promise<void>;

/** What the sessions of one principal take up together. */
export interface SessionShare extends StreamShare {
  /** Characters of messages that their clients have not read. */
  unread: number;
}

/** What a session needs from its store. */
export interface SessionHost {
  /** Stores a changed session. */
  save(session: HttpSession): Promise<boolean>;
  readonly nodes: {
    readonly id: string;
    /** Sends a message to the other nodes. */
    tell(session: string, message: NodeMessage): void;
    /** Keeps an answer for the node that waits for it. Throws or rejects if it cannot be stored. */
    passAnswer(session: HttpSession, message: ResultMessage | ErrorMessage): MaybePromise<void>;
  };
  readonly logs: SessionStreamsHost;
  /** Ends the session on every node, after the request with this id if one is given. */
  endAfter(session: HttpSession, reason: EndReason, after: Id | undefined): void;
  readonly eventLog: UnreadLimits;
  readonly alone: boolean;
}

/** One HTTP session: the peer of the endpoint, independent of the connections that the client has open. */
export class HttpSession implements ReplySession {
  readonly transport = "http";
  readonly id: string;
  readonly principal: Principal | undefined;
  /** Whether its streams begin with an empty event, whose id the client can resume from. */
  readonly primes: boolean;
  readonly #host: SessionHost;
  session: Session;
  /** The stored record when it was last read or written. */
  stored: Versioned;
  /** When its client was last active; undefined until the handshake is complete. */
  activeAt: number | undefined;
  /** When the lifetime of the stored record was last extended. */
  notedAt = 0;
  /** When the storage last confirmed the record. */
  confirmedAt: number;
  /** True if no node has confirmed that it speaks for the session. */
  unattended = false;
  /** What it shares with the other sessions of its principal. */
  share: SessionShare | undefined;
  /** True while the endpoint of this node serves the session as an open peer. */
  opened = false;
  /** Set while a change is being stored. */
  saving: Promise<unknown> | undefined;
  /** True if the record names this node, and none has been told since that the session is idle here. */
  joined = false;
  unsubscribe: Unsubscribe | undefined;
  ended = false;
  /** Set while what follows the end of the session is being done. */
  stopping: Promise<unknown> | undefined;
  #whenEnded: Ender[] | undefined;
  // Created on demand, because most sessions are idle most of the time.
  requests: Map<Id, RunningRequest> | undefined;
  #asks: PendingAsks | undefined;
  readonly streams: SessionStreams;
  #unread: UnreadMessages | undefined;
  /** True if messages were dropped before the client read them. */
  missed = false;

  constructor(
    host: SessionHost,
    id: string,
    principal: Principal | undefined,
    session: Session,
    stored: Versioned,
    confirmedAt: number,
  ) {
    this.#host = host;
    this.id = id;
    this.principal = principal;
    this.session = session;
    this.stored = stored;
    this.confirmedAt = confirmedAt;
    this.primes = primesStreams(session.revision);
    this.streams = new SessionStreams(host.logs, this, host.nodes.id);
  }

  /** Requests without an answer. */
  get inFlight(): number {
    return this.requests?.size ?? 0;
  }

  /** True while a client is connected or waits for an answer. */
  get busy(): boolean {
    return this.inFlight > 0 || this.streams.anyAttached;
  }

  sessionChanged(): Promise<boolean> {
    const saving: Promise<boolean> = this.#host.save(this).finally(() => {
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
    this.#host.nodes.tell(this.id, { kind: "abort", id, reason: reason instanceof Error ? reason.message : "" });
    return false;
  }

  send(text: string): void {
    if (this.ended) return;
    const stream = this.#forUnrelated();
    if (stream === undefined) this.#keepUnread(text);
    else stream.message(text);
  }

  /** Moves what the client has not read yet to its first GET stream. */
  releaseUnread(): void {
    const unread = this.#unread?.take() ?? [];
    if (unread.length === 0) return;
    const first = this.streams.open(GET_STREAM_ID);
    for (const text of unread) first.message(text);
  }

  #keepUnread(text: string): void {
    this.#unread ??= new UnreadMessages(this.#host.eventLog, this.share);
    if (!this.#unread.add(text)) this.missed = true;
  }

  ask(request: Outgoing): Promise<unknown> {
    return this.askOn(request, (text) => this.send(text));
  }

  askOn(request: Outgoing, send: (text: string) => void, signal?: AbortSignal): Promise<unknown> {
    const { id, text } = request;
    if (id === undefined) return Promise.reject(new TypeError("a request needs an id"));
    if (this.ended) return Promise.reject(sessionEnd(true));
    this.#asks ??= new PendingAsks();
    return this.#asks.ask(id, text, send, signal);
  }

  /** Handles an answer of the client to a request that this or another node sent. */
  answered(message: ResultMessage | ErrorMessage): MaybePromise<void> {
    return this.settleAsk(message) ? undefined : this.#host.nodes.passAnswer(this, message);
  }

  /** Handles a message of another node about this node's streams and requests. */
  heard(message: NodeMessage): void {
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
    } else if (message.kind === "taken") this.#taken(message.stream);
  }

  /** A client reads a stream on another node. */
  #taken(id: string): void {
    if (id === GET_STREAM_ID) this.releaseUnread();
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    if (stream.hasGap) this.#host.nodes.tell(this.id, { kind: "lost", stream: id });
    if (!stream.attached) return;
    stream.disconnect();
    // Entries may have been appended after the other node read the log and before its message arrived.
    this.#host.nodes.tell(this.id, { kind: "log", stream: id });
  }

  /** Whether a client of this session owes this node an answer. */
  get asks(): boolean {
    return this.#asks?.isEmpty === false;
  }

  onEnded(act: Ender): void {
    if (this.ended) return void act("closed");
    this.#whenEnded ??= [];
    this.#whenEnded.push(act);
  }

  end(reason: EndReason, after?: Id): void {
    this.#host.endAfter(this, reason, after);
  }

  /** Ends the requests and streams of the session on this node; `gone`: no node continues them. Resolves when nothing is being stored. */
  stop(reason: EndReason, gone: boolean): { closed: Promise<unknown>; streams: SessionStream[] } {
    if (this.ended) return { closed: Promise.resolve(), streams: [] };
    this.ended = true;
    this.streams.gone = gone;
    const acts = this.#whenEnded;
    this.stopping = acts && Promise.all(acts.map((act) => act(reason)));
    const streams = this.streams.takeAll();
    const error = sessionEnd(gone);
    const requests = [...(this.requests?.values() ?? [])];
    this.requests = undefined;
    const isLast = gone || this.#host.alone;
    if (isLast) {
      for (const stream of streams) stream.abandon();
      for (const request of requests) request.fail(error, false);
      for (const stream of streams) for (const id of stream.unanswered ?? []) stream.message(error.answerTo(id));
    }
    // Closed first: a request that ends must not end its stream for a client that resumes it on another node.
    const closed = Promise.all(streams.map((stream) => stream.close(gone)));
    if (!isLast) for (const request of requests) request.fail(error, true);
    this.#asks?.rejectAll(error);
    this.#unread?.take();
    return { closed, streams };
  }

  /** The stream for a message that belongs to no request: an open one, otherwise the one that stores it, or none. */
  #forUnrelated(): SessionStream | undefined {
    const open = this.streams.openForUnrelated;
    if (open !== undefined) return open;
    // Another node may have the stream; if not, the client has never opened it.
    const isRead = !this.opened || this.streams.get(GET_STREAM_ID)?.byGet === true;
    return isRead ? this.streams.open(GET_STREAM_ID) : undefined;
  }

  /** Settles the request that this message answers. Returns false if this node did not send it. */
  settleAsk(message: ResultMessage | ErrorMessage): boolean {
    const { id } = message;
    const pending = id === undefined || id === null ? undefined : this.#asks?.take(id);
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

/** How much is kept for a client that does not read. */
export interface UnreadLimits {
  readonly maxEvents: number;
  readonly maxUnreadLength: number;
  readonly maxUnreadLengthPerPrincipal: number;
}

/** Characters that all sessions of a principal have not read. */
interface Share {
  unread: number;
}

/**
 * Messages of one session that belong to no request, until its client opens its first GET stream. Kept beside the storage, which
 * many clients that never read would fill. The oldest are dropped first.
 */
export class UnreadMessages {
  readonly #limits: UnreadLimits;
  readonly #share: Share | undefined;
  #texts: string[] = [];
  #length = 0;

  constructor(limits: UnreadLimits, share?: Share) {
    this.#limits = limits;
    this.#share = share;
  }

  /** False if messages were dropped to keep the limits. */
  add(text: string): boolean {
    this.#texts.push(text);
    this.#count(text.length);
    let complete = true;
    while (this.#texts.length > 0 && this.#isOver()) {
      this.#count(-(this.#texts.shift()?.length ?? 0));
      complete = false;
    }
    return complete;
  }

  take(): string[] {
    const texts = this.#texts;
    this.#texts = [];
    this.#count(-this.#length);
    return texts;
  }

  #isOver(): boolean {
    const { maxEvents, maxUnreadLength, maxUnreadLengthPerPrincipal } = this.#limits;
    if (this.#length > maxUnreadLength || this.#texts.length > maxEvents) return true;
    return (this.#share?.unread ?? 0) > maxUnreadLengthPerPrincipal;
  }

  #count(change: number): void {
    this.#length += change;
    if (this.#share !== undefined) this.#share.unread += change;
  }
}
