import { type ByteBudget, ExpiringMap } from "./expiring-map.js";
import { type AppendLog, type LogEntry, type LogLimits, type LogRead, StorageError } from "./storage.js";

interface MemoryLogEntry extends LogEntry {
  expiresAt: number;
}

interface Stream {
  readonly name: string;
  /**
   * Entries from `head` on are live and have consecutive ids. Entries before `head` are evicted and not yet removed.
   */
  entries: MemoryLogEntry[];
  head: number;
  /** UTF-16 units of the live entries. */
  bytes: number;
  readonly firstId: number;
  lastId: number;
  expiresAt: number;
}

const EVICTED: LogRead = { evicted: true };

/** An append log in the memory of this process. Synchronous. */
export class MemoryAppendLog implements AppendLog {
  readonly #now: () => number;
  readonly #maxStreams: number;
  readonly #budget: ByteBudget;
  readonly #streams: ExpiringMap<Stream>;
  /** The highest id of any removed stream. New streams start above it, so that ids never repeat for a name. */
  #idsUsed = 0;

  constructor(now: () => number, maxStreams: number, budget: ByteBudget) {
    this.#now = now;
    this.#maxStreams = maxStreams;
    this.#budget = budget;
    this.#streams = new ExpiringMap(
      (stream, at) => {
        this.#evictOld(stream, at);
        return stream.expiresAt > at;
      },
      (stream) => {
        this.#idsUsed = Math.max(this.#idsUsed, stream.lastId);
        budget.release(stream.bytes + stream.name.length);
      },
    );
  }

  get size(): number {
    return this.#streams.size;
  }

  append(name: string, entry: string, limits: LogLimits): number {
    const now = this.#now();
    const existing = this.#streams.get(name, now);
    if (existing === undefined) this.#makeRoom(now);
    const stream = existing ?? this.#newStream(name);
    const evicted = entriesToEvict(stream, entry.length, limits);
    const added = entry.length + (existing === undefined ? name.length : 0);
    this.#budget.ensure(added - evicted.bytes, () => this.#streams.sweepIfDue(now));
    this.#budget.reserve(added);
    for (let count = 0; count < evicted.count; count++) this.#evict(stream);

    const expiresAt = now + limits.maxAgeMs;
    shortenOlder(stream, expiresAt);
    stream.lastId++;
    stream.bytes += entry.length;
    stream.entries.push({ id: stream.lastId, entry, expiresAt });
    stream.expiresAt = limits.ttlMs === undefined ? Number.POSITIVE_INFINITY : now + limits.ttlMs;
    if (existing === undefined) this.#streams.put(name, stream);
    return stream.lastId;
  }

  read(name: string, afterId: number, limit: number): LogRead {
    const stream = this.#streams.get(name, this.#now());
    if (stream === undefined) return afterId === 0 ? { evicted: false, entries: [] } : EVICTED;
    const firstKept = stream.lastId - liveCount(stream) + 1;
    const isKnown = afterId === 0 || (afterId >= stream.firstId && afterId <= stream.lastId);
    // A read from the beginning needs every entry of the stream. A read after an id needs every later entry.
    const nextId = afterId === 0 ? stream.firstId : afterId + 1;
    if (!isKnown || !Number.isSafeInteger(afterId) || nextId < firstKept) return EVICTED;
    const from = stream.head + nextId - firstKept;
    const slice = stream.entries.slice(from, from + Math.max(0, limit));
    return { evicted: false, entries: slice.map(({ id, entry }) => ({ id, entry })) };
  }

  touch(name: string, ttlMs: number): boolean {
    const now = this.#now();
    const stream = this.#streams.get(name, now);
    if (stream === undefined) return false;
    stream.expiresAt = now + ttlMs;
    return true;
  }

  drop(name: string): void {
    this.#streams.delete(name);
  }

  sweep(): void {
    this.#streams.sweep(this.#now());
  }

  clear(): void {
    this.#streams.clear();
  }

  #newStream(name: string): Stream {
    const lastId = this.#idsUsed;
    return { name, entries: [], head: 0, bytes: 0, firstId: lastId + 1, lastId, expiresAt: 0 };
  }

  #evictOld(stream: Stream, now: number): void {
    while (liveCount(stream) > 0 && (stream.entries[stream.head]?.expiresAt ?? 0) <= now) this.#evict(stream);
  }

  #evict(stream: Stream): void {
    const length = stream.entries[stream.head]?.entry.length ?? 0;
    stream.head++;
    stream.bytes -= length;
    this.#budget.release(length);
    // Compacts the array when more than half of it is evicted. This keeps the amortized cost constant, and the array at
    // most twice as long as its live part.
    if (stream.head * 2 > stream.entries.length) {
      stream.entries = stream.entries.slice(stream.head);
      stream.head = 0;
    }
  }

  #makeRoom(now: number): void {
    if (this.#streams.hasRoom(this.#maxStreams, now)) return;
    throw new StorageError(
      "maxStreams",
      this.#maxStreams,
      "Raise limits.maxStreams of memoryStorage, or drop streams sooner.",
    );
  }
}

/** Number of entries that are not evicted. */
function liveCount(stream: Stream): number {
  return stream.entries.length - stream.head;
}

/** Returns the number and size of the oldest entries that must be evicted to make room for a new entry of `length`. */
function entriesToEvict(stream: Stream, length: number, limits: LogLimits): { count: number; bytes: number } {
  const all = liveCount(stream);
  let count = 0;
  let bytes = 0;
  while (count < all && (all - count + 1 > limits.maxEntries || stream.bytes - bytes + length > limits.maxBytes)) {
    bytes += stream.entries[stream.head + count]?.entry.length ?? 0;
    count++;
  }
  return { count, bytes };
}

/** Shortens the lifetime of older entries, because no entry may outlive a newer one. */
function shortenOlder(stream: Stream, expiresAt: number): void {
  for (let index = stream.entries.length - 1; index >= stream.head; index--) {
    const older = stream.entries[index];
    if (older === undefined || older.expiresAt <= expiresAt) return;
    older.expiresAt = expiresAt;
  }
}
