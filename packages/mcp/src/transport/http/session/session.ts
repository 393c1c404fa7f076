import type { Soon } from "../../../encoding/maybe-promise.js";
import { primesStreams, type Session } from "../../../era/session.js";
import type { Id } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import type { Unsubscribe, Versioned } from "../../../storage/storage.js";
import type { Outgoing, Peer, Principal } from "../../transport.js";
import { SessionAsks } from "./asks.js";
import { LoggedStream, type StreamHome } from "./event-log.js";
import type { SessionNews } from "./node-messages.js";

/** The one standing stream that every session has; what belongs to no request waits there until a client reads it. */
export const STANDING = "s";

/** A request of a session's client that has no answer yet. */
export interface RunningRequest {
  abort(reason: unknown): void;
}

/** What a session needs of those who keep it. */
export interface SessionHost {
  /** Stores a changed session. */
  save(session: HttpSession): Soon<void>;
  tell(session: HttpSession, news: SessionNews): void;
  home(session: HttpSession): StreamHome;
  newStreamId(): string;
  dropLog(session: HttpSession, stream: string): void;
  readonly maxEndedStreams: number;
}

/** One HTTP session: the peer that a stateful server sees, whichever connections its client has open. */
export class HttpSession implements Peer {
  readonly id: string;
  readonly principal: Principal | undefined;
  readonly #host: SessionHost;
  session: Session;
  /** What storage held when it was last looked at. */
  stored: Versioned;
  /** When storage was last told that the client is alive. */
  notedAt = 0;
  /** Set while this node speaks for the session to the endpoint. */
  opened = false;
  /** Set while a change is being stored. */
  saving: Promise<void> | undefined;
  unsubscribe: Unsubscribe | undefined;
  #ended = false;
  // Most sessions are idle most of the time, and idle ones should cost little.
  #requests: Map<Id, RunningRequest> | undefined;
  #asks: SessionAsks | undefined;
  #streams: Map<string, LoggedStream> | undefined;

  constructor(host: SessionHost, id: string, principal: Principal | undefined, session: Session, stored: Versioned) {
    this.#host = host;
    this.id = id;
    this.principal = principal;
    this.session = session;
    this.stored = stored;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get primes(): boolean {
    return primesStreams(this.session.revision);
  }

  /** Requests without an answer. */
  get inFlight(): number {
    return this.#requests?.size ?? 0;
  }

  /** True while a client is connected or waits for an answer. */
  get busy(): boolean {
    if (this.inFlight > 0) return true;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached) return true;
    return false;
  }

  sessionChanged(): void {
    const saved = this.#host.save(this);
    if (!(saved instanceof Promise)) return;
    const saving: Promise<void> = saved.finally(() => {
      if (this.saving === saving) this.saving = undefined;
    });
    this.saving = saving;
  }

  isRunning(id: Id): boolean {
    return this.#requests?.has(id) === true;
  }

  /** Registers a request whose id is not in use. */
  begin(id: Id, request: RunningRequest): void {
    this.#requests ??= new Map();
    this.#requests.set(id, request);
  }

  finish(id: Id, request: RunningRequest): void {
    // An aborted id may be in use again by the time its handler settles.
    if (this.#requests?.get(id) === request) this.#requests.delete(id);
  }

  abort(id: Id, reason?: unknown): boolean {
    const request = this.#requests?.get(id);
    if (request !== undefined) {
      this.#requests?.delete(id);
      request.abort(reason);
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

  /** Sends a request to the client by `send`, and waits for the POST that answers it. */
  askOn(request: Outgoing, send: (text: string) => void, signal?: AbortSignal): Promise<unknown> {
    const { id, text } = request;
    if (id === undefined) return Promise.reject(new TypeError("a request needs an id"));
    if (this.#ended) return Promise.reject(closedError());
    this.#asks ??= new SessionAsks();
    return this.#asks.ask(id, () => send(text), signal);
  }

  /** Takes an answer of the client, which may belong to another node. */
  answered(message: Extract<SessionNews, { kind: "answer" }>["message"]): void {
    if (this.#asks?.answered(message) !== true) this.#host.tell(this, { kind: "answer", message });
  }

  /** Hears what another node says of this session; `changed` and `ended` are for those who keep it. */
  heard(news: SessionNews): void {
    if (news.kind === "log") this.#streams?.get(news.stream)?.follow();
    else if (news.kind === "answer") this.#asks?.answered(news.message);
    else if (news.kind === "abort") {
      const request = this.#requests?.get(news.id);
      this.#requests?.delete(news.id);
      request?.abort(new McpError("cancelled", news.reason));
    } else if (news.kind === "taken") {
      const stream = this.#streams?.get(news.stream);
      if (stream?.attached !== true) return;
      stream.disconnect();
      // Something may have been appended after the other node read the log and before this news came.
      this.#host.tell(this, { kind: "log", stream: news.stream });
    }
  }

  /** The stream with this id, made on first use; `mine` where only this node writes to it. */
  stream(id: string, mine: boolean): LoggedStream {
    this.#streams ??= new Map();
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    const stream = new LoggedStream(this.#host.home(this), id, mine);
    this.#streams.set(id, stream);
    return stream;
  }

  newStream(): LoggedStream {
    return this.stream(this.#host.newStreamId(), true);
  }

  streamIds(): string[] {
    return [...(this.#streams?.keys() ?? [])];
  }

  /** How many standing streams are open here; streams of requests are not counted. */
  get standingCount(): number {
    let count = 0;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.standing) count++;
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
    for (const request of this.#requests?.values() ?? []) request.abort(error);
    this.#requests = undefined;
    this.#asks?.close(error);
    for (const stream of this.#streams?.values() ?? []) stream.disconnect();
    this.#streams = undefined;
  }

  /** Each message goes to exactly one stream: the first that is open, else the one that keeps it for later. */
  #forUnrelated(): LoggedStream {
    const standing = this.stream(STANDING, false);
    if (standing.attached) return standing;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.standing) return stream;
    return standing;
  }
}

/** Of the streams without a connection, those on which nothing more will be said. */
function isOver(stream: LoggedStream): boolean {
  return stream.ended || (stream.standing && stream.id !== STANDING);
}

function closedError(): McpError {
  return new McpError("connection_closed", "the session is over");
}
