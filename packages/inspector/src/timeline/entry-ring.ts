import type { Revision } from "@parley/mcp/protocol";
import type { EntrySummary, HttpExchange } from "../contract/timeline.js";

/** An entry of the timeline as it is kept. Messages are those of the connection, and must not be changed. */
export interface StoredEntry {
  readonly summary: EntrySummary;
  /** Absent for what is no message, and for a message that alone is larger than the timeline may be. */
  readonly message?: Readonly<Record<string, unknown>> | undefined;
  /** The request on whose stream a message of the server arrived, if that is known. */
  readonly about?: string | number | undefined;
  readonly http?: HttpExchange | undefined;
  /** Of messages, once one was agreed on. */
  readonly revision?: Revision | undefined;
  /** The client asks by it whether the server speaks a newer era, and goes on with the older one otherwise. */
  readonly isProbe?: boolean | undefined;
  /** Counts what was opened for one connection of the inspector, whose ids begin anew; 0 for what is no message. */
  readonly connectionNumber: number;
}

/** How much a timeline keeps; older entries are forgotten. */
export interface TimelineLimits {
  readonly entries: number;
  /** Of messages and HTTP exchanges, measured as JSON text. */
  readonly bytes: number;
}

export const DEFAULT_TIMELINE_LIMITS: TimelineLimits = { entries: 20_000, bytes: 64 * 1024 * 1024 };

interface Slot {
  entry: StoredEntry;
  bytes: number;
}

/** Keeps the newest entries by their numbers, which follow each other without a gap. Adding and finding take constant time. */
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

  /** The number of the oldest entry, and of the one that comes next. */
  get first(): number {
    return this.#first;
  }

  get next(): number {
    return this.#next;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an entry whose number is `next`. */
  add(entry: StoredEntry, bytes: number): void {
    if (this.#next - this.#first >= this.limits.entries) this.#forgetFirst();
    this.#slots[this.#next % this.limits.entries] = { entry, bytes };
    this.#next += 1;
    this.#bytes += bytes;
    this.#shrink();
  }

  get(seq: number): StoredEntry | undefined {
    return this.#slot(seq)?.entry;
  }

  /** Puts another form of an entry in its place, with `more` bytes. */
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
    while (this.#bytes > this.limits.bytes && this.#next - this.#first > 1) this.#forgetFirst();
  }

  #forgetFirst(): void {
    const at = this.#first % this.limits.entries;
    this.#bytes -= this.#slots[at]?.bytes ?? 0;
    this.#slots[at] = undefined;
    this.#first += 1;
  }
}
