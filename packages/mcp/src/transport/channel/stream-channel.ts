import type { Channel, ChannelReceiver } from "../../jsonrpc/connection.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { DecodeUtf8, FrameDecoder, FrameSink, FramingError } from "../framing/frame-decoder.js";
import { LineDecoder } from "../framing/lines.js";
import { Outbox, type QueueLimits } from "./outbox.js";

/** Options of a channel over a byte stream. */
export interface StreamChannelOptions extends QueueLimits {
  platform: Pick<Platform, "defer" | "timer">;
  /**
   * Maximum length of a message that is read, in bytes. A longer message is skipped and reported, and the channel
   * continues. Default: 16 MiB.
   */
  maxMessageBytes?: number | undefined;
  /**
   * Length of the output queue, in UTF-16 units, above which the channel pauses reading while the stream is congested.
   * A peer that does not read its answers then cannot send more requests. For servers only: if both ends paused, they
   * could deadlock. Default: never. `serveStream` sets 1 Mi.
   */
  holdInputAbove?: number | undefined;
  /** Time that `close` waits for pending writes before it destroys the stream. Default: 2 s. */
  closeTimeoutMs?: number;
  /** Called when the peer has ended its output. If absent, the channel closes then. */
  onInputEnd?(): void;
  /** A faster strict UTF-8 decoder, if the runtime has one. */
  decode?: DecodeUtf8;
  /** The framing of messages. Default: one line per message. */
  framing?: Framing;
}

/** The framing of messages in a stream of bytes. */
export interface Framing {
  /** Joins messages into the text to write. */
  encode(texts: readonly string[]): string;
  /** Creates a decoder that passes messages and errors to `sink`. */
  decoder(sink: FrameSink, options: { maxMessageBytes?: number; decode?: DecodeUtf8 }): FrameDecoder;
}

/**
 * One message per line, which MCP requires for stdio and recommends for other byte streams.
 *
 * Spec: Transports, https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
export const LINES: Framing = {
  encode: (texts) => `${texts.join("\n")}\n`,
  decoder: (sink, options) => new LineDecoder(sink, options),
};

/**
 * Length of the queue, in UTF-16 units, at which it is written without waiting for the end of the turn. Larger batches
 * would only cost memory.
 */
const EARLY_WRITE = 64 * 1024;

/**
 * A channel over a stream of bytes. Texts sent in one turn of the event loop are written together. While the stream is
 * congested, they wait in a bounded queue.
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
  /** True after a `write` that returned false, until `drained`. */
  #congested = false;
  /** True while reading is paused because the output queue is too long. */
  #held = false;
  /** True after `close`: no text is accepted, and the stream ends when the queue is empty. */
  #closing = false;
  #closedCalled = false;
  #closeTimer: Timer | undefined;
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
      { message: (text) => this.#deliver(text), error: (error, head) => this.#fault(error, head) },
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
    if (this.#closing || this.#closedCalled) return;
    this.#outbox.push(text);
    if (this.#outbox.length >= EARLY_WRITE) this.#flush();
    else if (!this.#scheduled) this.#schedule();
  }

  close(): Promise<void> {
    if (this.#closing || this.#closedCalled) return this.#done;
    this.#closing = true;
    if (this.#receiver === undefined) {
      this.#stream.destroy();
      this.#finish();
      return this.#done;
    }
    const { platform, closeTimeoutMs = 2000 } = this.#options;
    this.#closeTimer = platform.timer(closeTimeoutMs, () => this.#stream.destroy(), true);
    // Deferred, so that `closed` is not called inside `close`.
    platform.defer(() => this.#notifyClosed(undefined));
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
    if (!this.#closedCalled) this.#receiver?.message(text);
  }

  #fault(error: FramingError, head: string | undefined): void {
    if (this.#closedCalled) return;
    const { message, fix } = error;
    if (head !== undefined)
      return this.#receiver?.fault(new McpError("oversized_frame", message, { fix, data: { head } }));
    // One error object is reused per cause, so that a flood of bad frames does not cost a stack trace each.
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
    this.#closeTimer?.cancel();
    this.#outbox.takeAll();
    this.#decoder?.end();
    this.#notifyClosed(reason);
    this.#finish();
  }

  #notifyClosed(reason: Error | undefined): void {
    if (this.#closedCalled) return;
    this.#closedCalled = true;
    this.#receiver?.closed(reason);
  }
}

/**
 * A duplex stream of bytes: a socket, or the two pipes of a process.
 *
 * Contract: `open` is called once, before anything else, and nothing is reported before it. No member throws.
 */
export interface ByteStream {
  open(events: ByteStreamEvents): void;
  /** Writes the text as UTF-8. Returns false if the caller must stop writing until `drained`. */
  write(text: string): boolean;
  /** Ends the output after all pending writes, then the stream. Safe to call twice. */
  end(): void;
  /** Closes the stream immediately. Pending writes are lost. Safe to call twice. */
  destroy(): void;
  /** Stops `data`. */
  pause(): void;
  /** Restarts `data`. */
  resume(): void;
}

/** The events of a byte stream. */
export interface ByteStreamEvents {
  /** Delivers bytes. The callee must not use them after it returns. */
  data(chunk: Uint8Array): void;
  /** Reports that the peer has ended its output. The output of this side may still be open. Called at most once. */
  inputEnded(): void;
  /** Reports that writing may continue after a `write` that returned false. */
  drained(): void;
  /** Reports that both directions have ended. Called exactly once, and last. */
  closed(reason?: Error): void;
}
