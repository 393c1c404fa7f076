import type { Id } from "../../../../jsonrpc/message.js";
import type { KeyValue } from "../../../../storage/storage.js";
import type { ReplyRules, ReplySession, ReplyStream } from "../../server/reply-rules.js";
import type { SseConnection } from "../../server/sse-connection.js";
import { SessionStream, type StreamHost, type StreamOwner } from "./stream.js";
import { GET_STREAM_ID, NODE_ID_LENGTH, nodeOf, type StoredLength } from "./stream-log.js";

const SALT_LENGTH = 4;
/** How many streams a node announces at once, so that most sessions announce them once. */
const FIRST_BOUND = 8;
const MAX_TRIALS = 16;

/** What the streams of all sessions of a principal take up. */
export interface StreamShare extends StoredLength {
  readonly sessions: Iterable<{ readonly streams: SessionStreams }>;
}

/** What the streams of all sessions of a node share. */
export interface SessionStreamsHost extends StreamHost {
  readonly maxEndedStreams: number;
  /** Stores that this node may have opened so many streams of a session. */
  announce(session: string, bound: number): void;
  /** Stores where the first GET stream of a session has stopped. */
  released(session: string, position: number): void;
  /** Drops the log of a stream that cannot be resumed any more. */
  drop(streams: SessionStreams, stream: SessionStream): void;
}

/** The session of some streams. */
interface StreamingSession extends ReplySession {
  readonly id: string;
}

/**
 * The streams of one session that a node knows. Also how to reply to its requests: a lost connection does not cancel them, and the
 * client can resume to get the answer.
 */
export class SessionStreams implements StreamOwner, ReplyRules {
  readonly leavingCancels = false;
  readonly host: SessionStreamsHost;
  readonly session: StreamingSession;
  readonly sessionId: string;
  readonly primes: boolean;
  readonly node: string;
  stored = 0;
  share: StreamShare | undefined;
  /** True if the session has ended on every node. */
  gone = false;
  /**
   * The numbers of this node's streams, of which their ids are made. They are used again once the log of an earlier stream is gone;
   * so the highest number of each node tells which logs a session has, wherever it is ended.
   */
  #nextNumber = 0;
  #freeNumbers: number[] | undefined;
  /** The streams below this number are announced in the storage. */
  #announced = 0;
  // Created on demand, because most sessions are idle most of the time.
  #streams: Map<string, SessionStream> | undefined;
  /** Streams that only a client that resumes them needs, in the order in which they became so. */
  #over: Set<SessionStream> | undefined;

  constructor(host: SessionStreamsHost, session: StreamingSession, node: string) {
    this.host = host;
    this.session = session;
    this.sessionId = session.id;
    this.primes = session.primes;
    this.node = node;
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
    const number = this.#freeNumbers?.pop() ?? this.#nextNumber++;
    if (number >= this.#announced) {
      this.#announced = Math.max(FIRST_BOUND, this.#announced * 4);
      if (!this.host.alone) this.host.announce(this.sessionId, this.#announced);
    }
    return this.open(idOf(this.node, this.sessionId, number), true);
  }

  /** The log of a stream that this node has opened is gone, so that another one may have its number. */
  free({ id, startKnown }: SessionStream): void {
    if (startKnown || nodeOf(id) !== this.node) return;
    this.#freeNumbers ??= [];
    this.#freeNumbers.push(Number.parseInt(id.slice(NODE_ID_LENGTH + 1 + SALT_LENGTH), 36));
  }

  openStream(connection: SseConnection, requests: readonly Id[]): ReplyStream {
    const stream = this.create();
    stream.begin(connection, requests);
    return stream;
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

  /** Keeps the newest streams that are over. */
  setOver(stream: SessionStream, isOver: boolean): void {
    if (!isOver) return void this.#over?.delete(stream);
    if (this.#streams?.get(stream.id) !== stream) return;
    this.#over ??= new Set();
    this.#over.add(stream);
    this.tidy(this.host.maxEndedStreams);
  }

  released({ id, position }: SessionStream): void {
    if (id === GET_STREAM_ID && !this.gone) this.host.released(this.sessionId, position);
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

/** Writes how many streams a node has opened for a session. */
export async function announceStreams(
  kv: KeyValue,
  key: string,
  node: string,
  bound: number,
  ttlMs: number,
): Promise<void> {
  for (let trial = 0; trial < MAX_TRIALS; trial++) {
    const stored = await kv.get(key);
    const value = JSON.stringify({ ...decode(stored?.value), [node]: bound });
    if ((await kv.set(key, value, { ttlMs, ifVersion: stored?.version ?? 0 })) !== undefined) return;
  }
}

/** The ids of all streams that nodes have announced. */
export async function announcedStreams(kv: KeyValue, key: string, session: string): Promise<string[]> {
  const bounds = Object.entries(decode((await kv.get(key))?.value));
  return bounds.flatMap(([node, bound]) => Array.from({ length: bound }, (_, number) => idOf(node, session, number)));
}

/** Has a part of the session's id too, so that an event id of one session is none of another. */
function idOf(node: string, session: string, number: number): string {
  return `${node}-${session.slice(-SALT_LENGTH)}${number.toString(36)}`;
}

/** Trusts its input, because only our nodes write there. */
function decode(text: string | undefined): Record<string, number> {
  return text === undefined ? {} : (JSON.parse(text) as Record<string, number>);
}
