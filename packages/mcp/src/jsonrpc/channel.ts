/**
 * A duplex pipe of whole texts: one `send` here is one `message` there, in order.
 *
 * Contract: `open` is called once, before anything else; nothing is delivered before it. `closed` is called exactly once,
 * after the last `message`, whichever side closed the pipe. After it, `send` does nothing.
 */
export interface Channel {
  open(receiver: ChannelReceiver): void;
  /** Queues one text. Throws when the queue's bound is reached; the error says which bound. Never blocks. */
  send(text: string): void;
  /** Ends the pipe; what was sent before still leaves if it can. Safe to call twice. */
  close(): void | Promise<void>;
}

/** What a channel calls. No method may throw. */
export interface ChannelReceiver {
  message(text: string): void;
  /** One unit of input could not be read (too long, not UTF-8); the channel lives on. */
  fault(error: Error): void;
  closed(reason?: Error): void;
}
