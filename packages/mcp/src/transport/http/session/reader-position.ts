import { type EventPosition, eventId } from "./event-id.js";
import { isLast, isSilent, writerOf } from "./log-entry.js";
import { nodeOf } from "./nodes/session-streams.js";

/** Where a client begins to read. */
export type StartPosition = Pick<EventPosition, "after" | "ahead" | "node">;

/**
 * What the client of a stream has: everything up to an entry of the log, and some later entries of one node that it got before
 * they were stored.
 */
export class ReaderPosition {
  readonly #stream: string;
  readonly #node: string;
  /** The id of the last entry that the client has with all before it. */
  written = 0;
  /** How many further entries of this node the client has. */
  #ahead = 0;
  /** How many further entries of a node the client has from an earlier connection. */
  #skip: { count: number; readonly node: string } | undefined;

  constructor(stream: string, node: string) {
    this.#stream = stream;
    this.#node = node;
  }

  restart({ after, ahead, node }: StartPosition): void {
    this.written = after;
    this.#ahead = 0;
    this.#skip = ahead > 0 ? { count: ahead, node } : undefined;
  }

  /** The client gets an entry before it is stored. Returns its id, or undefined if the client has it already. */
  give(entry: string): string | undefined {
    const isKnown = this.#skips(entry);
    this.#ahead++;
    return isKnown ? undefined : this.#idAfter(entry);
  }

  /** An entry that the client got before will not be stored. */
  forget(): void {
    this.#ahead--;
  }

  /** The next entry of the log. Returns its id, or undefined if the client has it already. */
  pass(id: number, entry: string): string | undefined {
    this.written = id;
    // A node's entries are in the log in the order in which its client got them.
    if (this.#ahead > 0 && this.#isOf(this.#node, entry)) {
      this.#ahead--;
      return undefined;
    }
    return this.#skips(entry) ? undefined : this.#idAfter(entry);
  }

  #idAfter(entry: string): string {
    const { count, node } = this.#skip ?? { count: this.#ahead, node: this.#node };
    return eventId(this.#stream, this.written, isLast(entry), count, node);
  }

  #isOf(node: string, entry: string): boolean {
    if (isSilent(entry)) return false;
    return (writerOf(entry) ?? nodeOf(this.#stream) ?? this.#node) === node;
  }

  /** Whether the client got this entry on an earlier connection. */
  #skips(entry: string): boolean {
    const skip = this.#skip;
    if (skip === undefined || isLast(entry) || !this.#isOf(skip.node, entry)) return false;
    skip.count--;
    if (skip.count === 0) this.#skip = undefined;
    return true;
  }
}
