import type { Revision } from "@parley/mcp/protocol";
import type { EntrySummary, HttpExchange } from "../contract/timeline.js";

/** A stored timeline entry. The connection uses the same message object, so the message must not be changed. */
export interface StoredEntry {
  readonly summary: EntrySummary;
  /**
   * Absent for entries without a message, and for a message that cannot be stored: it exceeds the limit of the timeline
   * or is nested too deeply.
   */
  readonly message?: Readonly<Record<string, unknown>> | undefined;
  /** The id of the request on whose stream the server's message arrived, if known. */
  readonly about?: string | number | undefined;
  readonly http?: HttpExchange | undefined;
  /** The revision of the message. Absent until a revision is negotiated. */
  readonly revision?: Revision | undefined;
  /**
   * True for the request that checks whether the server supports the newer era. If this request fails, the client falls
   * back to the older era.
   */
  readonly isProbe?: boolean | undefined;
  /**
   * The number of the connection to the server that carried the message, counted from 1. A connection of the inspector
   * may connect to its server several times, and message ids are unique only within one of these connections. 0 for
   * entries without a message.
   */
  readonly connectionNumber: number;
}

/** Limits of a timeline. Beyond a limit, the oldest entries are evicted. */
export interface TimelineLimits {
  readonly entries: number;
  /** Maximum size of messages and HTTP exchanges, measured as JSON text. */
  readonly bytes: number;
}

export const DEFAULT_TIMELINE_LIMITS: TimelineLimits = { entries: 20_000, bytes: 64 * 1024 * 1024 };

interface Slot {
  entry: StoredEntry;
  bytes: number;
}

/** Stores the newest entries by their sequence numbers, which have no gaps. Adding and finding take constant time. */
export class EntryRing {
  readonly limits: TimelineLimits;
  readonly #slots: (Slot | undefined)[];
  #first = 1;
  #next = 1;
  #bytes = 0;

  constructor(limits: TimelineLimits) {
    this.limits = limits;
    this.#slots = new Array<Slot | undefined>(limits.entries).fill(undefined);
  }

  /** The number of the oldest entry. */
  get first(): number {
    return this.#first;
  }

  /** The number of the entry that will be added next. */
  get next(): number {
    return this.#next;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an entry. Its number must be `next`. */
  add(entry: StoredEntry, bytes: number): void {
    if (this.#next - this.#first >= this.limits.entries) this.#evictFirst();
    this.#slots[this.#next % this.limits.entries] = { entry, bytes };
    this.#next += 1;
    this.#bytes += bytes;
    this.#shrink();
  }

  get(seq: number): StoredEntry | undefined {
    return this.#slot(seq)?.entry;
  }

  /** Replaces an entry. `more` is the difference in size. */
  replace(entry: StoredEntry, more: number): void {
    const slot = this.#slot(entry.summary.seq);
    if (slot === undefined) return;
    slot.entry = entry;
    slot.bytes += more;
    this.#bytes += more;
    this.#shrink();
  }

  *from(seq: number): IterableIterator<StoredEntry> {
    for (let at = Math.max(Math.ceil(seq), this.#first); at < this.#next; at++) {
      const entry = this.get(at);
      if (entry !== undefined) yield entry;
    }
  }

  clear(): void {
    this.#slots.fill(undefined);
    this.#first = this.#next;
    this.#bytes = 0;
  }

  #slot(seq: number): Slot | undefined {
    return seq >= this.#first && seq < this.#next ? this.#slots[seq % this.limits.entries] : undefined;
  }

  #shrink(): void {
    while (this.#bytes > this.limits.bytes && this.#next - this.#first > 1) this.#evictFirst();
  }

  #evictFirst(): void {
    const at = this.#first % this.limits.entries;
    this.#bytes -= this.#slots[at]?.bytes ?? 0;
    this.#slots[at] = undefined;
    this.#first += 1;
  }
}
