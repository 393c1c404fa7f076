import { isThenable } from "../../../../encoding/maybe-promise.js";
import type { Id } from "../../../../jsonrpc/message.js";
import type { LogRead } from "../../../../storage/storage.js";
import { encodeEvent } from "../../../framing/sse-encode.js";
import type { ReplyStream } from "../../server/reply-rules.js";
import type { SseConnection } from "../../server/sse-connection.js";
import {
  decodeEntry,
  GET_STREAM_ID,
  type LogOwner,
  type LogReader,
  type LogSpace,
  lastEntry,
  messageEntry,
  openingEntry,
  type StreamEntry,
  StreamLog,
  unansweredAfter,
} from "./stream-log.js";

/** A position in one stream of one session. */
export interface EventPosition {
  readonly stream: string;
  /** The id in the log of the last event that the client has; 0 is the position before the first one. */
  readonly after: number;
  /** True for the event that ended its stream. */
  readonly last: boolean;
}

/**
 * The id of one event. It includes its stream, so that a client that reconnects finds the right one; it need not be
 * secret, because streams are looked up within their session.
 */
export function eventId(stream: string, id: number, last = false): string {
  return last ? `${stream}.${id}.last` : `${stream}.${id}`;
}

/** Parses an event id; undefined for anything that `eventId` does not return. */
export function parseEventId(value: string): EventPosition | undefined {
  const [, stream, digits, last] = /^([\w-]{1,32})\.(0|[1-9]\d{0,15})(\.last)?$/.exec(value) ?? [];
  const after = Number(digits);
  return stream === undefined || !Number.isSafeInteger(after) ? undefined : { stream, after, last: last !== undefined };
}

/** What the streams of all sessions of a node share. */
export interface StreamHost extends LogSpace {
  /** True if no other process can serve the sessions. */
  readonly alone: boolean;
  /** False if other nodes may take this one for gone, and may have ended its streams. */
  leads(): boolean;
  /** Has the name of a stream's log; it includes the session, so that no other session can read it. */
  readonly keys: { log(session: string, stream: string): string };
  /** Tells other nodes of new entries on a stream that has no connection here. */
  hint(session: string, stream: string): void;
  /** Tells other nodes that entries of a stream were lost. */
  lost(session: string, stream: string): void;
}

/** The session of a stream. */
export interface StreamOwner extends LogOwner {
  readonly host: StreamHost;
  readonly sessionId: string;
  /** The id of this node. */
  readonly node: string;
  /** Whether its client understands events without data. */
  readonly primes: boolean;
  /** A stream is only needed by a client that resumes it, or again by others. */
  setOver(stream: SessionStream, isOver: boolean): void;
  /** A stream has lost or given up its connection. */
  released(stream: SessionStream): void;
}

/** How many entries are read at once; bounds the memory for a client that reconnects. */
const PAGE = 64;

/**
 * One stream of a session: its events in order, whether or not a client is reading. The log is authoritative; a
 * connection on any node follows it from where its client stopped reading, up to the first entry that ends it.
 * `docs/internals/session-streams.md` has the rules.
 *
 * Spec: Transports, "Resumability and Redelivery",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export class SessionStream implements ReplyStream, LogReader {
  readonly id: string;
  /** True if no other node writes messages to it, so that new entries can be sent without reading the log. */
  readonly soleWriter: boolean;
  readonly #owner: StreamOwner;
  readonly #host: StreamHost;
  readonly #log: StreamLog;
  #connection: SseConnection | undefined;
  /** The id of the last entry that the client has with all before it; a connection without `Last-Event-ID` continues here. */
  position = 0;
  /** Ids of later entries that the client has, because it got them before they were stored. */
  #sent: Set<number> | undefined;
  #reading = false;
  #readAgain = false;
  /** The id of an entry before which others were lost, as the client of the connection knows. */
  #knownGap = 0;
  /** True if no more events will follow. */
  ended = false;
  /** True if an entry was neither stored nor sent: a client that resumes must learn of the gap. */
  hasGap = false;
  /** Opened by a GET, for messages that belong to no request. */
  byGet = false;
  /** True if a client may resume from the position before the first entry, so that no later stream may have this id. */
  startKnown = false;
  /** Requests without an answer, of a stream whose requests another node runs; undefined if they are not known. */
  unanswered: Id[] | undefined;
  /** True if the session has ended. */
  #abandoned = false;

  constructor(owner: StreamOwner, id: string, soleWriter: boolean) {
    const { host, sessionId } = owner;
    this.#owner = owner;
    this.#host = host;
    this.id = id;
    this.soleWriter = soleWriter;
    this.#log = new StreamLog(host, owner, host.keys.log(sessionId, id), this);
  }

  get attached(): boolean {
    return this.#connection !== undefined;
  }

  /** Adds an event without data, which gives the client an id to reconnect with before the first message. */
  prime(): void {
    if (!this.ended) this.#log.add(openingEntry(true));
  }

  message(text: string): void {
    if (this.ended && !this.#abandoned) return;
    const writer = this.soleWriter || this.#host.alone ? undefined : this.#owner.node;
    this.#log.add(messageEntry(text, writer));
  }

  finish(text: string | undefined): void {
    if (this.ended && !this.#abandoned) return;
    this.#log.add(lastEntry(text));
    if (this.ended) return;
    this.ended = true;
    this.#changed();
  }

  pause(retryMs: number): void {
    const connection = this.#connection;
    // A client that has events without an id would get them again.
    this.#log.whenStored(() => {
      if (connection === undefined || connection !== this.#connection) return;
      connection.write(encodeEvent({ retry: Math.max(0, Math.round(retryMs)) }));
      this.disconnect();
    });
  }

  /** Begins the reply to these requests. The log is empty, and a storage that fails must not end the connection. */
  begin(connection: SseConnection, requests: readonly Id[]): void {
    this.#connect(connection);
    // Older clients try to parse an event without data as a message, and a single process ends its streams itself.
    const { alone } = this.#host;
    const { primes } = this.#owner;
    if (primes || !alone) this.#log.add(openingEntry(primes, alone ? undefined : requests));
  }

  /** Replaces the connection. The new one gets everything after `position`; its client knows of a gap before `knownGap`. */
  attach(connection: SseConnection, position: number, knownGap = 0): void {
    const former = this.#connection;
    this.#connection = undefined;
    former?.end();
    this.#connect(connection);
    this.position = position;
    this.#knownGap = knownGap;
    this.#sent = undefined;
    this.#log.restart();
    this.#changed();
    this.follow();
  }

  /** Ends the connection, if there is one, without ending the stream. */
  disconnect(): void {
    const connection = this.#connection;
    this.#lose(connection);
    connection?.end();
  }

  /** Sends further entries to the client alone, because the session has ended and its logs are dropped. */
  abandon(): void {
    this.#log.abandon();
    this.#abandoned = true;
    this.#reading = false;
  }

  /** Takes no more entries, and stores none if `discard` is set. Resolves when nothing is being stored. */
  close(discard: boolean): Promise<void> {
    this.ended = true;
    if (!discard) this.#log.overdue();
    this.disconnect();
    this.#log.uncount();
    return discard ? this.#log.close() : this.#log.settled();
  }

  /** Sends the entries of the log that the client does not have. */
  follow(): void {
    if (this.#reading) {
      this.#readAgain = true;
      return;
    }
    if (this.#connection === undefined) return;
    this.#reading = true;
    this.#readOn();
  }

  stored(id: number, entry: StreamEntry, sent: boolean, afterGap: boolean): void {
    if (afterGap) this.#knownGap = id;
    const host = this.#host;
    if (this.#connection === undefined) {
      if (!host.alone) host.hint(this.#owner.sessionId, this.id);
    } else if (id > this.position) {
      // Where several nodes write, or others may have ended the stream, the log may have more than this node has stored.
      const mustRead = !host.alone && (!this.soleWriter || !host.leads());
      if (!mustRead && !this.#reading) return this.#pass(id, entry, sent);
      if (sent) {
        this.#sent ??= new Set();
        this.#sent.add(id);
      }
      this.follow();
    }
  }

  sendNow(entry: StreamEntry): boolean {
    const connection = this.#connection;
    if (connection === undefined || this.#reading) return false;
    if (entry.isOpening) this.#sendStart(entry, connection);
    else if (entry.data !== undefined) connection.write(encodeEvent({ data: entry.data }));
    if (entry.ends) this.#end(connection);
    return true;
  }

  lost(): void {
    this.hasGap = true;
    if (!this.#host.alone) this.#host.lost(this.#owner.sessionId, this.id);
  }

  drained(): void {
    if (this.ended) this.#changed();
  }

  #changed(): void {
    const isEnded = this.ended && this.#log.isEmpty;
    const isOver = this.#connection === undefined && (isEnded || (this.byGet && this.id !== GET_STREAM_ID));
    this.#owner.setOver(this, isOver);
  }

  #connect(connection: SseConnection): void {
    this.#connection = connection;
    connection.onLost = () => this.#lose(connection);
  }

  #lose(connection: SseConnection | undefined): void {
    if (connection === undefined || connection !== this.#connection) return;
    this.#connection = undefined;
    this.#changed();
    if (!this.#host.alone) this.#owner.released(this);
  }

  /** Gives the client an id to resume from, although nothing is stored: the position before the first entry. */
  #sendStart({ data }: StreamEntry, connection: SseConnection): void {
    if (data === undefined || this.#abandoned) return;
    this.startKnown = true;
    connection.write(encodeEvent({ id: eventId(this.id, 0), data }));
  }

  #readOn(): void {
    do {
      this.#readAgain = false;
      const read = this.#read();
      if (read === undefined) return;
      if (isThenable(read)) {
        read.then(
          (settled) => {
            if (this.#take(settled)) this.#readOn();
            else this.#doneReading();
          },
          (error) => this.#broken(error),
        );
        return;
      }
      if (!this.#take(read)) break;
    } while (this.#connection !== undefined);
    this.#doneReading();
  }

  #doneReading(): void {
    this.#reading = false;
    this.#log.catchUp();
  }

  #read(): LogRead | Promise<LogRead> | undefined {
    const { log, keys } = this.#host;
    try {
      return log.read(keys.log(this.#owner.sessionId, this.id), this.position, PAGE);
    } catch (error) {
      this.#broken(error);
      return undefined;
    }
  }

  #broken(error: unknown): void {
    this.#host.failed(error);
    this.#doneReading();
    // The client can resume from its last event id.
    this.disconnect();
  }

  /** Sends what was read; true when there may be more. */
  #take(read: LogRead): boolean {
    if (this.#connection === undefined) return false;
    if (read.evicted) {
      // Continuing would hide a gap; a client that reconnects learns about it.
      this.disconnect();
      return false;
    }
    for (const { id, entry: text } of read.entries) {
      const entry = decodeEntry(text);
      if (entry.afterGap && id !== this.#knownGap) {
        this.disconnect();
        return false;
      }
      const isSent = this.#sent?.delete(id) === true || this.#log.passed(id, entry.stored);
      this.#pass(id, entry, isSent);
    }
    return this.#connection !== undefined && (read.entries.length === PAGE || this.#readAgain);
  }

  /** Passes the next entry of the log: the client gets it with its id, or only the id if it has the entry already. */
  #pass(id: number, entry: StreamEntry, isSent: boolean): void {
    const connection = this.#connection;
    if (connection === undefined || id <= this.position) return;
    this.position = id;
    if (!isSent) {
      if (entry.data !== undefined)
        connection.write(encodeEvent({ id: eventId(this.id, id, entry.ends), data: entry.data }));
    } else if (this.#owner.primes && !this.#log.hasSent) {
      connection.write(encodeEvent({ id: eventId(this.id, id), data: "" }));
    }
    this.unanswered &&= unansweredAfter(entry, this.unanswered);
    if (entry.ends) this.#end(connection);
  }

  #end(connection: SseConnection): void {
    this.ended = true;
    this.#connection = undefined;
    connection.end();
    this.#changed();
  }
}
