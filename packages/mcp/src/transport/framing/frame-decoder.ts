/** Why a frame was rejected: too long, not UTF-8, an invalid header, or a stream that ended inside the frame. */
export type FramingErrorCode = "oversized_frame" | "invalid_utf8" | "bad_header" | "truncated";

/**
 * One rejected frame.
 *
 * A plain value, not an `Error`: a hostile peer can send millions of bad frames, and a stack trace for each would cost
 * far more than the bytes that caused it.
 */
export interface FramingError {
  readonly code: FramingErrorCode;
  readonly message: string;
  /** What to change, in one sentence. */
  readonly fix: string;
}

/** Receives messages and errors. Both members are called inside `feed` or `end`, in stream order, and MUST NOT throw. */
export interface FrameSink {
  message(text: string): void;
  /** `head` is the beginning of a frame that was too long, if it is known: it may say what the frame was. */
  error(error: FramingError, head?: string): void;
}

/**
 * Splits chunks of bytes into messages.
 *
 * A decoder never throws, whatever the bytes are, and keeps no reference to a chunk after `feed` has returned. A
 * rejected frame is reported once and skipped; the stream continues. After `end` both members do nothing.
 */
export interface FrameDecoder {
  feed(chunk: Uint8Array): void;
  end(): void;
}

/** Options of every decoder. */
export interface FramingOptions {
  /** Longest frame in bytes, without its delimiter or header. Default 16 MiB: far above real messages, and small enough to buffer. */
  readonly maxMessageBytes?: number;
  /** Strict UTF-8 decoding; a runtime may pass a faster function. Default: `TextDecoder`. */
  readonly decode?: DecodeUtf8;
}

/** Decodes `bytes[start, end)` and returns `undefined`, never replacement characters, where they are not valid UTF-8. A leading BOM is kept. */
export type DecodeUtf8 = (bytes: Uint8Array, start: number, end: number) => string | undefined;

export const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export function oversizedFrame(maxMessageBytes: number): FramingError {
  return {
    code: "oversized_frame",
    message: `A frame is longer than ${maxMessageBytes} bytes; it was skipped.`,
    fix: "Send a smaller message, or raise `maxMessageBytes` on the reading side.",
  };
}

/** Enough of a frame for the members before its result. */
const HEAD_BYTES = 128;

/** The beginning of `bytes[start, end)` as text, one character for each byte. */
export function headOf(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, Math.min(end, start + HEAD_BYTES)));
}

export const INVALID_UTF8: FramingError = {
  code: "invalid_utf8",
  message: "A frame is not valid UTF-8; it was skipped.",
  fix: "Encode every message as UTF-8 and write nothing else to the stream.",
};
