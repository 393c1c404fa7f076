import { utf8Bytes } from "../encoding/json-bytes.js";
import {
  handshakeOf,
  MAX_RECORDING_BYTES,
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordedMessage,
  type RecordedTarget,
  type RecordingHeader,
} from "./recording.js";
import type { Redactor } from "./redactor.js";

/** Options of a recording. */
export interface RecordingOptions {
  /** The server, without secrets. */
  readonly target: RecordedTarget;
  /** The time at which the session began. */
  readonly began: Date;
  /** Removes secrets from the target and from every message. Default: nothing is removed. */
  readonly redactor?: Redactor | undefined;
  /**
   * Maximum size of the recording in bytes. Messages beyond this size are omitted, and a note at the end reports the
   * limit. Default: 64 MiB, the maximum that `parseRecording` reads.
   */
  readonly maxBytes?: number | undefined;
  /** Called once with the note if the recording ends before its session. */
  readonly onNote?: ((note: string) => void) | undefined;
}

/**
 * Maximum number of messages to buffer before `established`. A handshake has only a few messages. Beyond the limit, the
 * header is written with the values that are known so far.
 */
const MAX_BUFFERED_MESSAGES = 100;
/** Bytes reserved for the note that explains why a recording ends. */
const NOTE_BYTES = 200;

/**
 * Writes the recording of a session line by line, while the session runs.
 *
 * @example
 * ```ts
 * import { appendFileSync } from "node:fs";
 * import { RecordingWriter } from "@parley/mcp/recording";
 *
 * const writer = new RecordingWriter({ target: { kind: "command", name: "notes" }, began: new Date() }, (line) => {
 *   appendFileSync("session.jsonl", line);
 * });
 * ```
 */
export class RecordingWriter {
  readonly #options: RecordingOptions;
  readonly #write: (line: string) => void;
  /** Messages that wait for the header. Undefined after the header is written. */
  #buffered: RecordedMessage[] | undefined = [];
  #bytes = 0;
  #ended = false;

  /**
   * `write` receives each line with its line break. Errors thrown by `write` propagate to the caller of `add`,
   * `established` or `stop`.
   */
  constructor(options: RecordingOptions, write: (line: string) => void) {
    this.#options = options;
    this.#write = write;
  }

  /** Writes one message. Messages of the handshake are buffered until `established`. */
  add(message: RecordedMessage): void {
    if (this.#ended) return;
    const { redactor } = this.#options;
    const redacted: RecordedMessage =
      redactor === undefined
        ? message
        : // Safe: the redacted copy of an object is an object.
          { ...message, message: redactor.value(message.message) as RecordedMessage["message"] };
    if (this.#buffered === undefined) this.#line(redacted);
    else if (this.#buffered.push(redacted) > MAX_BUFFERED_MESSAGES) this.established();
  }

  /** Writes the header and the buffered messages. Call this method when the handshake has ended or will not happen. */
  established(): void {
    const buffered = this.#buffered;
    if (buffered === undefined) return;
    this.#buffered = undefined;
    const { target, began, redactor } = this.#options;
    const header: RecordingHeader = {
      format: RECORDING_FORMAT,
      version: RECORDING_VERSION,
      began: began.toISOString(),
      target: { kind: target.kind, name: redactor?.text(target.name) ?? target.name },
      ...handshakeOf(buffered),
      redacted: redactor !== undefined,
    };
    this.#line(header);
    for (const message of buffered) this.#line(message);
  }

  /** Ends the recording before its session, with a note that explains why. */
  stop(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    const note = `the recording ends here: ${why}`;
    this.#write(`${JSON.stringify({ note })}\n`);
    this.#options.onNote?.(note);
  }

  #line(value: RecordingHeader | RecordedMessage): void {
    if (this.#ended) return;
    const { maxBytes = MAX_RECORDING_BYTES } = this.#options;
    const line = `${JSON.stringify(value)}\n`;
    const bytes = utf8Bytes(line);
    if (this.#bytes + bytes + NOTE_BYTES > maxBytes) return this.stop(`it would be longer than ${maxBytes} bytes`);
    this.#bytes += bytes;
    this.#write(line);
  }
}

/**
 * Returns the text of a recording, as `parseRecording` reads it.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/cli-record.md | Recording and replaying}
 */
export function recordingText(options: RecordingOptions, messages: Iterable<RecordedMessage>): string {
  const lines: string[] = [];
  const writer = new RecordingWriter(options, (line) => lines.push(line));
  for (const message of messages) writer.add(message);
  writer.established();
  return lines.join("");
}
