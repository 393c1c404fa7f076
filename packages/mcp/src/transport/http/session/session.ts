import { primesStreams, type Session } from "../../../era/session.js";
import type { Principal } from "../../../http/authentication.js";
import { RpcError } from "../../../jsonrpc/error.js";
import type { ErrorMessage, Id, ResultMessage } from "../../../jsonrpc/message.js";
import { PendingAsks } from "../../../jsonrpc/pending-asks.js";
import { McpError } from "../../../protocol/error.js";
import type { Unsubscribe, Versioned } from "../../../storage/storage.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { EndReason, Outgoing } from "../../transport.js";
import type { ReplyRules, ReplySession, ReplyStream } from "../server/reply-rules.js";
import type { SseConnection } from "../server/sse-connection.js";
import type { RunningRequest } from "../server/state.js";
import { LoggedStream, type StreamStorage } from "./logged-stream.js";
import type { NodeMessage } from "./node-messages.js";

/** The id of the first GET stream. It stores messages that belong to no request until the client reads them. */
export const GET_STREAM_ID = "s";

type Ender = (reason: EndReason) => void | Promise<void>;

/** What a session needs from its store. */
export interface SessionHost {
  /** Stores a changed session. */
  save(session: HttpSession): Promise<boolean>;
  /** Sends a message to the other nodes. */
  tell(session: HttpSession, message: NodeMessage): void;
  streamStorage(session: HttpSession): StreamStorage;
  newStreamId(): string;
  dropLog(session: HttpSession, stream: string): void;
  /** Ends the session on every node, after the request with this id if one is given. */
  endAfter(session: HttpSession, reason: EndReason, after: Id | undefined): void;
  readonly eventLog: {
    readonly maxEndedStreams: number;
    readonly maxEvents: number;
    readonly maxUnreadLength: number;
  };
}

/** One HTTP session: the peer of the endpoint, independent of the connections that the client has open. */
export class HttpSession implements ReplySession {
  readonly transport = "http";
  readonly id: string;
  readonly principal: Principal | undefined;
  /** Whether its streams begin with an empty event, whose id the client can resume from. */
  readonly primes: boolean;
  /** How to reply to its requests: a lost connection does not cancel them, and the client can resume to get the answer. */
  readonly replies: ReplyRules;
  readonly #host: SessionHost;
  session: Session;
  /** The stored record when it was last read or written. */
  stored: Versioned;
  /** When its client was last active; undefined until the handshake is complete. */
  activeAt: number | undefined;
  /** When the lifetime of the stored record was last extended. */
  notedAt = 0;
  /** True while the endpoint of this node serves the session as an open peer. */
  opened = false;
  /** Set while a change is being stored. */
  saving: Promise<unknown> | undefined;
  unsubscribe: Unsubscribe | undefined;
  #ended = false;
  /** Set while what follows the end of the session is being done. */
  stopping: Promise<unknown> | undefined;
  #whenEnded: Ender[] | undefined;
  // Created on demand, because most sessions are idle most of the time.
  requests: Map<Id, RunningRequest> | undefined;
  #asks: PendingAsks | undefined;
  #streams: Map<string, LoggedStream> | undefined;
  /** Messages that belong to no request, until the client opens its first GET stream. */
  #unread: string[] | undefined;
  #unreadLength = 0;
  /** True if messages were dropped before the client read them. */
  missed = false;

  constructor(host: SessionHost, id: string, principal: Principal | undefined, session: Session, stored: Versioned) {
    this.#host = host;
    this.id = id;
    this.principal = principal;
    this.session = session;
    this.stored = stored;
    this.primes = primesStreams(session.revision);
    this.replies = { leavingCancels: false, session: this, openStream: (open) => this.#openReply(open) };
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Requests without an answer. */
  get inFlight(): number {
    return this.requests?.size ?? 0;
  }

  /** True while a client is connected or waits for an answer. */
  get busy(): boolean {
    if (this.inFlight > 0) return true;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached) return true;
    return false;
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
    this.#host.tell(this, { kind: "abort", id, reason: reason instanceof Error ? reason.message : "" });
    return false;
  }

  say(text: string): void {
    if (this.#ended) return;
    const stream = this.#forUnrelated();
    if (stream === undefined) this.#keepUnread(text);
    else stream.say(text);
  }

  /** Moves what the client has not read yet to its first GET stream. */
  releaseUnread(): void {
    const unread = this.#unread ?? [];
    this.#unread = undefined;
    this.#unreadLength = 0;
    if (unread.length === 0) return;
    const first = this.stream(GET_STREAM_ID, false);
    for (const text of unread) first.say(text);
  }

  /** Kept beside the storage, which many clients that never read would fill. The oldest are dropped first. */
  #keepUnread(text: string): void {
    this.#unread ??= [];
    this.#unread.push(text);
    this.#unreadLength += text.length;
    const { maxEvents, maxUnreadLength } = this.#host.eventLog;
    while (this.#unreadLength > maxUnreadLength || this.#unread.length > maxEvents) {
      this.#unreadLength -= this.#unread.shift()?.length ?? 0;
      this.missed = true;
    }
  }

  ask(request: Outgoing): Promise<unknown> {
    return this.askOn(request, (text) => this.say(text));
  }

  askOn(request: Outgoing, send: (text: string) => void, signal?: AbortSignal): Promise<unknown> {
    const { id, text } = request;
    if (id === undefined) return Promise.reject(new TypeError("a request needs an id"));
    if (this.#ended) return Promise.reject(closedError());
    this.#asks ??= new PendingAsks();
    return this.#asks.ask(id, () => send(text), signal);
  }

  /** Handles an answer of the client to a request that this or another node sent. */
  answered(message: ResultMessage | ErrorMessage): void {
    if (!this.#settleAsk(message)) this.#host.tell(this, { kind: "answer", message });
  }

  /** Handles a message of another node; `changed` and `ended` are handled by the store. */
  heard(message: NodeMessage): void {
    if (message.kind === "log") this.#streams?.get(message.stream)?.follow();
    else if (message.kind === "answer") this.#settleAsk(message.message);
    else if (message.kind === "abort") {
      const request = this.requests?.get(message.id);
      this.requests?.delete(message.id);
      request?.cancel(new McpError("cancelled", message.reason));
    } else if (message.kind === "taken") {
      if (message.stream === GET_STREAM_ID) this.releaseUnread();
      const stream = this.#streams?.get(message.stream);
      if (stream?.attached !== true) return;
      stream.disconnect();
      // Entries may have been appended after the other node read the log and before its message arrived.
      this.#host.tell(this, { kind: "log", stream: message.stream });
    }
  }

  /** The stream with this id, created on first use. `soleWriter`: only this node writes to it. */
  stream(id: string, soleWriter: boolean): LoggedStream {
    this.#streams ??= new Map();
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    const stream = new LoggedStream(this.#host.streamStorage(this), id, soleWriter);
    this.#streams.set(id, stream);
    return stream;
  }

  /** Whether the stream lacks entries that the storage refused. */
  hasGap(stream: string): boolean {
    return this.#streams?.get(stream)?.hasGap === true;
  }

  newStream(): LoggedStream {
    return this.stream(this.#host.newStreamId(), true);
  }

  streamIds(): string[] {
    return [...(this.#streams?.keys() ?? [])];
  }

  /** The number of GET streams that are open on this node. */
  get getStreamCount(): number {
    let count = 0;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.byGet) count++;
    return count;
  }

  /** Drops the oldest ended streams beyond `maxEndedStreams`. */
  tidy(): void {
    const over = [...(this.#streams?.values() ?? [])].filter((stream) => !stream.attached && isOver(stream));
    for (const stream of over.slice(0, Math.max(0, over.length - this.#host.eventLog.maxEndedStreams))) {
      this.#streams?.delete(stream.id);
      this.#host.dropLog(this, stream.id);
    }
  }

  onEnded(act: Ender): void {
    if (this.#ended) return void act("closed");
    this.#whenEnded ??= [];
    this.#whenEnded.push(act);
  }

  end(reason: EndReason, after?: Id): void {
    this.#host.endAfter(this, reason, after);
  }

  /** Ends the requests and streams of the session on this node. */
  stop(reason: EndReason): void {
    if (this.#ended) return;
    this.#ended = true;
    const acts = this.#whenEnded;
    this.stopping = acts && Promise.all(acts.map((act) => act(reason)));
    const error = closedError();
    for (const request of this.requests?.values() ?? []) request.cancel(error);
    this.requests = undefined;
    this.#asks?.rejectAll(error);
    for (const stream of this.#streams?.values() ?? []) stream.leave();
    this.#streams = undefined;
    this.#unread = undefined;
  }

  /**
   * The stream for a message that belongs to no request: the first that is open, otherwise the one that stores it, or none
   * if the client has never opened one. Each message goes to exactly one stream.
   *
   * Spec: Transports, "Multiple Connections",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#multiple-connections
   */
  #forUnrelated(): LoggedStream | undefined {
    const first = this.#streams?.get(GET_STREAM_ID);
    if (first?.attached === true) return first;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.byGet) return stream;
    // Another node may have the stream; if not, the client has never opened it.
    return first?.byGet === true || !this.opened ? this.stream(GET_STREAM_ID, false) : undefined;
  }

  /** Opens the stream of a reply, which outlives its connection. */
  #openReply(open: () => SseConnection | undefined): ReplyStream | undefined {
    const connection = this.#ended ? undefined : open();
    if (connection === undefined) return undefined;
    const stream = this.newStream();
    stream.begin(connection);
    // Older clients try to parse an event without data as a message.
    if (this.primes) stream.prime();
    return {
      message: (text) => stream.say(text),
      finish: (text) => stream.finish(text),
      pause: (retryMs) => stream.pause(encodeEvent({ retry: Math.max(0, Math.round(retryMs)) })),
    };
  }

  /** Settles the request that this message answers. Returns false if this node did not send it. */
  #settleAsk(message: ResultMessage | ErrorMessage): boolean {
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

/** Whether nothing more will be sent on a stream without a connection. */
function isOver(stream: LoggedStream): boolean {
  return stream.ended || (stream.byGet && stream.id !== GET_STREAM_ID);
}

function closedError(): McpError {
  return new McpError("connection_closed", "the session has ended");
}
