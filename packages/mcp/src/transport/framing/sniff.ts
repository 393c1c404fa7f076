import { ContentLengthDecoder } from "./content-length.js";
import type { FrameDecoder, FrameSink, FramingOptions } from "./frame-decoder.js";
import { LineDecoder } from "./lines.js";

export type FramingName = "lines" | "content-length";

/** The start of a frame header. A JSON message never begins with it, and a stray line of text rarely does. */
const MARK = "content-";

/**
 * Reads either framing. The first bytes other than white space decide for the whole stream.
 *
 * A stream that begins with `Content-` (in any case) has headers; any other has lines. This supports peers that
 * cannot be configured. The writer should use the detected `framing` too.
 */
export class SniffingDecoder implements FrameDecoder {
  readonly #sink: FrameSink;
  readonly #options: FramingOptions;
  /** The bytes received so far, while they may be the start of `MARK`. */
  #buffered: number[] = [];
  #decoder: FrameDecoder | undefined;
  #framing: FramingName | undefined;

  constructor(sink: FrameSink, options: FramingOptions = {}) {
    this.#sink = sink;
    this.#options = options;
  }

  /** The detected framing; undefined until enough bytes have arrived. */
  get framing(): FramingName | undefined {
    return this.#framing;
  }

  feed(chunk: Uint8Array): void {
    if (this.#decoder !== undefined) {
      this.#decoder.feed(chunk);
      return;
    }
    let start = 0;
    if (this.#buffered.length === 0) while (start < chunk.length && isSpace(chunk[start] ?? 0)) start++;
    let matched = this.#buffered.length;
    let at = start;
    while (at < chunk.length && matched < MARK.length && lowerCase(chunk[at] ?? 0) === MARK.charCodeAt(matched)) {
      at++;
      matched++;
    }
    if (at === chunk.length && matched < MARK.length) {
      this.#buffered.push(...chunk.subarray(start));
      return;
    }
    this.#choose(matched === MARK.length ? "content-length" : "lines").feed(chunk.subarray(start));
  }

  end(): void {
    (this.#decoder ?? this.#choose("lines")).end();
  }

  #choose(framing: FramingName): FrameDecoder {
    this.#framing = framing;
    const Decoder = framing === "lines" ? LineDecoder : ContentLengthDecoder;
    this.#decoder = new Decoder(this.#sink, this.#options);
    this.#decoder.feed(Uint8Array.from(this.#buffered));
    this.#buffered = [];
    return this.#decoder;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}
