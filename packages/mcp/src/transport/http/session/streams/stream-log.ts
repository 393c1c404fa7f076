import { isThenable } from "../../../../encoding/maybe-promise.js";
import { type Id, isObject } from "../../../../jsonrpc/message.js";
import type { DueList } from "../../../../platform/due-list.js";
import { type AppendLog, type LogLimits, StorageError } from "../../../../storage/storage.js";

/** The length of a node's id, with which the ids of its streams begin. */
export const NODE_ID_LENGTH = 12;

/** The id of the first GET stream. It stores messages that belong to no request until the client reads them. */
export const GET_STREAM_ID = "s";

/** The node that writes a stream; undefined for the first GET stream, which all of them write. */
export function nodeOf(stream: string): string | undefined {
  return stream[NODE_ID_LENGTH] === "-" ? stream.slice(0, NODE_ID_LENGTH) : undefined;
}

/** One entry of a stream's log. */
export interface StreamEntry {
  /** The entry as the storage has it: a letter for its kind, then the data of its event. */
  readonly stored: string;
  /** The data of its event; "" for an event that only has an id, undefined if it has no event. */
  readonly data: string | undefined;
  /** True for the first entry of a stream, which is no message. */
  readonly isOpening: boolean;
  /** True for the entry that ends its stream. */
  readonly ends: boolean;
}

/** The letters of the kinds. `AFTER_GAP` comes first if others were lost before the entry. */
const OPENING_EVENT = "p";
const OPENING = "o";
const MESSAGE = "m";
const SIGNED_MESSAGE = "n";
const LAST_MESSAGE = "e";
const END = "x";
const AFTER_GAP = "g";

/**
 * The entry that begins a stream, with the requests that it answers. `primes`: it is an event without data, which gives the
 * client an id to resume from.
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

/** `writer`: the node that writes the message, where several nodes write to the stream. */
export function messageEntry(data: string, writer?: string): StreamEntry {
  const stored = writer === undefined ? MESSAGE + data : SIGNED_MESSAGE + writer + data;
  return { stored, data, isOpening: false, ends: false };
}

/** The end of a stream, with its last message if there is one. */
export function lastEntry(data: string | undefined): StreamEntry {
  return { stored: data === undefined ? END : LAST_MESSAGE + data, data, isOpening: false, ends: true };
}

/** Reads an entry of the log. Trusts its input, because only our nodes write there. */
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

/** The requests of a stream without an answer after this entry, of those without one before it. */
export function unansweredAfter({ stored, data, isOpening }: StreamEntry, requests: Id[]): Id[] {
  if (isOpening) return stored.length > 1 ? (JSON.parse(stored.slice(1)) as Id[]) : requests;
  if (requests.length === 0 || data === undefined) return requests;
  const message: unknown = JSON.parse(data);
  if (!isObject(message) || !("result" in message || "error" in message)) return requests;
  return requests.filter((id) => id !== message["id"]);
}

/** Counts the characters that are stored, of one session or of all sessions of one principal. */
export interface StoredLength {
  stored: number;
}

/** The session of a stream; `share` counts for its principal, if it has one. */
export interface LogOwner extends StoredLength {
  readonly share: StoredLength | undefined;
}

/** Where the streams of a node are stored, and what they share for it. */
export interface LogSpace {
  readonly log: AppendLog;
  readonly limits: LogLimits;
  readonly maxBytesPerSession: number;
  readonly maxBytesPerPrincipal: number;
  /** Streams whose storage takes long; calls `overdue`. */
  readonly late: Pick<DueList<StreamLog>, "touch" | "drop">;
  /** Streams whose storage has failed; calls `retry`. */
  readonly retries: Pick<DueList<StreamLog>, "touch" | "drop">;
  monotonic(): number;
  /** Drops streams of an owner that has reached a limit. Throws a `StorageError` if that is not enough. */
  makeRoom(owner: LogOwner, length: number): void;
  /** Entries of one more or one less stream wait; a node that drains waits for them. */
  storing(by: 1 | -1): void;
  failed(error: unknown): void;
}

/** The stream of a log. */
export interface LogReader {
  /** The log has the entry. `sent`: the client got it before, without an id. */
  stored(id: number, entry: StreamEntry, sent: boolean, afterGap: boolean): void;
  /** Writes an entry to the client without an id; false if there is no client or it must read older entries first. */
  sendNow(entry: StreamEntry): boolean;
  /** An entry is neither stored nor sent, and will not be. */
  lost(): void;
  /** Nothing waits any more. */
  drained(): void;
}

/** An entry that is not known to be stored. `sent`: the client has it; `passed`: it was read from the log. */
interface Waiting {
  readonly entry: StreamEntry;
  sent: boolean;
  passed: boolean;
  /** Called once it is stored or given up. */
  after?: () => void;
}

/** Entries of one stream that wait for its storage. More are not stored. */
const MAX_WAITING = 10_000;
/** How many entries are read to find one that may have been stored. */
const PAGE = 64;

/**
 * Stores the entries of one stream in order. A client that reads the stream does not wait for a slow storage: it gets the
 * entries without an id. After a failure they are tried again, so that the log has them once the storage is back.
 */
export class StreamLog {
  readonly #space: LogSpace;
  readonly #owner: LogOwner;
  readonly #name: string;
  readonly #reader: LogReader;
  /** Entries that are not stored yet; the first one is being stored. Those that were sent come first. */
  readonly #waiting: Waiting[] = [];
  /** True if nothing waits. */
  isEmpty = true;
  #waitingLength = 0;
  /** Characters of the log that are counted. */
  #length = 0;
  #uncounted = false;
  /** The id of the last entry that this node stored. */
  #lastStored = 0;
  /** True if the storage is slow or fails, so that the client gets entries before they are stored. */
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

  /** Whether the client has a further entry that is not stored. */
  get hasSent(): boolean {
    const [first, second] = this.#waiting;
    return (first?.passed === true ? second : first)?.sent === true;
  }

  add(entry: StreamEntry): void {
    if (this.#abandoned) return void this.#reader.sendNow(entry);
    if (!this.isEmpty) return this.#wait(entry);
    let id: number | Promise<number>;
    try {
      id = this.#append(entry);
    } catch (error) {
      this.#begin(entry);
      return this.#refused(error);
    }
    if (!isThenable(id)) return this.#took(id, entry, false);
    this.#begin(entry);
    this.#follow(id);
  }

  /** Sends what waits and what follows to the client alone. */
  abandon(): void {
    this.overdue();
    this.#abandoned = true;
  }

  /** The client has waited long enough. */
  overdue(): void {
    this.#behind = true;
    this.catchUp();
  }

  /** Sends what waits for a slow storage. */
  catchUp(): void {
    if (!this.#behind) return;
    for (const item of this.#waiting) {
      item.sent ||= this.#reader.sendNow(item.entry);
      if (!item.sent) return;
    }
  }

  /** There is another connection, whose client may have nothing that waits. */
  restart(): void {
    for (const item of this.#waiting) item.sent = item.passed = false;
  }

  /**
   * An entry was read from the log for the client; returns whether the client has it already. It may be the one that this node
   * stores and that is not confirmed yet.
   */
  passed(id: number, stored: string): boolean {
    const [first] = this.#waiting;
    if (first === undefined || id <= this.#lastStored || first.entry.stored !== stored) return false;
    const { sent } = first;
    first.sent = first.passed = true;
    return sent;
  }

  /** Calls `run` once everything that was added is stored or given up. */
  whenStored(run: () => void): void {
    const last = this.#waiting.at(-1);
    if (last === undefined) run();
    else last.after = run;
  }

  /** Tries a storage that has failed again. */
  retry(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#closed) return;
    this.#follow(this.#storedOrAppend(first.entry));
  }

  /** Stores nothing more. Resolves when nothing is under way. */
  async close(): Promise<void> {
    if (!this.#closed && this.#waiting.length > 0) this.#end();
    this.#closed = true;
    await this.#busy;
  }

  /** Resolves when nothing waits, or the storage fails. */
  async settled(): Promise<void> {
    while (this.#waiting.length > 0 && this.#failedAt === undefined && !this.#closed) await this.#busy;
  }

  /** Counts the log no longer, because it is dropped or left to other nodes. */
  uncount(): void {
    this.#count(-this.#length);
    this.#uncounted = true;
  }

  #begin(entry: StreamEntry): void {
    this.isEmpty = false;
    this.#push(entry, false);
    this.#space.storing(1);
  }

  #push(entry: StreamEntry, sent: boolean): void {
    this.#waiting.push({ entry, sent, passed: false });
    this.#waitingLength += entry.stored.length;
  }

  #wait(entry: StreamEntry): void {
    const length = this.#waitingLength + entry.stored.length;
    const isFull = this.#waiting.length >= MAX_WAITING || length > this.#space.limits.maxBytes;
    // The client must not get this one before those that wait.
    if (isFull) this.overdue();
    const sent = this.#behind && this.#waiting.at(-1)?.sent === true && this.#reader.sendNow(entry);
    if (isFull) this.#skip(entry, sent);
    else this.#push(entry, sent);
  }

  /** An entry that will not be stored. */
  #skip(entry: StreamEntry, sent: boolean): void {
    if (entry.isOpening) return;
    this.#gap = true;
    if (!sent) this.#reader.lost();
  }

  #giveUp({ entry, sent, after }: Waiting): void {
    this.#skip(entry, sent || this.#reader.sendNow(entry));
    after?.();
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

  /** A storage that failed may have stored the entry all the same. */
  async #storedOrAppend(entry: StreamEntry): Promise<number> {
    const read = await this.#space.log.read(this.#name, this.#lastStored, PAGE);
    const text = this.#textOf(entry);
    const found = read.evicted ? undefined : read.entries.find((known) => known.entry === text);
    return found?.id ?? this.#append(entry);
  }

  #follow(storing: Promise<number>): void {
    this.#space.late.touch(this);
    this.#busy = storing.then(
      (id) => this.#done(id),
      (error) => this.#refused(error),
    );
  }

  #done(id: number): void {
    this.#space.late.drop(this);
    if (this.#closed) return;
    this.#behind = false;
    this.#failedAt = undefined;
    this.#storedFirst(id);
    this.#next();
  }

  /** How much longer the log gets; at its limit, older entries make room. */
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
    this.#took(id, item.entry, item.sent);
    item.after?.();
  }

  #took(id: number, entry: StreamEntry, sent: boolean): void {
    this.#count(this.#growth(entry));
    this.#lastStored = id;
    const afterGap = this.#gap;
    this.#gap = false;
    this.#reader.stored(id, entry, sent, afterGap);
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined && !this.#closed; first = this.#waiting[0]) {
      try {
        const id = this.#append(first.entry);
        if (isThenable(id)) return this.#follow(id);
        this.#storedFirst(id);
      } catch (error) {
        return this.#refused(error);
      }
    }
    if (!this.#closed) this.#drained();
  }

  #refused(error: unknown): void {
    this.#space.late.drop(this);
    if (this.#closed) return;
    this.#space.failed(error);
    if (error instanceof StorageError) {
      // Waiting does not make room.
      const item = this.#shift();
      if (item !== undefined) this.#giveUp(item);
      return this.#next();
    }
    const now = this.#space.monotonic();
    this.#failedAt ??= now;
    if (now - this.#failedAt > this.#space.limits.maxAgeMs) {
      for (const item of this.#waiting) this.#giveUp(item);
      return this.#end();
    }
    this.overdue();
    this.#space.retries.touch(this);
  }

  #shift(): Waiting | undefined {
    const item = this.#waiting.shift();
    this.#waitingLength -= item?.entry.stored.length ?? 0;
    return item;
  }

  #end(): void {
    this.#waiting.length = 0;
    this.#waitingLength = 0;
    this.#space.late.drop(this);
    this.#space.retries.drop(this);
    this.#drained();
  }

  #drained(): void {
    this.isEmpty = true;
    this.#space.storing(-1);
    this.#reader.drained();
  }
}
