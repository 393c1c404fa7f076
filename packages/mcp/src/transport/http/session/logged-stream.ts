import { isThenable } from "../../../encoding/maybe-promise.js";
import type { Id } from "../../../jsonrpc/message.js";
import type { LogRead } from "../../../storage/storage.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { SseConnection } from "../server/sse-connection.js";
import { EntryQueue, type EntryReceiver, type EntryStorage } from "./entry-queue.js";
import {
  dataOf,
  followsGap,
  isLast,
  isSilent,
  lastEntry,
  messageEntry,
  notAnsweredBy,
  openingEntry,
  PRIMING_ENTRY,
  withoutGap,
} from "./log-entry.js";
import { ReaderPosition, type StartPosition } from "./reader-position.js";

/** The storage of one session's streams, and who is notified about them. */
export interface StreamStorage extends EntryStorage {
  /** Whether its client understands events without data. */
  readonly primes: boolean;
  /** True if no other process can serve the session. */
  readonly alone: boolean;
  /** The id of this node. */
  readonly node: string;
  /** The name of a stream's log; it includes the session, so that no other session can read it. */
  logName(stream: string): string;
  /** Notifies other nodes of new entries on a stream that has no connection here. */
  hint(stream: string): void;
  /** Notifies other nodes that entries of a stream were lost. */
  lost(stream: string): void;
  /** A stream ended. */
  ended(): void;
  /** A stream lost or gave up its connection. */
  released(stream: LoggedStream): void;
  /** False if other nodes may take this one for gone, and may have ended its streams. */
  leads(): boolean;
}

/** How many entries are read at once; bounds the memory for a client that reconnects. */
const PAGE = 64;

/**
 * One stream of a session: its events in order, whether or not a client is reading. The log is authoritative; a
 * connection on any node follows it from where its client stopped reading, up to the first entry that ends it.
 *
 * Spec: Transports, "Resumability and Redelivery",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export class LoggedStream implements EntryReceiver {
  readonly id: string;
  readonly #storage: StreamStorage;
  /** True if the requests of the stream run here, so that new entries can be written without reading the log. */
  readonly soleWriter: boolean;
  readonly #queue: EntryQueue;
  #connection: SseConnection | undefined;
  readonly #position: ReaderPosition;
  #reading = false;
  #readAgain = false;
  /** The entry after a gap that the client of the connection did not have. */
  #bridged = 0;
  /** True if no more events will follow. */
  ended = false;
  /** True if an entry was neither stored nor written: whoever resumes must learn of the gap. */
  hasGap = false;
  /** Opened by a GET, for messages that belong to no request. */
  byGet = false;
  /** Requests without an answer, of a stream whose requests another node runs; undefined if they are not known. */
  unanswered: Id[] | undefined;
  /** True if the session has ended. */
  #abandoned = false;

  constructor(storage: StreamStorage, id: string, soleWriter: boolean) {
    this.#storage = storage;
    this.id = id;
    this.soleWriter = soleWriter;
    this.#position = new ReaderPosition(id, storage.node);
    this.#queue = new EntryQueue(storage, storage.logName(id), this);
  }

  get attached(): boolean {
    return this.#connection !== undefined;
  }

  /** True while entries of it are being stored. */
  get storing(): boolean {
    return !this.#queue.isEmpty;
  }

  /** Where a connection without `Last-Event-ID` continues. */
  get position(): number {
    return this.#position.written;
  }

  /** An event without data, which gives the client an id to reconnect with before the first message. */
  prime(): void {
    this.#append(PRIMING_ENTRY);
  }

  /** The first entry of the reply to these requests. */
  open(requests: () => readonly Id[]): void {
    // Older clients try to parse an event without data as a message, and nobody else ends the stream of a single process.
    if (!this.#storage.alone) this.#append(openingEntry(this.#storage.primes, requests()));
    else if (this.#storage.primes) this.prime();
  }

  say(text: string): void {
    const { alone, node } = this.#storage;
    this.#append(this.soleWriter || alone ? messageEntry(text) : messageEntry(text, node));
  }

  /** Sends the last message, if any, and ends the stream. */
  finish(text: string | undefined): void {
    this.#append(lastEntry(text));
    this.ended = true;
    this.#storage.ended();
  }

  /** Gives a new stream its first connection. Its log is empty, and a storage that fails must not end it. */
  begin(connection: SseConnection): void {
    this.#connection = connection;
    connection.onLost = () => this.release(connection);
  }

  /** Replaces the stream's connection. Everything after `at` is written to it; entries lost before `bridged` are known to be. */
  attach(connection: SseConnection, at: StartPosition, bridged = 0): void {
    const former = this.#connection;
    this.#connection = undefined;
    former?.end();
    this.#connection = connection;
    this.#position.restart(at);
    this.#bridged = bridged;
    this.#queue.restart();
    connection.onLost = () => this.release(connection);
    this.follow();
  }

  /** Releases a lost connection, or the current one. */
  release(connection = this.#connection): SseConnection | undefined {
    if (connection === undefined || connection !== this.#connection) return undefined;
    this.#connection = undefined;
    this.#storage.released(this);
    return connection;
  }

  /** Ends the connection without ending the stream. */
  disconnect(): void {
    this.release()?.end();
  }

  /** Sends further entries to the client alone, because the session has ended and its logs are dropped. */
  abandon(): void {
    this.#queue.overdue();
    this.#abandoned = true;
    this.#reading = false;
  }

  /** Takes no more entries, and stores none if `discard` is set. Resolves when nothing is being stored. */
  close(discard: boolean): Promise<void> {
    this.ended = true;
    if (!discard) this.#queue.overdue();
    this.disconnect();
    this.#queue.giveBack();
    return discard ? this.#queue.close() : this.#queue.settled();
  }

  /** Ends the connection with a `retry` time after the events so far are written. */
  pause(farewell: string): void {
    this.#queue.whenGiven(() => {
      const connection = this.release();
      connection?.write(farewell);
      connection?.end();
    });
  }

  /** Writes the entries of the log that the connection does not have. */
  follow(): void {
    if (this.#reading) {
      this.#readAgain = true;
      return;
    }
    if (this.#connection === undefined) return;
    this.#reading = true;
    this.#readOn();
  }

  stored(id: number, entry: string, afterGap: boolean): void {
    if (afterGap) this.#bridged = id;
    if (this.#connection === undefined) return this.#storage.hint(this.id);
    if (!this.soleWriter || this.#reading || !this.#storage.leads()) this.follow();
    else this.#write(id, entry);
  }

  give(entry: string, willBeStored: boolean): boolean {
    const connection = this.#connection;
    if (connection === undefined || this.#reading) return false;
    if (!isSilent(entry)) {
      const id = willBeStored ? this.#position.give(entry) : undefined;
      const data = dataOf(entry);
      if (data !== undefined && (id !== undefined || !willBeStored)) connection.write(encodeEvent({ id, data }));
    }
    this.#endAfter(entry, connection);
    return true;
  }

  forgotten(): void {
    this.#position.forget();
  }

  lost(): void {
    this.hasGap = true;
    this.#storage.lost(this.id);
  }

  #append(entry: string): void {
    if (this.#abandoned) this.give(entry, false);
    else if (!this.ended) this.#queue.add(entry);
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
    this.#queue.catchUp();
  }

  #read(): LogRead | Promise<LogRead> | undefined {
    try {
      return this.#storage.log.read(this.#storage.logName(this.id), this.#position.written, PAGE);
    } catch (error) {
      this.#broken(error);
      return undefined;
    }
  }

  #broken(error: unknown): void {
    this.#storage.failed(error);
    this.#doneReading();
    // The client can resume from its last event id.
    this.disconnect();
  }

  /** Writes what was read; true when there may be more. */
  #take(read: LogRead): boolean {
    if (this.#connection === undefined) return false;
    if (read.evicted) {
      // Continuing would hide a gap; a client that reconnects learns about it.
      this.disconnect();
      return false;
    }
    for (const { id, entry } of read.entries) {
      if (followsGap(entry) && id !== this.#bridged) {
        this.disconnect();
        return false;
      }
      this.#write(id, withoutGap(entry));
      this.#queue.read(id, withoutGap(entry));
    }
    return this.#connection !== undefined && (read.entries.length === PAGE || this.#readAgain);
  }

  #write(id: number, entry: string): void {
    const connection = this.#connection;
    if (connection === undefined || id <= this.#position.written) return;
    const event = this.#position.pass(id, entry);
    if (event === undefined) return;
    const data = dataOf(entry);
    if (data !== undefined) connection.write(encodeEvent({ id: event, data }));
    this.unanswered &&= notAnsweredBy(entry, this.unanswered);
    this.#endAfter(entry, connection);
  }

  #endAfter(entry: string, connection: SseConnection): void {
    if (!isLast(entry)) return;
    this.ended = true;
    this.#connection = undefined;
    connection.end();
  }
}
