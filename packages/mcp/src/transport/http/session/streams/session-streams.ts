import type { Id } from "../../../../jsonrpc/message.js";
import type { KeyValue } from "../../../../storage/storage.js";
import type { ReplyRules, ReplySession, ReplyStream } from "../../server/reply-rules.js";
import type { SseConnection } from "../../server/sse-connection.js";
import { SessionStream, type StreamOwner, type StreamServices } from "./stream.js";
import { GET_STREAM_ID, NODE_ID_LENGTH, nodeOf, type StoredLength } from "./stream-log.js";

const SALT_LENGTH = 4;
/**
 * Number of streams that a node announces at first for a session. Most sessions need no more, so they need one write.
 */
const FIRST_BOUND = 8;
const MAX_ATTEMPTS = 16;

/** The storage that the streams of all sessions of a principal use. */
export interface StreamShare extends StoredLength {
  readonly sessions: Iterable<{ readonly streams: SessionStreams }>;
}

/** The functions and limits that the streams of all sessions of a node share. */
export interface SessionStreamServices extends StreamServices {
  readonly maxEndedStreams: number;
  /** Stores that this node may have opened up to `bound` streams of a session. */
  announce(session: string, bound: number): void;
  /** Stores the position at which the first GET stream of a session has stopped. */
  storePosition(session: string, position: number): void;
  /** Drops the log of a stream that can no longer be resumed. */
  drop(streams: SessionStreams, stream: SessionStream): void;
}

/** The session of the streams. */
interface StreamingSession extends ReplySession {
  readonly id: string;
}

/**
 * The streams of one session on this node. Also the reply rules for its requests: a lost connection does not cancel
 * them, and the client can resume the stream to get the answer.
 */
export class SessionStreams implements StreamOwner, ReplyRules {
  readonly leavingCancels = false;
  readonly services: SessionStreamServices;
  readonly session: StreamingSession;
  readonly sessionId: string;
  readonly primes: boolean;
  readonly node: string;
  stored = 0;
  share: StreamShare | undefined;
  /** True if the session has ended on every node. */
  gone = false;
  /**
   * Number of the next stream of this node. Stream ids contain these numbers. A number is reused once the log of its
   * former stream is dropped. The highest number of each node therefore determines which logs a session has, so that
   * any node can delete these logs.
   */
  #nextNumber = 0;
  #freeNumbers: number[] | undefined;
  /** Streams with lower numbers are announced in the storage. */
  #announced = 0;
  // Created on demand, because most sessions are idle most of the time.
  #streams: Map<string, SessionStream> | undefined;
  /** Streams that only a resuming client needs, oldest first. */
  #replayOnly: Set<SessionStream> | undefined;

  constructor(services: SessionStreamServices, session: StreamingSession, node: string) {
    this.services = services;
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

  /**
   * Returns the stream with this id. Creates the stream on first use. `soleWriter` means that only this node writes to
   * it.
   */
  open(id: string, soleWriter = false): SessionStream {
    this.#streams ??= new Map();
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    const stream = new SessionStream(this, id, soleWriter);
    this.#streams.set(id, stream);
    return stream;
  }

  /** Creates a stream that this node writes. */
  create(): SessionStream {
    const number = this.#freeNumbers?.pop() ?? this.#nextNumber++;
    if (number >= this.#announced) {
      this.#announced = Math.max(FIRST_BOUND, this.#announced * 4);
      if (!this.services.alone) this.services.announce(this.sessionId, this.#announced);
    }
    return this.open(idOf(this.node, this.sessionId, number), true);
  }

  /**
   * Makes the number of a stream available again, after its log was dropped. A number stays in use if a client may
   * still resume from the start of its stream.
   */
  freeNumber({ id, startKnown }: SessionStream): void {
    if (startKnown || nodeOf(id) !== this.node) return;
    this.#freeNumbers ??= [];
    this.#freeNumbers.push(Number.parseInt(id.slice(NODE_ID_LENGTH + 1 + SALT_LENGTH), 36));
  }

  openStream(connection: SseConnection, requests: readonly Id[]): ReplyStream {
    const stream = this.create();
    stream.begin(connection, requests);
    return stream;
  }

  /** True if a client reads a stream of this session here. */
  get anyAttached(): boolean {
    for (const stream of this.#streams?.values() ?? []) if (stream.attached) return true;
    return false;
  }

  /** Number of GET streams that are open on this node. */
  get getCount(): number {
    let count = 0;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.byGet) count++;
    return count;
  }

  /** Marks or unmarks a stream as needed only for resuming. Drops the oldest such streams beyond the limit. */
  setReplayOnly(stream: SessionStream, isReplayOnly: boolean): void {
    if (!isReplayOnly) return void this.#replayOnly?.delete(stream);
    if (this.#streams?.get(stream.id) !== stream) return;
    this.#replayOnly ??= new Set();
    this.#replayOnly.add(stream);
    this.dropOldest(this.services.maxEndedStreams);
  }

  connectionEnded({ id, position }: SessionStream): void {
    if (id === GET_STREAM_ID && !this.gone) this.services.storePosition(this.sessionId, position);
  }

  /** Drops the oldest streams that only a resuming client needs, until `max` remain. */
  dropOldest(max: number): void {
    const replayOnly = this.#replayOnly;
    if (replayOnly === undefined || replayOnly.size <= max) return;
    for (const stream of replayOnly) {
      if (replayOnly.size <= max) return;
      replayOnly.delete(stream);
      this.#streams?.delete(stream.id);
      this.services.drop(this, stream);
    }
  }

  /** Removes and returns all streams. */
  removeAll(): SessionStream[] {
    const { all } = this;
    this.#streams = undefined;
    this.#replayOnly = undefined;
    return all;
  }

  /**
   * The open stream for a message outside requests. Each message goes to exactly one stream.
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

/** Stores how many streams a node may have opened for a session. */
export async function announceStreams(
  kv: KeyValue,
  key: string,
  node: string,
  bound: number,
  ttlMs: number,
): Promise<void> {
  for (let trial = 0; trial < MAX_ATTEMPTS; trial++) {
    const stored = await kv.get(key);
    const value = JSON.stringify({ ...decode(stored?.value), [node]: bound });
    if ((await kv.set(key, value, { ttlMs, ifVersion: stored?.version ?? 0 })) !== undefined) return;
  }
}

/** Returns the ids of all streams that nodes have announced. */
export async function announcedStreams(kv: KeyValue, key: string, session: string): Promise<string[]> {
  const bounds = Object.entries(decode((await kv.get(key))?.value));
  return bounds.flatMap(([node, bound]) => Array.from({ length: bound }, (_, number) => idOf(node, session, number)));
}

/**
 * Builds a stream id. The id contains a part of the session id, so that an event id of one session matches nothing in
 * another.
 */
function idOf(node: string, session: string, number: number): string {
  return `${node}-${session.slice(-SALT_LENGTH)}${number.toString(36)}`;
}

/** Does not validate the text, because only nodes of this server write to this key. */
function decode(text: string | undefined): Record<string, number> {
  return text === undefined ? {} : (JSON.parse(text) as Record<string, number>);
}
