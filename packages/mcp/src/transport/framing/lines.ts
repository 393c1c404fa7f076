import { ByteBuffer, isUtf8, textDecoderUtf8 } from "./byte-buffer.js";
import {
  DEFAULT_MAX_MESSAGE_BYTES,
  type DecodeUtf8,
  type FrameDecoder,
  type FrameSink,
  type FramingOptions,
  headOf,
  INVALID_UTF8,
  oversizedFrame,
} from "./frame-decoder.js";

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/**
 * Reads newline-delimited messages.
 *
 * Spec: Transports, "stdio", https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 *
 * - A line ends at `\n`; one `\r` before it is dropped. Blank lines are skipped, as is a byte order mark at the very start.
 * - A line that is not UTF-8 is one `invalid_utf8` error; the next line is read as usual.
 * - A line above `maxMessageBytes` (including its `\r`) is one `oversized_frame` error as soon as the limit is passed; its
 *   bytes are discarded up to the next `\n`.
 * - `end` delivers an unterminated last line as a message; the JSON parser decides whether it is complete.
 *
 * Time is linear in the bytes for any chunking; memory is at most twice `maxMessageBytes`.
 */
export class LineDecoder implements FrameDecoder {
  readonly #sink: FrameSink;
  readonly #maxMessageBytes: number;
  readonly #decode: DecodeUtf8;
  /** The bytes of the current unterminated line; empty while skipping. */
  readonly #pending = new ByteBuffer();
  /** True from the error for an oversized line until its newline. */
  #skipping = false;
  /** True until the first text of the stream has been checked for a byte order mark. */
  #atStart = true;
  #ended = false;

  constructor(sink: FrameSink, options: FramingOptions = {}) {
    this.#sink = sink;
    this.#maxMessageBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
    this.#decode = options.decode ?? textDecoderUtf8();
  }

  feed(chunk: Uint8Array): void {
    if (this.#ended) return;
    let start = 0;
    if (this.#skipping || this.#pending.length > 0) {
      const newline = chunk.indexOf(NEWLINE);
      if (newline === -1) {
        this.#buffer(chunk, 0);
        return;
      }
      this.#finishPending(chunk, newline);
      start = newline + 1;
    }
    const last = chunk.lastIndexOf(NEWLINE);
    if (last >= start) {
      this.#lines(chunk, start, last);
      start = last + 1;
    }
    if (start < chunk.length) this.#buffer(chunk, start);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#pending.length > 0) this.#line(this.#pending.bytes, 0, this.#pending.length);
    this.#pending.clear();
  }

  /** Buffers the start of a line. If the line is already too long, reports it and skips the rest. */
  #buffer(chunk: Uint8Array, start: number): void {
    if (this.#skipping) return;
    if (this.#pending.length + chunk.length - start > this.#maxMessageBytes) {
      this.#skipping = true;
      this.#tooLong(chunk, start, chunk.length);
      return;
    }
    this.#pending.append(chunk, start, chunk.length);
  }

  #finishPending(chunk: Uint8Array, newline: number): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    const length = this.#pending.length + newline;
    if (length > this.#maxMessageBytes) {
      this.#tooLong(chunk, 0, newline);
      return;
    }
    this.#pending.append(chunk, 0, newline);
    const text = this.#textOf(this.#pending.bytes, length);
    // Cleared before the callback, so that the buffer of a large message is free while the message is handled.
    this.#pending.clear();
    if (text === undefined) this.#sink.error(INVALID_UTF8);
    else this.#emit(text, 0, text.length);
  }

  /**
   * Reports a line that is too long. Its last bytes are `bytes[start, end)`, and the bytes before them are pending.
   */
  #tooLong(bytes: Uint8Array, start: number, end: number): void {
    const { bytes: before, length } = this.#pending;
    const head = length > 0 ? headOf(before, 0, length) : headOf(bytes, start, end);
    this.#pending.clear();
    this.#atStart = false;
    this.#sink.error(oversizedFrame(this.#maxMessageBytes), head);
  }

  /**
   * Delivers the complete lines in `chunk[start, last)`.
   *
   * Decodes all lines with one call and slices the string, because a decoding call costs more than a short line. The
   * result is exact, because a newline byte is never part of a longer UTF-8 sequence.
   */
  #lines(chunk: Uint8Array, start: number, last: number): void {
    const text = last - start <= this.#maxMessageBytes ? this.#decode(chunk, start, last) : undefined;
    if (text === undefined) {
      this.#lineByLine(chunk, start, last);
      return;
    }
    let from = this.#afterMark(text);
    for (let newline = text.indexOf("\n", from); newline !== -1; newline = text.indexOf("\n", from)) {
      this.#emit(text, from, newline);
      from = newline + 1;
    }
    this.#emit(text, from, text.length);
  }

  /** The slow path, used if a line is not UTF-8 or may be too long. */
  #lineByLine(chunk: Uint8Array, start: number, last: number): void {
    let from = start;
    while (from <= last) {
      const newline = chunk.indexOf(NEWLINE, from);
      this.#line(chunk, from, newline);
      from = newline + 1;
    }
  }

  #line(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > this.#maxMessageBytes) {
      this.#tooLong(bytes, start, end);
      return;
    }
    const text = isUtf8(bytes, start, end) ? this.#decode(bytes, start, end) : undefined;
    if (text === undefined) {
      this.#atStart = false;
      this.#sink.error(INVALID_UTF8);
      return;
    }
    this.#emit(text, this.#afterMark(text), text.length);
  }

  #textOf(bytes: Uint8Array, length: number): string | undefined {
    const text = this.#decode(bytes, 0, length);
    if (text === undefined) {
      this.#atStart = false;
      return undefined;
    }
    const from = this.#afterMark(text);
    return from === 0 ? text : text.slice(from);
  }

  #afterMark(text: string): number {
    if (!this.#atStart) return 0;
    this.#atStart = false;
    return text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  #emit(text: string, from: number, to: number): void {
    const end = to > from && text.charCodeAt(to - 1) === CARRIAGE_RETURN ? to - 1 : to;
    if (end === from) return;
    const line = from === 0 && end === text.length ? text : text.slice(from, end);
    if (line.charCodeAt(0) <= SPACE && line.trim() === "") return;
    this.#sink.message(line);
  }
}
