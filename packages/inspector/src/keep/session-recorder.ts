import type { RecordingInfo } from "../contract/keep.js";
import { HANDSHAKE_METHODS } from "../contract/timeline.js";
import type { StoredEntry } from "../timeline/entry-ring.js";
import type { Timeline } from "../timeline/timeline.js";

/** What a recorder is made with. */
export interface SessionRecorderOptions {
  readonly timeline: Pick<Timeline, "onAdded" | "stored" | "now">;
  /** The connections that there are, by their ids, when a recording begins. */
  readonly open: () => readonly string[];
  /** Told when a recording begins, grows or ends. */
  readonly changed: () => void;
  /** Bytes of messages that are kept. Default 64 MiB, which is what a recording may have. */
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Messages that are kept, however small they are. */
const MOST_MESSAGES = 200_000;
/** Messages of handshakes that are taken over for one connection: a handful each time it was opened. */
const MOST_BEGINNING = 50;

/** Keeps the messages of all connections from one moment to another, whatever the timeline forgets meanwhile. */
export class SessionRecorder {
  readonly #options: SessionRecorderOptions;
  readonly #byConnection = new Map<string, StoredEntry[]>();
  /** How each connection had begun when the recording did. */
  readonly #beginnings = new Map<string, StoredEntry[]>();
  #startedMs = 0;
  #messages = 0;
  #bytes = 0;
  #full = false;
  /** Ends the recording that is under way. */
  #end: (() => void) | undefined;

  constructor(options: SessionRecorderOptions) {
    this.#options = options;
  }

  /** Begins a recording; an earlier one is forgotten. What opened connections is taken over from the timeline. */
  start(): void {
    const { timeline, open, changed } = this.#options;
    this.#end?.();
    this.#byConnection.clear();
    this.#beginnings.clear();
    this.#startedMs = timeline.now();
    this.#messages = 0;
    this.#bytes = 0;
    this.#full = false;
    for (const id of open()) {
      // Without it a recording tells neither the revision nor who spoke.
      const beginning = timeline.stored(id).filter(({ summary }) => HANDSHAKE_METHODS.has(summary.label));
      this.#beginnings.set(id, beginning.slice(-MOST_BEGINNING));
    }
    this.#end = timeline.onAdded((entry) => {
      if (entry.message === undefined) return;
      this.#keep(entry);
      changed();
    });
    changed();
  }

  /** Ends the recording, which stays for exports. */
  stop(): void {
    this.#end?.();
    this.#end = undefined;
    this.#options.changed();
  }

  /** How the recording goes on; undefined where none is under way. */
  info(): RecordingInfo | undefined {
    if (this.#end === undefined) return undefined;
    return { startedMs: this.#startedMs, messages: this.#messages, bytes: this.#bytes, full: this.#full };
  }

  /** What the last recording has of a connection, and whether messages are missing at its end; undefined where it has nothing. */
  recorded(connection: string): { readonly entries: readonly StoredEntry[]; readonly full: boolean } | undefined {
    const kept = this.#byConnection.get(connection);
    if (kept === undefined) return undefined;
    return { entries: [...(this.#beginnings.get(connection) ?? []), ...kept], full: this.#full };
  }

  #keep(entry: StoredEntry): void {
    const { connection, bytes } = entry.summary;
    if (this.#full || entry.message === undefined) return;
    this.#full = this.#bytes + bytes > (this.#options.maxBytes ?? MAX_BYTES) || this.#messages >= MOST_MESSAGES;
    if (this.#full) return;
    const kept = this.#byConnection.get(connection) ?? [];
    this.#byConnection.set(connection, kept);
    // The bytes are those of the message alone.
    kept.push({ ...entry, http: undefined });
    this.#messages += 1;
    this.#bytes += bytes;
  }
}
