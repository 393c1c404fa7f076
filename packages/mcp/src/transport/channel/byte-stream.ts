/**
 * A duplex stream of bytes: a socket, or the two pipes of a process.
 *
 * Contract: `open` is called once, before anything else, and nothing is reported before it. No member throws.
 */
export interface ByteStream {
  open(events: ByteStreamEvents): void;
  /** Writes the text as UTF-8. False asks the caller to write no more until `drained`. */
  write(text: string): boolean;
  /** Ends the output after all that was written, then the stream. Safe to call twice. */
  end(): void;
  /** Gives the stream up at once; what was not yet written is lost. Safe to call twice. */
  destroy(): void;
  /** Stops and restarts `data`. */
  pause(): void;
  resume(): void;
}

/** What a byte stream reports. */
export interface ByteStreamEvents {
  /** The bytes belong to the callee only until it returns. */
  data(chunk: Uint8Array): void;
  /** The peer will send no more; the output may still be open. At most once. */
  inputEnded(): void;
  /** Writing may go on after a `write` that returned false. */
  drained(): void;
  /** Both directions are over. Exactly once, and last. */
  closed(reason?: Error): void;
}
