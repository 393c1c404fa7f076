import type { Channel, ChannelReceiver } from "../../jsonrpc/channel.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { DecodeUtf8, FrameDecoder, FrameSink, FramingError } from "../framing/frame-decoder.js";
import { LineDecoder } from "../framing/lines.js";
import type { ByteStream } from "./byte-stream.js";
import { Outbox, type QueueLimits } from "./outbox.js";

export interface StreamChannelOptions extends QueueLimits {
  platform: Pick<Platform, "defer" | "timer">;
  /** Longest message that is read, in bytes; default 16 MiB. A longer one is skipped and reported; the channel lives on. */
  maxMessageBytes?: number;
  /**
   * Stop reading while more than this waits to leave, so that a peer that does not read its answers cannot send more
   * requests. For servers only, default 1 Mi there; if both ends did so, each could wait for the other for ever.
   */
  holdInputAbove?: number;
  /** How long `close` lets the last bytes leave before the stream is cut; default 2 s. */
  closeTimeoutMs?: number;
  /** The peer will send no more. Without it the channel closes at once. */
  onInputEnd?(): void;
  /** A faster strict UTF-8 decoder, where the runtime has one. */
  decode?: DecodeUtf8;
  /** How texts are wrapped and unwrapped; default one line each. */
  framing?: Framing;
}

/** How messages are marked in a stream of bytes. */
export interface Framing {
  /** Joins whole messages into what is written. */
  encode(texts: readonly string[]): string;
  decoder(sink: FrameSink, options: { maxMessageBytes?: number; decode?: DecodeUtf8 }): FrameDecoder;
}

/** One message per line: what MCP says for stdio and recommends for every other byte stream. */
export const LINES: Framing = {
  encode: (texts) => `${texts.join("\n")}\n`,
  decoder: (sink, options) => new LineDecoder(sink, options),
};

/** A batch is written before the turn's end once it is this large: more would only be held twice. */
const EARLY_WRITE = 64 * 1024;

/**
 * A channel over a stream of bytes. Texts sent in one turn of the event loop leave in one write; while the stream is
 * congested they wait in a bounded queue.
 */
export class StreamChannel implements Channel {
  readonly #stream: ByteStream;
  readonly #options: StreamChannelOptions;
  readonly #framing: Framing;
  readonly #outbox: Outbox;
  readonly #holdAbove: number;
  readonly #done: Promise<void>;
  #finish: () => void = () => {};
  #receiver: ChannelReceiver | undefined;
  #decoder: FrameDecoder | undefined;
  #scheduled = false;
  /** The stream asked to wait for `drained`. */
  #congested = false;
  /** Reading is stopped until the queue is short again. */
  #held = false;
  /** `close` was called: nothing is accepted, and the stream ends once the queue is empty. */
  #closing = false;
  #told = false;
  #cut: Timer | undefined;
  readonly #faults = new Map<string, Error>();

  constructor(stream: ByteStream, options: StreamChannelOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#framing = options.framing ?? LINES;
    this.#outbox = new Outbox(options);
    this.#holdAbove = options.holdInputAbove ?? Number.POSITIVE_INFINITY;
    this.#done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    const { maxMessageBytes, decode } = this.#options;
    const decoder = this.#framing.decoder(
      { message: (text) => this.#deliver(text), error: (error) => this.#fault(error) },
      { ...(maxMessageBytes === undefined ? {} : { maxMessageBytes }), ...(decode === undefined ? {} : { decode }) },
    );
    this.#decoder = decoder;
    this.#stream.open({
      data: (chunk) => decoder.feed(chunk),
      inputEnded: () => this.#inputEnded(),
      drained: () => this.#drained(),
      closed: (reason) => this.#streamClosed(reason),
    });
  }

  send(text: string): void {
    if (this.#closing || this.#told) return;
    this.#outbox.push(text);
    if (this.#outbox.length >= EARLY_WRITE) this.#flush();
    else if (!this.#scheduled) this.#schedule();
  }

  close(): Promise<void> {
    if (this.#closing || this.#told) return this.#done;
    this.#closing = true;
    if (this.#receiver === undefined) {
      this.#stream.destroy();
      this.#finish();
      return this.#done;
    }
    const { platform, closeTimeoutMs = 2000 } = this.#options;
    this.#cut = platform.timer(closeTimeoutMs, () => this.#stream.destroy(), true);
    // On a later turn, so that the caller of `close` is not called back inside it.
    platform.defer(() => this.#tell(undefined));
    this.#flush();
    return this.#done;
  }

  #schedule(): void {
    this.#scheduled = true;
    this.#options.platform.defer(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#congested && !this.#outbox.isEmpty) {
      this.#congested = !this.#stream.write(this.#framing.encode(this.#outbox.takeAll()));
    }
    this.#regulate();
    if (this.#closing && this.#outbox.isEmpty) this.#stream.end();
  }

  #drained(): void {
    this.#congested = false;
    this.#flush();
  }

  #regulate(): void {
    if (this.#held) {
      if (this.#congested) return;
      this.#held = false;
      this.#stream.resume();
    } else if (this.#congested && this.#outbox.length > this.#holdAbove) {
      this.#held = true;
      this.#stream.pause();
    }
  }

  #deliver(text: string): void {
    if (!this.#told) this.#receiver?.message(text);
  }

  #fault(error: FramingError): void {
    if (this.#told) return;
    // One error value per cause: a flood of bad frames should not cost a stack trace each.
    let fault = this.#faults.get(error.code);
    if (fault === undefined) {
      const kind = error.code === "oversized_frame" ? "oversized_frame" : "decode_error";
      fault = new McpError(kind, error.message, { fix: error.fix });
      this.#faults.set(error.code, fault);
    }
    this.#receiver?.fault(fault);
  }

  #inputEnded(): void {
    this.#decoder?.end();
    if (this.#options.onInputEnd === undefined) void this.close();
    else this.#options.onInputEnd();
  }

  #streamClosed(reason: Error | undefined): void {
    this.#cut?.cancel();
    this.#outbox.takeAll();
    this.#decoder?.end();
    this.#tell(reason);
    this.#finish();
  }

  #tell(reason: Error | undefined): void {
    if (this.#told) return;
    this.#told = true;
    this.#receiver?.closed(reason);
  }
}
