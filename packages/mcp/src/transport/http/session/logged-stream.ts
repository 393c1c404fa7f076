import { isThenable } from "../../../encoding/maybe-promise.js";
import type { AppendLog, LogLimits, LogRead } from "../../../storage/storage.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { SseConnection } from "../server/sse-connection.js";
import { eventId } from "./event-id.js";

/** The storage of one session's streams, and who is notified about them. */
export interface StreamStorage {
  readonly log: AppendLog;
  readonly limits: LogLimits;
  /** The name of a stream's log; it includes the session, so that no other session can read it. */
  logName(stream: string): string;
  /** Notifies other nodes of new entries on a stream that has no connection here. */
  hint(stream: string): void;
  /** A stream ended. */
  ended(): void;
  /** A stream lost or gave up its connection. */
  released(stream: LoggedStream): void;
  failed(error: unknown): void;
}

/** Each log entry begins with a letter; this one alone is an event without data. */
export const PRIMING = "p";
const MESSAGE = "m";
const LAST = "e";
const END = "x";

/** How many entries are read at once; bounds the memory for a client that reconnects. */
const PAGE = 64;

/**
 * One stream of a session: its events in order, whether or not a client is reading. The log is authoritative; a
 * connection on any node follows it from where its client stopped reading.
 *
 * Spec: Transports, "Resumability and Redelivery",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export class LoggedStream {
  readonly id: string;
  readonly #storage: StreamStorage;
  /** True if no other node can append, so that new entries can be written without reading the log. */
  readonly #soleWriter: boolean;
  #connection: SseConnection | undefined;
  /** The id of the last entry written to the connection. */
  #written = 0;
  #reading = false;
  #readAgain = false;
  /** Pending appends, in sequence. */
  #appending: Promise<void> | undefined;
  /** Entries that the storage refused while the log was being read. */
  #unstored: string[] | undefined;
  /** True if no more events will follow. */
  ended = false;
  /** True if an entry was neither stored nor written: whoever resumes must learn of the gap. */
  hasGap = false;
  /** Opened by a GET, for messages that belong to no request. */
  byGet = false;

  constructor(storage: StreamStorage, id: string, soleWriter: boolean) {
    this.#storage = storage;
    this.id = id;
    this.#soleWriter = soleWriter;
  }

  get attached(): boolean {
    return this.#connection !== undefined;
  }

  /** Where a connection without `Last-Event-ID` continues. */
  get position(): number {
    return this.#written;
  }

  /** An event without data, which gives the client an id to reconnect with before the first message. */
  prime(): void {
    this.#append(PRIMING);
  }

  say(text: string): void {
    this.#append(MESSAGE + text);
  }

  /** Sends the last message, if any, and ends the stream. */
  finish(text: string | undefined): void {
    this.#append(text === undefined ? END : LAST + text);
    this.ended = true;
    this.#storage.ended();
  }

  /** Gives a new stream its first connection. Its log is empty, and a storage that fails must not end it. */
  begin(connection: SseConnection): void {
    this.#connection = connection;
    connection.onLost = () => this.release(connection);
  }

  /** Replaces the stream's connection. Everything after `after` is written to it. */
  attach(connection: SseConnection, after: number): void {
    const former = this.#connection;
    this.#connection = undefined;
    former?.end();
    this.#connection = connection;
    this.#written = after;
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

  /** As `disconnect`, after the events so far are written. */
  leave(): void {
    this.#afterAppends(() => this.disconnect());
  }

  /** Ends the connection with a `retry` time after the events so far are written. */
  pause(farewell: string): void {
    this.#afterAppends(() => {
      const connection = this.release();
      connection?.write(farewell);
      connection?.end();
    });
  }

  #afterAppends(act: () => void): void {
    if (this.#appending === undefined) act();
    else void this.#appending.then(act);
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

  #append(entry: string): void {
    if (this.ended) return;
    if (this.#appending !== undefined) {
      this.#appending = this.#afterwards(
        this.#appending.then(() => this.#store(entry)),
        entry,
      );
      return;
    }
    try {
      const id = this.#store(entry);
      if (isThenable(id)) this.#appending = this.#afterwards(id, entry);
      else this.#appended(id, entry);
    } catch (error) {
      this.#refused(error, entry);
    }
  }

  #store(entry: string): number | Promise<number> {
    return this.#storage.log.append(this.#storage.logName(this.id), entry, this.#storage.limits);
  }

  #afterwards(storing: Promise<number>, entry: string): Promise<void> {
    const done = storing.then(
      (id) => this.#appended(id, entry),
      (error) => this.#refused(error, entry),
    );
    void done.then(() => {
      if (this.#appending === done) this.#appending = undefined;
    });
    return done;
  }

  #appended(id: number, entry: string): void {
    if (this.#connection === undefined) return this.#storage.hint(this.id);
    if (!this.#soleWriter || this.#reading) return this.follow();
    this.#write(id, entry);
  }

  /** The storage is full or out of order. Whoever reads now gets the entry all the same, without an id to resume from. */
  #refused(error: unknown, entry: string): void {
    this.#storage.failed(error);
    if (this.#reading) {
      this.#unstored ??= [];
      this.#unstored.push(entry);
    } else {
      this.#writeUnstored(entry);
    }
  }

  #writeUnstored(entry: string): void {
    const connection = this.#connection;
    if (connection === undefined) {
      this.hasGap ||= entry !== PRIMING;
      return;
    }
    if (entry !== PRIMING && entry !== END) connection.write(encodeEvent({ data: entry.slice(1) }));
    this.#endAfter(entry, connection);
  }

  #doneReading(): void {
    this.#reading = false;
    const unstored = this.#unstored ?? [];
    this.#unstored = undefined;
    for (const entry of unstored) this.#writeUnstored(entry);
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

  #read(): LogRead | Promise<LogRead> | undefined {
    try {
      return this.#storage.log.read(this.#storage.logName(this.id), this.#written, PAGE);
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
    for (const { id, entry } of read.entries) this.#write(id, entry);
    return this.#connection !== undefined && (read.entries.length === PAGE || this.#readAgain);
  }

  #write(id: number, entry: string): void {
    const connection = this.#connection;
    if (connection === undefined || id <= this.#written) return;
    this.#written = id;
    if (entry !== END) connection.write(encodeEvent({ id: eventId(this.id, id, isLast(entry)), data: entry.slice(1) }));
    this.#endAfter(entry, connection);
  }

  #endAfter(entry: string, connection: SseConnection): void {
    if (!isLast(entry)) return;
    this.ended = true;
    this.#connection = undefined;
    connection.end();
  }
}

function isLast(entry: string): boolean {
  return entry === END || entry[0] === LAST;
}
