import type { RecordingInfo } from "../contract/sessions.js";
import { HANDSHAKE_METHODS } from "../contract/timeline.js";
import type { StoredEntry } from "../timeline/entry-ring.js";
import type { Timeline } from "../timeline/timeline.js";

/** Options of a `SessionRecorder`. */
export interface SessionRecorderOptions {
  readonly timeline: Pick<Timeline, "onAdded" | "stored" | "now">;
  /** Returns the ids of all listed connections. Called at the start of a recording. */
  readonly open: () => readonly string[];
  /** Called when a recording starts, grows or stops. */
  readonly changed: () => void;
  /**
   * Maximum size of the recorded messages. Later messages are not recorded. Default: 64 MiB, the limit for recordings.
   */
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Maximum number of recorded messages, whatever their size. Later messages are not recorded. */
const MAX_MESSAGES = 200_000;
/**
 * Maximum number of handshake messages copied for one connection. If there are more, only the last ones are copied. One
 * handshake has only a few messages.
 */
const MAX_HANDSHAKE_MESSAGES = 50;

/**
 * Records the messages of all connections between `start` and `stop`, even if the timeline evicts them in the meantime.
 */
export class SessionRecorder {
  readonly #options: SessionRecorderOptions;
  readonly #byConnection = new Map<string, StoredEntry[]>();
  /** Handshake messages from before the recording, by connection. */
  readonly #handshakes = new Map<string, StoredEntry[]>();
  #startedMs = 0;
  #messages = 0;
  #bytes = 0;
  #full = false;
  /** Set while a recording is running. */
  #unsubscribe: (() => void) | undefined;

  constructor(options: SessionRecorderOptions) {
    this.#options = options;
  }

  /**
   * Starts a recording and deletes an earlier one. Copies the handshakes of all listed connections from the timeline.
   */
  start(): void {
    const { timeline, open, changed } = this.#options;
    this.#unsubscribe?.();
    this.#byConnection.clear();
    this.#handshakes.clear();
    this.#startedMs = timeline.now();
    this.#messages = 0;
    this.#bytes = 0;
    this.#full = false;
    for (const id of open()) {
      // Without the handshake, a recording has neither the revision nor the name of the server.
      const handshake = timeline.stored(id).filter(({ summary }) => HANDSHAKE_METHODS.has(summary.label));
      this.#handshakes.set(id, handshake.slice(-MAX_HANDSHAKE_MESSAGES));
    }
    this.#unsubscribe = timeline.onAdded((entry) => {
      if (entry.message === undefined) return;
      this.#store(entry);
      changed();
    });
    changed();
  }

  /** Stops the recording. It remains available for exports. */
  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#options.changed();
  }

  /** Returns the progress of the recording. Undefined if none is running. */
  info(): RecordingInfo | undefined {
    if (this.#unsubscribe === undefined) return undefined;
    return { startedMs: this.#startedMs, messages: this.#messages, bytes: this.#bytes, full: this.#full };
  }

  /**
   * Returns the messages of a connection in the last recording. Undefined if there are none. `full` means that the
   * recording reached its limit, so later messages are missing.
   */
  recorded(connection: string): { readonly entries: readonly StoredEntry[]; readonly full: boolean } | undefined {
    const stored = this.#byConnection.get(connection);
    if (stored === undefined) return undefined;
    return { entries: [...(this.#handshakes.get(connection) ?? []), ...stored], full: this.#full };
  }

  #store(entry: StoredEntry): void {
    const { connection, bytes } = entry.summary;
    if (this.#full || entry.message === undefined) return;
    this.#full = this.#bytes + bytes > (this.#options.maxBytes ?? MAX_BYTES) || this.#messages >= MAX_MESSAGES;
    if (this.#full) return;
    const stored = this.#byConnection.get(connection) ?? [];
    this.#byConnection.set(connection, stored);
    // The size limit counts only messages, so the HTTP exchange is not stored.
    stored.push({ ...entry, http: undefined });
    this.#messages += 1;
    this.#bytes += bytes;
  }
}
