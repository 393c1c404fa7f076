import { isThenable } from "../../../encoding/maybe-promise.js";
import { type AppendLog, type LogLimits, StorageError } from "../../../storage/storage.js";
import type { DueList } from "../server/due-list.js";
import { afterGap, isSilent } from "./log-entry.js";

/** Where the entries of a stream are stored, and what the streams of a node share for it. */
export interface EntryStorage {
  readonly log: AppendLog;
  readonly limits: LogLimits;
  /** Queues whose storage takes long; calls `overdue`. */
  readonly late: Pick<DueList<EntryQueue>, "touch" | "drop">;
  /** Queues whose storage has failed; calls `retry`. */
  readonly retries: Pick<DueList<EntryQueue>, "touch" | "drop">;
  monotonic(): number;
  /** Throws a `StorageError` if this many characters do not fit into what the session or its principal may store. */
  checkRoom(length: number): void;
  /** Counts characters that the log has more, or less if negative. */
  keep(length: number): void;
  /** Entries begin or cease to wait; a node that drains waits for them. */
  storing(by: 1 | -1): void;
  failed(error: unknown): void;
}

/** What becomes of entries. */
export interface EntryReceiver {
  /** The log has the entry. */
  stored(id: number, entry: string, afterGap: boolean): void;
  /** Writes an entry to the client before it is stored, or instead; false if there is no client or it must read older ones first. */
  give(entry: string, willBeStored: boolean): boolean;
  /** An entry that was given will not be stored, although it should have been. */
  forgotten(): void;
  /** The entry is neither stored nor given, and will not be. */
  lost(entry: string): void;
}

interface Waiting {
  readonly entry: string;
  given: boolean;
  /** What follows once the client has it. */
  acts?: (() => void)[];
}

/** Entries of one stream that wait for its storage. More are not stored. */
const MAX_WAITING = 10_000;
/** How many entries are read to find one that may have been stored. */
const PAGE = 64;

/**
 * Stores the entries of one stream in order. A client that reads the stream does not wait for a slow storage: it gets the
 * entries without an id to resume from. After a failure they are tried again, so that the log has them once the storage is back.
 */
export class EntryQueue {
  readonly #storage: EntryStorage;
  readonly #name: string;
  readonly #receiver: EntryReceiver;
  /** Entries that are not stored yet; the first one is being stored. */
  readonly #waiting: Waiting[] = [];
  #length = 0;
  /** Characters of the log that are counted. */
  #kept = 0;
  /** The id of the last entry that this node stored. */
  #lastStored = 0;
  /** True if the storage is slow or fails, so that the client gets entries before they are stored. */
  #behind = false;
  #failedAt: number | undefined;
  /** True if entries before the next one were lost. */
  #gap = false;
  #closed = false;
  #busy: Promise<unknown> | undefined;

  constructor(storage: EntryStorage, name: string, receiver: EntryReceiver) {
    this.#storage = storage;
    this.#name = name;
    this.#receiver = receiver;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(entry: string): void {
    if (this.#waiting.length > 0) return this.#wait(entry);
    let id: number | Promise<number>;
    try {
      id = this.#append(entry);
    } catch (error) {
      this.#begin(entry);
      return this.#refused(error);
    }
    if (!isThenable(id)) return this.#took(id, entry);
    this.#begin(entry);
    this.#follow(id);
  }

  /** The client has waited long enough. */
  overdue(): void {
    this.#behind = true;
    this.catchUp();
  }

  /** Gives the client what waits for a slow storage. */
  catchUp(): void {
    if (!this.#behind) return;
    for (const item of this.#waiting) {
      item.given ||= this.#receiver.give(item.entry, true);
      if (!item.given) return;
      act(item);
    }
  }

  /** There is another connection, and nothing is known to have reached its client. */
  restart(): void {
    for (const item of this.#waiting) item.given = false;
  }

  /** The client has an entry of the log. It may be the one whose storing is not confirmed yet, which the client must not get twice. */
  read(id: number, entry: string): void {
    const [first] = this.#waiting;
    if (first === undefined || first.given || id <= this.#lastStored || first.entry !== entry) return;
    first.given = true;
    act(first);
  }

  /** Calls `act` once the client has what was added so far, or will not get it. */
  whenGiven(act: () => void): void {
    const last = this.#waiting.at(-1);
    if (last === undefined || last.given) return act();
    last.acts ??= [];
    last.acts.push(act);
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

  #begin(entry: string): void {
    this.#waiting.push({ entry, given: false });
    this.#length += entry.length;
    this.#storage.storing(1);
  }

  #wait(entry: string): void {
    const isFull = this.#waiting.length >= MAX_WAITING || this.#length + entry.length > this.#storage.limits.maxBytes;
    // The client must not get this one before those that wait.
    if (isFull) this.overdue();
    const given = this.#behind && this.#waiting.at(-1)?.given === true && this.#receiver.give(entry, !isFull);
    if (isFull) return this.#skip(entry, given);
    this.#waiting.push({ entry, given });
    this.#length += entry.length;
  }

  /** An entry that will not be stored. */
  #skip(entry: string, given: boolean): void {
    if (isSilent(entry)) return;
    this.#gap = true;
    if (!given) this.#receiver.lost(entry);
  }

  #drop({ entry, given }: Waiting): void {
    if (given && !isSilent(entry)) this.#receiver.forgotten();
    this.#skip(entry, given || this.#receiver.give(entry, false));
  }

  #append(entry: string): number | Promise<number> {
    this.#storage.checkRoom(this.#grows(entry));
    return this.#storage.log.append(this.#name, this.#gap ? afterGap(entry) : entry, this.#storage.limits);
  }

  /** A storage that failed may have stored the entry all the same. */
  async #storedOrAppend(entry: string): Promise<number> {
    const read = await this.#storage.log.read(this.#name, this.#lastStored, PAGE);
    const text = this.#gap ? afterGap(entry) : entry;
    const found = read.evicted ? undefined : read.entries.find((known) => known.entry === text);
    return found?.id ?? this.#append(entry);
  }

  #follow(storing: Promise<number>): void {
    this.#storage.late.touch(this);
    const busy = storing.then(
      (id) => this.#done(id),
      (error) => this.#refused(error),
    );
    this.#busy = busy;
  }

  #done(id: number): void {
    this.#storage.late.drop(this);
    if (this.#closed) return;
    this.#behind = false;
    this.#failedAt = undefined;
    const item = this.#shift();
    if (item !== undefined) {
      this.#took(id, item.entry);
      act(item);
    }
    this.#next();
  }

  /** How much longer the log gets; at its limit, older entries make room. */
  #grows(entry: string): number {
    return Math.min(entry.length, this.#storage.limits.maxBytes - this.#kept);
  }

  /** The log is dropped, or nobody counts it any more. */
  giveBack(): void {
    this.#storage.keep(-this.#kept);
    this.#kept = 0;
  }

  #took(id: number, entry: string): void {
    const more = this.#grows(entry);
    this.#kept += more;
    this.#storage.keep(more);
    this.#lastStored = id;
    const gap = this.#gap;
    this.#gap = false;
    this.#receiver.stored(id, entry, gap);
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined && !this.#closed; first = this.#waiting[0]) {
      try {
        const id = this.#append(first.entry);
        if (isThenable(id)) return this.#follow(id);
        this.#shift();
        this.#took(id, first.entry);
        act(first);
      } catch (error) {
        return this.#refused(error);
      }
    }
    if (!this.#closed) this.#storage.storing(-1);
  }

  #refused(error: unknown): void {
    this.#storage.late.drop(this);
    if (this.#closed) return;
    this.#storage.failed(error);
    if (error instanceof StorageError) {
      // Waiting does not make room.
      const item = this.#shift();
      if (item !== undefined) {
        this.#drop(item);
        act(item);
      }
      return this.#next();
    }
    const now = this.#storage.monotonic();
    this.#failedAt ??= now;
    if (now - this.#failedAt > this.#storage.limits.maxAgeMs) {
      for (const item of this.#waiting) this.#drop(item);
      return this.#end();
    }
    this.overdue();
    this.#storage.retries.touch(this);
  }

  #shift(): Waiting | undefined {
    const item = this.#waiting.shift();
    this.#length -= item?.entry.length ?? 0;
    return item;
  }

  #end(): void {
    for (const item of this.#waiting.splice(0)) act(item);
    this.#length = 0;
    this.#storage.late.drop(this);
    this.#storage.retries.drop(this);
    this.#storage.storing(-1);
  }
}

function act(item: Waiting): void {
  const acts = item.acts ?? [];
  delete item.acts;
  for (const run of acts) run();
}
