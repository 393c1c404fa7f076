/**
 * A duplex stream of bytes: a socket, or the two pipes of a process.
 *
 * Contract: `open` is called once, before anything else, and nothing is reported before it. No member throws.
 */
export interface ByteStream {
  open(events: ByteStreamEvents): void;
  /** Writes the text as UTF-8. False asks the caller to stop writing until `drained`. */
  write(text: string): boolean;
  /** Ends the output after all pending writes, then the stream. Safe to call twice. */
  end(): void;
  /** Closes the stream immediately; pending writes are lost. Safe to call twice. */
  destroy(): void;
  /** Stops and restarts `data`. */
  pause(): void;
  resume(): void;
}

/** Events of a byte stream. */
export interface ByteStreamEvents {
  /** The callee must not use the bytes after it returns. */
  data(chunk: Uint8Array): void;
  /** The peer has ended its output; ours may still be open. At most once. */
  inputEnded(): void;
  /** Writing may continue after a `write` that returned false. */
  drained(): void;
  /** Both directions have ended. Exactly once, and last. */
  closed(reason?: Error): void;
}
