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
  /** The log id of the last event that the client has. 0 is the position before the first event. */
  readonly after: number;
  /** True for the event that ended its stream. */
  readonly last: boolean;
}

/**
 * Builds the id of one event. The event id contains the stream id, so that a client that reconnects finds the right
 * stream. It need not be secret, because streams are looked up within their session.
 */
export function eventId(stream: string, id: number, last = false): string {
  return last ? `${stream}.${id}.last` : `${stream}.${id}`;
}

/** Parses an event id. Returns undefined for anything that `eventId` does not return. */
export function parseEventId(value: string): EventPosition | undefined {
  const [, stream, digits, last] = /^([\w-]{1,32})\.(0|[1-9]\d{0,15})(\.last)?$/.exec(value) ?? [];
  const after = Number(digits);
  return stream === undefined || !Number.isSafeInteger(after) ? undefined : { stream, after, last: last !== undefined };
}

/** The functions and limits that the streams of all sessions of a node share. */
export interface StreamServices extends LogSpace {
  /** True if no other process can serve the sessions. */
  readonly alone: boolean;
  /** False if other nodes may treat this node as gone and may have ended its streams. */
  holdsLease(): boolean;
  /** Builds the name of a stream's log. The name contains the session, so that no other session can read the log. */
  readonly keys: { log(session: string, stream: string): string };
  /** Notifies other nodes about new entries on a stream without a connection here. */
  notifyNewEntries(session: string, stream: string): void;
  /** Notifies other nodes that entries of a stream were lost. */
  notifyLostEntries(session: string, stream: string): void;
}

/** The session of a stream. */
export interface StreamOwner extends LogOwner {
  readonly services: StreamServices;
  readonly sessionId: string;
  /** The id of this node. */
  readonly node: string;
  /** True if the client understands events without data. */
  readonly primes: boolean;
  /** Marks or unmarks a stream that only a resuming client needs. */
  setReplayOnly(stream: SessionStream, isReplayOnly: boolean): void;
  /** Called when a stream has lost or closed its connection. */
  connectionEnded(stream: SessionStream): void;
}

/** Maximum number of entries in one read. Limits the memory for a client that reconnects. */
const PAGE_SIZE = 64;

/**
 * One stream of a session: its events in order, even while no client reads. The log is authoritative. A connection on
 * any node follows the log from the position of its client up to the first entry that ends the stream.
 * `docs/internals/session-streams.md` has the rules.
 *
 * Spec: Transports, "Resumability and Redelivery",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export class SessionStream implements ReplyStream, LogReader {
  readonly id: string;
  /** True if no other node writes messages to the stream, so that new entries can be sent without reading the log. */
  readonly soleWriter: boolean;
  readonly #owner: StreamOwner;
  readonly #services: StreamServices;
  readonly #log: StreamLog;
  #connection: SseConnection | undefined;
  /**
   * The client has every entry up to and including this id. A connection without `Last-Event-ID` continues after it.
   */
  position = 0;
  /** Ids of later entries that the client already has, because they were sent before they were stored. */
  #sent: Set<number> | undefined;
  #reading = false;
  #readAgain = false;
  /** The connected client already knows about the gap before the entry with this id. */
  #knownGap = 0;
  /** True if no more events will follow. */
  ended = false;
  /** True if an entry was neither stored nor sent. A client that resumes must learn about the gap. */
  hasGap = false;
  /** True if a GET opened the stream, for messages outside requests. */
  byGet = false;
  /** True if a client may resume from the position before the first entry, so that no later stream may have this id. */
  startKnown = false;
  /** Requests without an answer, for a stream whose requests another node runs. Undefined if they are not known. */
  unanswered: Id[] | undefined;
  /** True if the session has ended, so that entries are only sent to the client. */
  #abandoned = false;

  constructor(owner: StreamOwner, id: string, soleWriter: boolean) {
    const { services, sessionId } = owner;
    this.#owner = owner;
    this.#services = services;
    this.id = id;
    this.soleWriter = soleWriter;
    this.#log = new StreamLog(services, owner, services.keys.log(sessionId, id), this);
  }

  get attached(): boolean {
    return this.#connection !== undefined;
  }

  /** Adds an event without data. Its id lets the client resume even if no message has been sent yet. */
  prime(): void {
    if (!this.ended) this.#log.add(openingEntry(true));
  }

  message(text: string): void {
    if (this.ended && !this.#abandoned) return;
    const writer = this.soleWriter || this.#services.alone ? undefined : this.#owner.node;
    this.#log.add(messageEntry(text, writer));
  }

  finish(text: string | undefined): void {
    if (this.ended && !this.#abandoned) return;
    this.#log.add(lastEntry(text));
    if (this.ended) return;
    this.ended = true;
    this.#updateReplayOnly();
  }

  pause(retryMs: number): void {
    const connection = this.#connection;
    // Waits until all entries are stored. A client that received events without an id would otherwise receive them
    // again after it reconnects.
    this.#log.whenStored(() => {
      if (connection === undefined || connection !== this.#connection) return;
      connection.write(encodeEvent({ retry: Math.max(0, Math.round(retryMs)) }));
      this.disconnect();
    });
  }

  /**
   * Begins the reply to these requests. Does not read the log, which is still empty, so that a storage failure does not
   * end the connection.
   */
  begin(connection: SseConnection, requests: readonly Id[]): void {
    this.#connect(connection);
    // Older clients would parse an event without data as a message, so they receive no opening event. Other nodes need
    // the opening entry to end the stream if this node is lost.
    const { alone } = this.#services;
    const { primes } = this.#owner;
    if (primes || !alone) this.#log.add(openingEntry(primes, alone ? undefined : requests));
  }

  /**
   * Replaces the connection. The new connection receives everything after `position`. Its client knows about the gap
   * before the entry `knownGap`.
   */
  attach(connection: SseConnection, position: number, knownGap = 0): void {
    const former = this.#connection;
    this.#connection = undefined;
    former?.end();
    this.#connect(connection);
    this.position = position;
    this.#knownGap = knownGap;
    this.#sent = undefined;
    this.#log.restart();
    this.#updateReplayOnly();
    this.follow();
  }

  /** Closes the connection, if any, without ending the stream. */
  disconnect(): void {
    const connection = this.#connection;
    this.#lose(connection);
    connection?.end();
  }

  /** Sends further entries only to the client, because the session has ended and its logs are dropped. */
  abandon(): void {
    this.#log.abandon();
    this.#abandoned = true;
    this.#reading = false;
  }

  /**
   * Accepts no more entries. `discard` also drops entries that are not stored yet. Resolves when no entry is being
   * stored any more.
   */
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
    this.#readPages();
  }

  entryStored(id: number, entry: StreamEntry, sent: boolean, afterGap: boolean): void {
    if (afterGap) this.#knownGap = id;
    const services = this.#services;
    if (this.#connection === undefined) {
      if (!services.alone) services.notifyNewEntries(this.#owner.sessionId, this.id);
    } else if (id > this.position) {
      // If several nodes write, or others may have ended the stream, the log may have more entries than this node
      // stored.
      const mustRead = !services.alone && (!this.soleWriter || !services.holdsLease());
      if (!mustRead && !this.#reading) return this.#sendEntry(id, entry, sent);
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

  entryLost(): void {
    this.hasGap = true;
    if (!this.#services.alone) this.#services.notifyLostEntries(this.#owner.sessionId, this.id);
  }

  queueEmptied(): void {
    if (this.ended) this.#updateReplayOnly();
  }

  #updateReplayOnly(): void {
    const isEnded = this.ended && this.#log.isEmpty;
    const isReplayOnly = this.#connection === undefined && (isEnded || (this.byGet && this.id !== GET_STREAM_ID));
    this.#owner.setReplayOnly(this, isReplayOnly);
  }

  #connect(connection: SseConnection): void {
    this.#connection = connection;
    connection.onLost = () => this.#lose(connection);
  }

  #lose(connection: SseConnection | undefined): void {
    if (connection === undefined || connection !== this.#connection) return;
    this.#connection = undefined;
    this.#updateReplayOnly();
    if (!this.#services.alone) this.#owner.connectionEnded(this);
  }

  /**
   * Sends the id of the position before the first entry, so that the client can resume even though nothing is stored
   * yet.
   */
  #sendStart({ data }: StreamEntry, connection: SseConnection): void {
    if (data === undefined || this.#abandoned) return;
    this.startKnown = true;
    connection.write(encodeEvent({ id: eventId(this.id, 0), data }));
  }

  #readPages(): void {
    do {
      this.#readAgain = false;
      const read = this.#read();
      if (read === undefined) return;
      if (isThenable(read)) {
        read.then(
          (settled) => {
            if (this.#sendPage(settled)) this.#readPages();
            else this.#doneReading();
          },
          (error) => this.#readFailed(error),
        );
        return;
      }
      if (!this.#sendPage(read)) break;
    } while (this.#connection !== undefined);
    this.#doneReading();
  }

  #doneReading(): void {
    this.#reading = false;
    this.#log.catchUp();
  }

  #read(): LogRead | Promise<LogRead> | undefined {
    const { log, keys } = this.#services;
    try {
      return log.read(keys.log(this.#owner.sessionId, this.id), this.position, PAGE_SIZE);
    } catch (error) {
      this.#readFailed(error);
      return undefined;
    }
  }

  #readFailed(error: unknown): void {
    this.#services.failed(error);
    this.#doneReading();
    // The client can resume from its last event id.
    this.disconnect();
  }

  /** Sends the entries of one read. Returns true if there may be more entries. */
  #sendPage(read: LogRead): boolean {
    if (this.#connection === undefined) return false;
    if (read.evicted) {
      // Continuing would hide the gap. A client that reconnects learns about it.
      this.disconnect();
      return false;
    }
    for (const { id, entry: text } of read.entries) {
      const entry = decodeEntry(text);
      if (entry.afterGap && id !== this.#knownGap) {
        this.disconnect();
        return false;
      }
      const isSent = this.#sent?.delete(id) === true || this.#log.readFromLog(id, entry.stored);
      this.#sendEntry(id, entry, isSent);
    }
    return this.#connection !== undefined && (read.entries.length === PAGE_SIZE || this.#readAgain);
  }

  /** Sends the next entry of the log with its id, or only the id if the client already has the entry. */
  #sendEntry(id: number, entry: StreamEntry, isSent: boolean): void {
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
    this.#updateReplayOnly();
  }
}
