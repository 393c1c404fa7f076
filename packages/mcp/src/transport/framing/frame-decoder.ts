/**
 * The reason why a frame was rejected: too long, not UTF-8, an invalid header, or a stream that ended inside the frame.
 */
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
  /** The change to make, in one sentence. */
  readonly fix: string;
}

/**
 * Receives messages and errors. Both methods are called inside `feed` or `end`, in stream order, and must not throw.
 */
export interface FrameSink {
  message(text: string): void;
  /**
   * Reports a rejected frame. `head` is the start of a frame that was too long, if the decoder has it. It may contain
   * the id of the message.
   */
  error(error: FramingError, head?: string): void;
}

/**
 * Splits chunks of bytes into messages.
 *
 * A decoder never throws, and retains no reference to a chunk after `feed` has returned. A rejected frame is
 * reported once and skipped, and the decoder continues with the next frame. After `end`, both methods do nothing.
 */
export interface FrameDecoder {
  feed(chunk: Uint8Array): void;
  end(): void;
}

/** Options of every decoder. */
export interface FramingOptions {
  /**
   * Maximum length of a frame in bytes, without its delimiter or header. A longer frame is skipped and reported.
   * Default: 16 MiB, far above real messages and small enough to buffer.
   */
  readonly maxMessageBytes?: number;
  /** Strict UTF-8 decoder. A runtime may pass a faster function. Default: `TextDecoder`. */
  readonly decode?: DecodeUtf8;
}

/**
 * Decodes `bytes[start, end)`. Returns undefined, never replacement characters, if the bytes are not valid UTF-8.
 * Retains a leading byte order mark.
 */
export type DecodeUtf8 = (bytes: Uint8Array, start: number, end: number) => string | undefined;

export const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export function oversizedFrame(maxMessageBytes: number): FramingError {
  return {
    code: "oversized_frame",
    message: `A frame is longer than ${maxMessageBytes} bytes; it was skipped.`,
    fix: "Send a smaller message, or raise `maxMessageBytes` on the reading side.",
  };
}

/**
 * Length of the reported start of an oversized frame, in bytes. Enough for the members before the result of a response.
 */
const HEAD_BYTES = 128;

/** Returns the start of `bytes[start, end)` as text, one character per byte. */
export function headOf(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, Math.min(end, start + HEAD_BYTES)));
}

export const INVALID_UTF8: FramingError = {
  code: "invalid_utf8",
  message: "A frame is not valid UTF-8; it was skipped.",
  fix: "Encode every message as UTF-8 and write nothing else to the stream.",
};
