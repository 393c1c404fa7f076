import { primesStreams, type Session } from "../../../era/session.js";
import { RpcError } from "../../../jsonrpc/error.js";
import type { ErrorMessage, Id, ResultMessage } from "../../../jsonrpc/message.js";
import { PendingAsks } from "../../../jsonrpc/pending-asks.js";
import { McpError } from "../../../protocol/error.js";
import type { Unsubscribe, Versioned } from "../../../storage/storage.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { Outgoing, Principal } from "../../transport.js";
import type { ReplyRules, ReplySession, ReplyStream } from "../server/reply-rules.js";
import type { SseConnection } from "../server/sse-connection.js";
import type { RunningRequest } from "../server/state.js";
import { LoggedStream, type StreamStorage } from "./logged-stream.js";
import type { NodeMessage } from "./node-messages.js";

/** The first stream that a client opens by GET; what belongs to no request waits there until a client reads it. */
export const GET_STREAM_ID = "s";

/** What a session needs of those who keep it. */
export interface SessionHost {
  /** Stores a changed session. */
  save(session: HttpSession): Promise<void>;
  /** Tells other nodes. */
  tell(session: HttpSession, message: NodeMessage): void;
  streamStorage(session: HttpSession): StreamStorage;
  newStreamId(): string;
  dropLog(session: HttpSession, stream: string): void;
  readonly maxEndedStreams: number;
}

/** One HTTP session: the peer that an endpoint sees, whichever connections its client has open. */
export class HttpSession implements ReplySession {
  readonly id: string;
  readonly principal: Principal | undefined;
  /** Whether its streams begin with an event that gives the client an id to come back with. */
  readonly primes: boolean;
  /** How its requests are replied to: losing a connection cancels nothing, and the client may come back for the answer. */
  readonly replies: ReplyRules;
  readonly #host: SessionHost;
  session: Session;
  /** What storage held when it was last looked at. */
  stored: Versioned;
  /** When its client was last active; absent until it is ready. */
  activeAt: number | undefined;
  /** When storage was last told that the client is alive. */
  notedAt = 0;
  /** Set while this node speaks for the session to the endpoint. */
  opened = false;
  /** Set while a change is being stored. */
  saving: Promise<void> | undefined;
  unsubscribe: Unsubscribe | undefined;
  #ended = false;
  // Most sessions are idle most of the time, and idle ones should cost little.
  requests: Map<Id, RunningRequest> | undefined;
  #asks: PendingAsks | undefined;
  #streams: Map<string, LoggedStream> | undefined;

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

  sessionChanged(): void {
    const saving: Promise<void> = this.#host.save(this).finally(() => {
      if (this.saving === saving) this.saving = undefined;
    });
    this.saving = saving;
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
    if (!this.#ended) this.#forUnrelated().say(text);
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

  /** Takes an answer of the client, which may belong to another node. */
  answered(message: ResultMessage | ErrorMessage): void {
    if (!this.#settleAsk(message)) this.#host.tell(this, { kind: "answer", message });
  }

  /** Hears what another node tells of this session; `changed` and `ended` are for those who keep it. */
  heard(message: NodeMessage): void {
    if (message.kind === "log") this.#streams?.get(message.stream)?.follow();
    else if (message.kind === "answer") this.#settleAsk(message.message);
    else if (message.kind === "abort") {
      const request = this.requests?.get(message.id);
      this.requests?.delete(message.id);
      request?.cancel(new McpError("cancelled", message.reason));
    } else if (message.kind === "taken") {
      const stream = this.#streams?.get(message.stream);
      if (stream?.attached !== true) return;
      stream.disconnect();
      // Something may have been appended after the other node read the log and before its message came.
      this.#host.tell(this, { kind: "log", stream: message.stream });
    }
  }

  /** The stream with this id, made on first use; `mine` where only this node writes to it. */
  stream(id: string, mine: boolean): LoggedStream {
    this.#streams ??= new Map();
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    const stream = new LoggedStream(this.#host.streamStorage(this), id, mine);
    this.#streams.set(id, stream);
    return stream;
  }

  newStream(): LoggedStream {
    return this.stream(this.#host.newStreamId(), true);
  }

  streamIds(): string[] {
    return [...(this.#streams?.keys() ?? [])];
  }

  /** How many streams are open here by GET; streams of requests are not counted. */
  get getStreamCount(): number {
    let count = 0;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.byGet) count++;
    return count;
  }

  /** Forgets the oldest of the streams that are over, beyond as many as may be kept. */
  tidy(): void {
    const over = [...(this.#streams?.values() ?? [])].filter((stream) => !stream.attached && isOver(stream));
    for (const stream of over.slice(0, Math.max(0, over.length - this.#host.maxEndedStreams))) {
      this.#streams?.delete(stream.id);
      this.#host.dropLog(this, stream.id);
    }
  }

  /** Ends everything that this node has of the session. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const error = closedError();
    for (const request of this.requests?.values() ?? []) request.cancel(error);
    this.requests = undefined;
    this.#asks?.rejectAll(error);
    for (const stream of this.#streams?.values() ?? []) stream.disconnect();
    this.#streams = undefined;
  }

  /** Each message goes to exactly one stream: the first that is open, else the one that keeps it for later. */
  #forUnrelated(): LoggedStream {
    const first = this.stream(GET_STREAM_ID, false);
    if (first.attached) return first;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.byGet) return stream;
    return first;
  }

  /** The stream of a request's reply: it outlives its connection. */
  #openReply(open: () => SseConnection | undefined): ReplyStream | undefined {
    const connection = this.#ended ? undefined : open();
    if (connection === undefined) return undefined;
    const stream = this.newStream();
    stream.attach(connection, 0);
    // Older decoders take an event without data for a message.
    if (this.primes) stream.prime();
    return {
      message: (text) => stream.say(text),
      finish: (text) => stream.finish(text),
      pause: (retryMs) => stream.pause(encodeEvent({ retry: Math.max(0, Math.round(retryMs)) })),
    };
  }

  /** Settles the question to which this is the answer; false when nothing here waits for it. */
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

/** Of the streams without a connection, those on which nothing more will be sent. */
function isOver(stream: LoggedStream): boolean {
  return stream.ended || (stream.byGet && stream.id !== GET_STREAM_ID);
}

function closedError(): McpError {
  return new McpError("connection_closed", "the session is over");
}
