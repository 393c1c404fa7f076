import { ByteBuffer, textDecoderUtf8 } from "./byte-buffer.js";
import {
  DEFAULT_MAX_MESSAGE_BYTES,
  type DecodeUtf8,
  type FrameDecoder,
  type FrameSink,
  type FramingError,
  type FramingOptions,
  INVALID_UTF8,
  oversizedFrame,
} from "./frame-decoder.js";

/**
 * Maximum length of a header block. Real header blocks have about 40 bytes. A longer block is a `bad_header` error.
 */
const MAX_HEADER_BYTES = 8 * 1024;
const NEWLINE = 0x0a;
const encoder = new TextEncoder();

/**
 * Reads messages framed as in the Language Server Protocol: `Content-Length: 12`, a blank line, 12 bytes.
 *
 * - Header names are case-insensitive, other headers are ignored, `\n` is accepted for `\r\n`, and blank lines between
 *   frames are skipped.
 * - A frame above `maxMessageBytes` is one `oversized_frame` error; exactly its bytes are skipped.
 * - A body that is not UTF-8 is one `invalid_utf8` error; the next frame is read as usual.
 * - An invalid header is one `bad_header` error: without a length, with a length that is not a number, with two different
 *   lengths, with a line without a colon, or with more than 8 KiB. The end of its body is unknown, so reading resumes at
 *   the next line that is a valid `Content-Length` header; the bytes between are lost.
 * - `end` within a frame is one `truncated` error.
 *
 * Time is linear in the bytes for any chunking; memory is at most twice `maxMessageBytes`.
 */
export class ContentLengthDecoder implements FrameDecoder {
  readonly #sink: FrameSink;
  readonly #maxMessageBytes: number;
  readonly #decode: DecodeUtf8;
  /** The incomplete header line or body. */
  readonly #pending = new ByteBuffer();
  /** In `lost`, the decoder searches for a line to resume at. `body` and `skip` count down `#left`. */
  #state: "header" | "lost" | "body" | "skip" = "header";
  #left = 0;
  /** Bytes of the current header block, including its complete lines; 0 between frames. */
  #headerBytes = 0;
  #length: number | undefined;
  #ended = false;

  constructor(sink: FrameSink, options: FramingOptions = {}) {
    this.#sink = sink;
    this.#maxMessageBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
    this.#decode = options.decode ?? textDecoderUtf8();
  }

  feed(chunk: Uint8Array): void {
    if (this.#ended) return;
    let at = 0;
    while (at < chunk.length) {
      if (this.#state === "body") at = this.#body(chunk, at);
      else if (this.#state === "skip") at = this.#skip(chunk, at);
      else at = this.#line(chunk, at);
    }
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#pending.clear();
    // In `lost`, the error has already been reported.
    const isInside =
      this.#state === "body" || this.#state === "skip" || (this.#state === "header" && this.#headerBytes > 0);
    if (isInside) this.#sink.error(TRUNCATED);
  }

  #line(chunk: Uint8Array, start: number): number {
    const newline = chunk.indexOf(NEWLINE, start);
    const end = newline === -1 ? chunk.length : newline;
    this.#headerBytes += end - start;
    if (this.#headerBytes <= MAX_HEADER_BYTES) this.#pending.append(chunk, start, end);
    else this.#bad(`is longer than ${MAX_HEADER_BYTES} bytes`);
    if (newline === -1) return end;
    const line = this.#headerBytes <= MAX_HEADER_BYTES ? asciiLine(this.#pending) : undefined;
    this.#pending.clear();
    if (this.#state === "lost") this.#resume(line);
    else if (line === "") this.#headerEnd();
    else this.#header(line ?? "");
    return newline + 1;
  }

  #header(line: string): void {
    // The newline counts too, so that the limit covers every byte of the header block.
    this.#headerBytes++;
    const length = contentLength(line);
    if (length === undefined) {
      if (!/^[\w!#$%&'*+.^`|~-]+[ \t]*:/.test(line)) this.#bad("has a line without a colon");
      else if (/^content-length[ \t]*:/i.test(line)) this.#bad("has a Content-Length that is not a number");
    } else if (this.#length !== undefined && this.#length !== length) {
      this.#bad("has two different Content-Length lines");
    } else {
      this.#length = length;
    }
  }

  #headerEnd(): void {
    const length = this.#length;
    const isBetweenFrames = this.#headerBytes <= 1 && length === undefined;
    this.#headerBytes = 0;
    this.#length = undefined;
    if (isBetweenFrames) return;
    if (length === undefined) {
      this.#bad("has no Content-Length");
      return;
    }
    this.#left = length;
    this.#state = length > this.#maxMessageBytes ? "skip" : "body";
    if (this.#state === "skip") this.#sink.error(oversizedFrame(this.#maxMessageBytes));
    else if (length === 0) this.#deliver(new Uint8Array(0), 0, 0);
  }

  #resume(line: string | undefined): void {
    this.#headerBytes = 0;
    const length = line === undefined ? undefined : contentLength(line);
    if (length === undefined) return;
    this.#state = "header";
    this.#headerBytes = (line?.length ?? 0) + 1;
    this.#length = length;
  }

  #bad(what: string): void {
    this.#pending.clear();
    this.#length = undefined;
    if (this.#state === "lost") return;
    this.#state = "lost";
    this.#sink.error(badHeader(what));
  }

  #body(chunk: Uint8Array, start: number): number {
    const end = Math.min(chunk.length, start + this.#left);
    this.#left -= end - start;
    if (this.#left > 0) {
      this.#pending.append(chunk, start, end);
    } else if (this.#pending.length === 0) {
      this.#deliver(chunk, start, end);
    } else {
      this.#pending.append(chunk, start, end);
      this.#deliver(this.#pending.bytes, 0, this.#pending.length);
    }
    return end;
  }

  #skip(chunk: Uint8Array, start: number): number {
    const end = Math.min(chunk.length, start + this.#left);
    this.#left -= end - start;
    if (this.#left === 0) this.#state = "header";
    return end;
  }

  #deliver(bytes: Uint8Array, start: number, end: number): void {
    const text = this.#decode(bytes, start, end);
    this.#pending.clear();
    this.#state = "header";
    if (text === undefined) this.#sink.error(INVALID_UTF8);
    else if (text !== "") this.#sink.message(text);
  }
}

/** Writes a message with a Content-Length header. */
export function encodeContentLength(text: string): string {
  return `Content-Length: ${encoder.encode(text).length}\r\n\r\n${text}`;
}

const TRUNCATED: FramingError = {
  code: "truncated",
  message: "The stream ended inside a frame.",
  fix: "Finish every frame before closing; Content-Length counts bytes, not characters.",
};

function badHeader(what: string): FramingError {
  return {
    code: "bad_header",
    message: `A frame header ${what}; reading resumes at the next Content-Length line.`,
    fix: "Write `Content-Length: <bytes>`, an empty line and the message, and nothing else to the stream.",
  };
}

/** Returns the length that a line declares, or undefined if the line is not a valid Content-Length header. */
function contentLength(line: string): number | undefined {
  const digits = /^content-length[ \t]*:[ \t]*([0-9]{1,15})[ \t]*$/i.exec(line)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the line without its `\r`. Header lines are ASCII, so each byte becomes one character. */
function asciiLine(buffer: ByteBuffer): string {
  let line = "";
  for (let at = 0; at < buffer.length; at++) line += String.fromCharCode(buffer.bytes[at] ?? 0);
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
