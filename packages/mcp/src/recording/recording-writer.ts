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
  /** The server, without anything that could be a secret. */
  readonly target: RecordedTarget;
  /** When the session began. */
  readonly began: Date;
  /** Takes secrets out of the target and of every message. Default: everything is kept. */
  readonly redactor?: Redactor | undefined;
  /** Longest recording; what comes then is left out, and a note says so. Default 64 MiB, more is not read. */
  readonly maxBytes?: number | undefined;
  /** Told once if the recording ends before its session, with the note that says why. */
  readonly onNote?: ((note: string) => void) | undefined;
}

/** Messages that are held until the handshake is over; it has a handful. */
const MAX_HELD = 100;
/** Room for the note that says why a recording ends. */
const NOTE_BYTES = 200;

/** Makes a recording of a session while it goes on, line by line. */
export class RecordingWriter {
  readonly #options: RecordingOptions;
  readonly #write: (line: string) => void;
  /** Undefined when the header is written. */
  #held: RecordedMessage[] | undefined = [];
  #bytes = 0;
  #ended = false;

  /** `write` gets each line with its end; what it throws, the caller of the method gets. */
  constructor(options: RecordingOptions, write: (line: string) => void) {
    this.#options = options;
    this.#write = write;
  }

  /** Writes one message; the first ones wait for the handshake. */
  add(message: RecordedMessage): void {
    if (this.#ended) return;
    const { redactor } = this.#options;
    const kept: RecordedMessage =
      redactor === undefined
        ? message
        : // A copy of an object is an object.
          { ...message, message: redactor.value(message.message) as RecordedMessage["message"] };
    if (this.#held === undefined) this.#line(kept);
    else if (this.#held.push(kept) > MAX_HELD) this.established();
  }

  /** The handshake is over, or there will be none: writes the header, and what came before. */
  established(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    const { target, began, redactor } = this.#options;
    const header: RecordingHeader = {
      format: RECORDING_FORMAT,
      version: RECORDING_VERSION,
      began: began.toISOString(),
      target: { kind: target.kind, name: redactor?.text(target.name) ?? target.name },
      ...handshakeOf(held),
      redacted: redactor !== undefined,
    };
    this.#line(header);
    for (const message of held) this.#line(message);
  }

  /** Ends the recording before its session, with a note that says why. */
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

/** The text of a recording of messages that are all at hand, for `parseRecording`. */
export function recordingText(options: RecordingOptions, messages: Iterable<RecordedMessage>): string {
  const lines: string[] = [];
  const writer = new RecordingWriter(options, (line) => lines.push(line));
  for (const message of messages) writer.add(message);
  writer.established();
  return lines.join("");
}
