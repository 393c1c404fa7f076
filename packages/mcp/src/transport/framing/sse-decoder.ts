import { createParser } from "eventsource-parser";
import { DEFAULT_MAX_MESSAGE_BYTES, type FramingError } from "./frame-decoder.js";

/** One received server-sent event. */
export interface SseEvent {
  readonly data: string;
  /** Absent if the event has no id. The last event id then stays the same. */
  readonly id?: string;
  /** Absent if the event has no type, which means `message`. */
  readonly event?: string;
}

/** Receives events and errors. All methods are called inside `feed`, in stream order, and must not throw. */
export interface SseSink {
  event(event: SseEvent): void;
  /** Reports a reconnection time from the stream, not clamped. */
  retry?(ms: number): void;
  comment?(text: string): void;
  /** Reports a fatal error. Called at most once; the decoder reads nothing after it. */
  error(error: FramingError): void;
}

export interface SseDecoderOptions {
  /** Longest event, in UTF-16 units. Default: 16 Mi, as for every frame. */
  readonly maxEventLength?: number;
}

/**
 * Chunks are parsed in pieces of at most this size. `maxEventLength` is checked after each piece, so an event can
 * exceed it by at most one piece.
 */
const PIECE_BYTES = 64 * 1024;

/**
 * Matches lines that the standard says to ignore. They are removed before parsing, because the parser creates an
 * exception for each, and one hostile megabyte would take seconds. Ignored lines at the edges of a piece remain, but
 * they are too few to matter.
 */
const IGNORED_LINE = /\n(?!(?:data|event|id)[:\n]|retry: ?\d+\n|[:\n])[^\n]*(?=\n)/g;

const COLON = 0x3a;
/**
 * Match whole comment lines. `LATER_COMMENTS` skips the first line, which may continue a line of the previous piece.
 */
const COMMENTS = /(?<![^\n]):[^\n]*\n/g;
const LATER_COMMENTS = /(?<=\n):[^\n]*\n/g;

/**
 * Reads server-sent events from bytes.
 *
 * Follows the HTML standard, 9.2.6 "Interpreting an event stream". `\n`, `\r\n` and `\r` end a line. A byte order mark at
 * the start is dropped, and bytes that are not UTF-8 become U+FFFD. Unknown fields are ignored, and so is an incomplete
 * event at the end of the stream. An event above the limit is one `oversized_frame` error, after which the decoder reads
 * nothing more.
 */
export class SseDecoder {
  readonly #sink: SseSink;
  readonly #maxEventLength: number;
  // Keeps the byte order mark, which `#withoutMark` removes: the decoder of Node 24 would also remove a second mark if
  // the first one is split between chunks.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #parser: ReturnType<typeof createParser>;
  /** True after a `\r`, so that a following `\n` does not end a second line. */
  #afterReturn = false;
  #started = false;
  #ended = false;
  /** True if the next piece begins a line. */
  #atLineStart = true;
  #inComment = false;

  constructor(sink: SseSink, options: SseDecoderOptions = {}) {
    this.#sink = sink;
    this.#maxEventLength = options.maxEventLength ?? DEFAULT_MAX_MESSAGE_BYTES;
    this.#parser = createParser({
      maxBufferSize: this.#maxEventLength,
      onEvent: ({ data, id, event }) => {
        if (this.#ended) return;
        if (data.length > this.#maxEventLength) this.#fail();
        else sink.event({ data, ...(id === undefined ? {} : { id }), ...(event === undefined ? {} : { event }) });
      },
      onRetry: (ms) => {
        if (!this.#ended) sink.retry?.(ms);
      },
      onComment: (text) => {
        if (!this.#ended) sink.comment?.(text);
      },
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") this.#fail();
      },
    });
  }

  feed(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length && !this.#ended; start += PIECE_BYTES) {
      const piece = chunk.length <= PIECE_BYTES ? chunk : chunk.subarray(start, start + PIECE_BYTES);
      const text = this.#prepare(this.#withoutMark(this.#decoder.decode(piece, { stream: true })));
      if (text !== "") this.#parser.feed(text);
    }
  }

  /** Removes the byte order mark at the start of a stream. */
  #withoutMark(text: string): string {
    if (this.#started || text === "") return text;
    this.#started = true;
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  /** Discards an incomplete event. */
  end(): void {
    this.#ended = true;
  }

  /**
   * Prepares a piece for the parser. Converts all line endings to `\n`, because the parser would search the whole piece
   * for a `\n` after each `\r`. Removes ignored lines, and comments if the sink does not want them.
   */
  #prepare(text: string): string {
    if (text === "") return text;
    const rest = this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#afterReturn = text.endsWith("\r");
    const withNewlines = rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
    const wanted = this.#sink.comment === undefined ? this.#withoutComments(withNewlines) : withNewlines;
    return wanted.replace(IGNORED_LINE, "");
  }

  /**
   * Removes comments. A stream may consist of comments alone, and the parser would collect each of them although the
   * sink ignores them.
   */
  #withoutComments(text: string): string {
    let rest = text;
    if (this.#inComment) {
      const end = rest.indexOf("\n");
      if (end < 0) return "";
      this.#inComment = false;
      rest = rest.slice(end + 1);
    }
    const begins = this.#atLineStart && rest.startsWith(":");
    if (begins || rest.includes("\n:")) rest = rest.replace(begins ? COMMENTS : LATER_COMMENTS, "");
    const last = rest.lastIndexOf("\n") + 1;
    if (rest.charCodeAt(last) === COLON && (last > 0 || this.#atLineStart)) {
      this.#inComment = true;
      rest = rest.slice(0, last);
    }
    if (rest !== "") this.#atLineStart = rest.endsWith("\n");
    return rest;
  }

  #fail(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#sink.error({
      code: "oversized_frame",
      message: `A server-sent event is longer than ${this.#maxEventLength} characters; the rest of the stream cannot be read.`,
      fix: "Send smaller events, or raise `maxMessageBytes` on the reading side.",
    });
  }
}
