import { isThenable } from "../../../../encoding/maybe-promise.js";
import { type Id, isObject } from "../../../../jsonrpc/message.js";
import type { DueList } from "../../../../platform/due-list.js";
import { type AppendLog, type LogLimits, StorageError } from "../../../../storage/storage.js";

/** Length of a node id. The ids of a node's streams begin with it. */
export const NODE_ID_LENGTH = 12;

/** The id of the first GET stream. It stores messages outside requests until the client reads them. */
export const GET_STREAM_ID = "s";

/** Returns the node that writes a stream. Undefined for the first GET stream, which all nodes write. */
export function nodeOf(stream: string): string | undefined {
  return stream[NODE_ID_LENGTH] === "-" ? stream.slice(0, NODE_ID_LENGTH) : undefined;
}

/** One entry of a stream's log. */
export interface StreamEntry {
  /** The stored form: a letter for the kind, then the data of the event. */
  readonly stored: string;
  /** The data of the event. "" for an event with only an id, undefined for an entry without an event. */
  readonly data: string | undefined;
  /** True for the first entry of a stream, which is not a message. */
  readonly isOpening: boolean;
  /** True for the entry that ends its stream. */
  readonly ends: boolean;
}

/** The letters for the kinds of entries. `AFTER_GAP` precedes the letter if entries before this one were lost. */
const OPENING_EVENT = "p";
const OPENING = "o";
const MESSAGE = "m";
const SIGNED_MESSAGE = "n";
const LAST_MESSAGE = "e";
const END = "x";
const AFTER_GAP = "g";

/**
 * The entry that begins a stream, with the requests that the stream answers. If `primes` is true, the entry is an event
 * without data, whose id the client can resume from.
 */
export function openingEntry(primes: boolean, requests?: readonly Id[]): StreamEntry {
  const named = requests === undefined ? "" : JSON.stringify(requests);
  return {
    stored: (primes ? OPENING_EVENT : OPENING) + named,
    data: primes ? "" : undefined,
    isOpening: true,
    ends: false,
  };
}

/** A message. `writer` is the node that writes it, if several nodes write to the stream. */
export function messageEntry(data: string, writer?: string): StreamEntry {
  const stored = writer === undefined ? MESSAGE + data : SIGNED_MESSAGE + writer + data;
  return { stored, data, isOpening: false, ends: false };
}

/** The end of a stream, with its last message if there is one. */
export function lastEntry(data: string | undefined): StreamEntry {
  return { stored: data === undefined ? END : LAST_MESSAGE + data, data, isOpening: false, ends: true };
}

/** Decodes an entry of the log. Does not validate the text, because only nodes of this server write to the log. */
export function decodeEntry(text: string): StreamEntry & { readonly afterGap: boolean } {
  const afterGap = text[0] === AFTER_GAP;
  const stored = afterGap ? text.slice(1) : text;
  const kind = stored[0];
  const isOpening = kind === OPENING_EVENT || kind === OPENING;
  const ends = kind === LAST_MESSAGE || kind === END;
  return { stored, data: dataOf(kind, stored), isOpening, ends, afterGap };
}

function dataOf(kind: string | undefined, stored: string): string | undefined {
  if (kind === OPENING_EVENT) return "";
  if (kind === OPENING || kind === END) return undefined;
  return stored.slice(kind === SIGNED_MESSAGE ? 1 + NODE_ID_LENGTH : 1);
}

/**
 * Returns the requests that are unanswered after this entry. An opening entry may have its own list, which replaces
 * `requests`.
 */
export function unansweredAfter({ stored, data, isOpening }: StreamEntry, requests: Id[]): Id[] {
  if (isOpening) return stored.length > 1 ? (JSON.parse(stored.slice(1)) as Id[]) : requests;
  if (requests.length === 0 || data === undefined) return requests;
  const message: unknown = JSON.parse(data);
  if (!isObject(message) || !("result" in message || "error" in message)) return requests;
  return requests.filter((id) => id !== message["id"]);
}

/** Number of stored characters, of one session or of all sessions of one principal. */
export interface StoredLength {
  stored: number;
}

/**
 * The session of a stream. `share` counts the characters of all sessions of the principal, if the session has a
 * principal.
 */
export interface LogOwner extends StoredLength {
  readonly share: StoredLength | undefined;
}

/** The storage for the streams of a node, with the limits and timers that they share. */
export interface LogSpace {
  readonly log: AppendLog;
  readonly limits: LogLimits;
  readonly maxBytesPerSession: number;
  readonly maxBytesPerPrincipal: number;
  /** Logs that wait for a slow storage. Calls `overdue` of each log that waits too long. */
  readonly late: Pick<DueList<StreamLog>, "touch" | "drop">;
  /** Logs whose storage has failed. Calls `retry` of each log after a pause. */
  readonly retries: Pick<DueList<StreamLog>, "touch" | "drop">;
  monotonic(): number;
  /** Drops streams of an owner that has reached a limit. Throws a `StorageError` if that is not enough. */
  makeRoom(owner: LogOwner, length: number): void;
  /** Counts a stream that begins (1) or ends (-1) storing entries. A draining node waits for these streams. */
  countStoring(by: 1 | -1): void;
  failed(error: unknown): void;
}

/** The stream of a log. */
export interface LogReader {
  /** Called when the entry is stored. `sent`: the client already received it, without an id. */
  entryStored(id: number, entry: StreamEntry, sent: boolean, afterGap: boolean): void;
  /**
   * Sends an entry to the client without an id. Returns false if no client is connected, or if the client must receive
   * older entries first.
   */
  sendNow(entry: StreamEntry): boolean;
  /** Called when an entry is neither stored nor sent, and never will be. */
  entryLost(): void;
  /** Called when the queue is empty. */
  queueEmptied(): void;
}

/** An entry that is not confirmed as stored. `sent`: the client has it. `read`: it was read back from the log. */
interface QueuedEntry {
  readonly entry: StreamEntry;
  sent: boolean;
  read: boolean;
  /** Called when the entry is stored or given up. */
  whenStored?: () => void;
}

/**
 * Maximum number of entries of one stream that may wait for the storage. Further entries are not stored, only sent to a
 * connected client.
 */
const MAX_QUEUED_ENTRIES = 10_000;
/** Maximum number of entries to read when looking for one that may already be stored. */
const PAGE_SIZE = 64;

/**
 * Stores the entries of one stream in order. A connected client does not wait for a slow storage: it receives the
 * entries without an id. After a failure the log retries them, so that they are stored once the storage is back.
 */
export class StreamLog {
  readonly #space: LogSpace;
  readonly #owner: LogOwner;
  readonly #name: string;
  readonly #reader: LogReader;
  /** Entries that are not stored yet. The first one is being stored. Entries that were sent precede the others. */
  readonly #queue: QueuedEntry[] = [];
  /** True if the queue is empty. */
  isEmpty = true;
  #queueLength = 0;
  /** Characters of this log that are counted towards the limits. */
  #length = 0;
  #uncounted = false;
  /** The id of the last entry that this node stored. */
  #lastStored = 0;
  /** True if the storage is slow or fails, so that the client receives entries before they are stored. */
  #behind = false;
  #failedAt: number | undefined;
  /** True if entries before the next one were lost. */
  #gap = false;
  #closed = false;
  /** True if the session has ended, so that entries are only sent. */
  #abandoned = false;
  #busy: Promise<unknown> | undefined;

  constructor(space: LogSpace, owner: LogOwner, name: string, reader: LogReader) {
    this.#space = space;
    this.#owner = owner;
    this.#name = name;
    this.#reader = reader;
  }

  /**
   * True if the client has an entry that is not stored yet, apart from the one that was just read back from the log.
   */
  get hasSent(): boolean {
    const [first, second] = this.#queue;
    return (first?.read === true ? second : first)?.sent === true;
  }

  add(entry: StreamEntry): void {
    if (this.#abandoned) return void this.#reader.sendNow(entry);
    if (!this.isEmpty) return this.#enqueue(entry);
    let id: number | Promise<number>;
    try {
      id = this.#append(entry);
    } catch (error) {
      this.#begin(entry);
      return this.#appendFailed(error);
    }
    if (!isThenable(id)) return this.#recordStored(id, entry, false);
    this.#begin(entry);
    this.#awaitAppend(id);
  }

  /** Sends the queued and all further entries only to the client. */
  abandon(): void {
    this.overdue();
    this.#abandoned = true;
  }

  /** Called when the client has waited too long for the storage. */
  overdue(): void {
    this.#behind = true;
    this.catchUp();
  }

  /** Sends the entries that wait for a slow storage. */
  catchUp(): void {
    if (!this.#behind) return;
    for (const item of this.#queue) {
      item.sent ||= this.#reader.sendNow(item.entry);
      if (!item.sent) return;
    }
  }

  /** Marks all queued entries as not sent, because the client of a new connection may have none of them. */
  restart(): void {
    for (const item of this.#queue) item.sent = item.read = false;
  }

  /**
   * Called when an entry was read from the log for the client. Returns true if the client already has it. The entry may
   * be the one that this node is storing and that is not confirmed yet.
   */
  readFromLog(id: number, stored: string): boolean {
    const [first] = this.#queue;
    if (first === undefined || id <= this.#lastStored || first.entry.stored !== stored) return false;
    const { sent } = first;
    first.sent = first.read = true;
    return sent;
  }

  /** Calls `run` when all queued entries are stored or given up. */
  whenStored(run: () => void): void {
    const last = this.#queue.at(-1);
    if (last === undefined) run();
    else last.whenStored = run;
  }

  /** Tries a failed storage again. */
  retry(): void {
    const [first] = this.#queue;
    if (first === undefined || this.#closed) return;
    this.#awaitAppend(this.#storedOrAppend(first.entry));
  }

  /** Stores no more entries. Resolves when no write is running. */
  async close(): Promise<void> {
    if (!this.#closed && this.#queue.length > 0) this.#clearQueue();
    this.#closed = true;
    await this.#busy;
  }

  /** Resolves when the queue is empty or the storage fails. */
  async settled(): Promise<void> {
    while (this.#queue.length > 0 && this.#failedAt === undefined && !this.#closed) await this.#busy;
  }

  /** Stops counting the log towards the limits, because it is dropped or left to other nodes. */
  uncount(): void {
    this.#count(-this.#length);
    this.#uncounted = true;
  }

  #begin(entry: StreamEntry): void {
    this.isEmpty = false;
    this.#push(entry, false);
    this.#space.countStoring(1);
  }

  #push(entry: StreamEntry, sent: boolean): void {
    this.#queue.push({ entry, sent, read: false });
    this.#queueLength += entry.stored.length;
  }

  #enqueue(entry: StreamEntry): void {
    const length = this.#queueLength + entry.stored.length;
    const isFull = this.#queue.length >= MAX_QUEUED_ENTRIES || length > this.#space.limits.maxBytes;
    // The client must not receive this entry before the queued ones.
    if (isFull) this.overdue();
    const sent = this.#behind && this.#queue.at(-1)?.sent === true && this.#reader.sendNow(entry);
    if (isFull) this.#skip(entry, sent);
    else this.#push(entry, sent);
  }

  /** Records the gap that an unstored entry leaves. */
  #skip(entry: StreamEntry, sent: boolean): void {
    if (entry.isOpening) return;
    this.#gap = true;
    if (!sent) this.#reader.entryLost();
  }

  #giveUp({ entry, sent, whenStored }: QueuedEntry): void {
    this.#skip(entry, sent || this.#reader.sendNow(entry));
    whenStored?.();
  }

  #append(entry: StreamEntry): number | Promise<number> {
    const { log, limits, maxBytesPerSession, maxBytesPerPrincipal } = this.#space;
    const more = this.#growth(entry);
    const { stored, share } = this.#owner;
    if (stored + more > maxBytesPerSession || (share?.stored ?? 0) + more > maxBytesPerPrincipal)
      this.#space.makeRoom(this.#owner, more);
    return log.append(this.#name, this.#textOf(entry), limits);
  }

  #textOf({ stored }: StreamEntry): string {
    return this.#gap ? AFTER_GAP + stored : stored;
  }

  /**
   * Finds the entry in the log, or appends it. Used after a failed write, which may have stored the entry nevertheless.
   */
  async #storedOrAppend(entry: StreamEntry): Promise<number> {
    const read = await this.#space.log.read(this.#name, this.#lastStored, PAGE_SIZE);
    const text = this.#textOf(entry);
    const found = read.evicted ? undefined : read.entries.find((known) => known.entry === text);
    return found?.id ?? this.#append(entry);
  }

  #awaitAppend(storing: Promise<number>): void {
    this.#space.late.touch(this);
    this.#busy = storing.then(
      (id) => this.#appended(id),
      (error) => this.#appendFailed(error),
    );
  }

  #appended(id: number): void {
    this.#space.late.drop(this);
    if (this.#closed) return;
    this.#behind = false;
    this.#failedAt = undefined;
    this.#storedFirst(id);
    this.#next();
  }

  /**
   * Returns by how many characters the entry makes the log longer. At the limit of the log, older entries make room.
   */
  #growth({ stored }: StreamEntry): number {
    return this.#uncounted ? 0 : Math.min(stored.length, this.#space.limits.maxBytes - this.#length);
  }

  #count(length: number): void {
    this.#length += length;
    this.#owner.stored += length;
    if (this.#owner.share !== undefined) this.#owner.share.stored += length;
  }

  #storedFirst(id: number): void {
    const item = this.#shift();
    if (item === undefined) return;
    this.#recordStored(id, item.entry, item.sent);
    item.whenStored?.();
  }

  #recordStored(id: number, entry: StreamEntry, sent: boolean): void {
    this.#count(this.#growth(entry));
    this.#lastStored = id;
    const afterGap = this.#gap;
    this.#gap = false;
    this.#reader.entryStored(id, entry, sent, afterGap);
  }

  #next(): void {
    for (let first = this.#queue[0]; first !== undefined && !this.#closed; first = this.#queue[0]) {
      try {
        const id = this.#append(first.entry);
        if (isThenable(id)) return this.#awaitAppend(id);
        this.#storedFirst(id);
      } catch (error) {
        return this.#appendFailed(error);
      }
    }
    if (!this.#closed) this.#emptied();
  }

  #appendFailed(error: unknown): void {
    this.#space.late.drop(this);
    if (this.#closed) return;
    this.#space.failed(error);
    if (error instanceof StorageError) {
      // Retrying does not make room, so this entry is given up.
      const item = this.#shift();
      if (item !== undefined) this.#giveUp(item);
      return this.#next();
    }
    const now = this.#space.monotonic();
    this.#failedAt ??= now;
    if (now - this.#failedAt > this.#space.limits.maxAgeMs) {
      for (const item of this.#queue) this.#giveUp(item);
      return this.#clearQueue();
    }
    this.overdue();
    this.#space.retries.touch(this);
  }

  #shift(): QueuedEntry | undefined {
    const item = this.#queue.shift();
    this.#queueLength -= item?.entry.stored.length ?? 0;
    return item;
  }

  #clearQueue(): void {
    this.#queue.length = 0;
    this.#queueLength = 0;
    this.#space.late.drop(this);
    this.#space.retries.drop(this);
    this.#emptied();
  }

  #emptied(): void {
    this.isEmpty = true;
    this.#space.countStoring(-1);
    this.#reader.queueEmptied();
  }
}
