import { SessionStream, type StreamHost, type StreamOwner } from "./stream.js";
import { GET_STREAM_ID, type StreamNumbers } from "./stream-ids.js";
import type { StoredLength } from "./stream-log.js";

/** What the streams of all sessions of a principal take up. */
export interface StreamShare extends StoredLength {
  readonly sessions: Iterable<{ readonly streams: SessionStreams }>;
}

/** What the streams of all sessions of a node share. */
export interface SessionStreamsHost extends StreamHost {
  readonly maxEndedStreams: number;
  /** The id of a new stream of this node. */
  newId(streams: SessionStreams): string;
  /** Stores where the first GET stream of a session has stopped. */
  released(session: string, position: number): void;
  /** Drops the log of a stream that cannot be resumed any more. */
  drop(streams: SessionStreams, stream: SessionStream): void;
}

/** The streams of one session that a node knows. */
export class SessionStreams implements StreamOwner {
  readonly host: SessionStreamsHost;
  readonly session: string;
  readonly primes: boolean;
  stored = 0;
  share: StreamShare | undefined;
  /** True if the session has ended on every node. */
  gone = false;
  /** The numbers of the streams that this node has opened. */
  numbers: StreamNumbers | undefined;
  // Created on demand, because most sessions are idle most of the time.
  #streams: Map<string, SessionStream> | undefined;
  /** Streams that only a client that resumes them needs, in the order in which they became so. */
  #over: Set<SessionStream> | undefined;

  constructor(host: SessionStreamsHost, session: string, primes: boolean) {
    this.host = host;
    this.session = session;
    this.primes = primes;
  }

  get all(): SessionStream[] {
    return [...(this.#streams?.values() ?? [])];
  }

  get(id: string): SessionStream | undefined {
    return this.#streams?.get(id);
  }

  /** The stream with this id, created on first use. `soleWriter`: only this node writes to it. */
  open(id: string, soleWriter = false): SessionStream {
    this.#streams ??= new Map();
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    const stream = new SessionStream(this, id, soleWriter);
    this.#streams.set(id, stream);
    return stream;
  }

  /** A new stream that this node writes. */
  create(): SessionStream {
    return this.open(this.host.newId(this), true);
  }

  /** Whether a client reads one of them here. */
  get anyAttached(): boolean {
    for (const stream of this.#streams?.values() ?? []) if (stream.attached) return true;
    return false;
  }

  /** The number of GET streams that are open on this node. */
  get getCount(): number {
    let count = 0;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.byGet) count++;
    return count;
  }

  /** The oldest streams that are over make room for one that is. */
  changed(stream: SessionStream): void {
    if (!stream.isOver) return void this.#over?.delete(stream);
    if (this.#streams?.get(stream.id) !== stream) return;
    this.#over ??= new Set();
    this.#over.add(stream);
    this.tidy(this.host.maxEndedStreams);
  }

  released({ id, position }: SessionStream): void {
    if (id === GET_STREAM_ID && !this.gone) this.host.released(this.session, position);
  }

  /** Drops the oldest streams that are over beyond `max`. */
  tidy(max: number): void {
    const over = this.#over;
    if (over === undefined || over.size <= max) return;
    for (const stream of over) {
      if (over.size <= max) return;
      over.delete(stream);
      this.#streams?.delete(stream.id);
      this.host.drop(this, stream);
    }
  }

  /** Takes out all of them. */
  takeAll(): SessionStream[] {
    const { all } = this;
    this.#streams = undefined;
    this.#over = undefined;
    return all;
  }

  /**
   * The open stream for a message that belongs to no request. Each message goes to exactly one stream.
   *
   * Spec: Transports, "Multiple Connections",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#multiple-connections
   */
  get openForUnrelated(): SessionStream | undefined {
    const first = this.#streams?.get(GET_STREAM_ID);
    if (first?.attached === true) return first;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.byGet) return stream;
    return undefined;
  }
}
