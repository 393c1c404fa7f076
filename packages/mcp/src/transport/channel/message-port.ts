import { platform as runtimePlatform } from "#platform";
import type { Channel, ChannelReceiver } from "../../jsonrpc/connection.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { Outbox, type QueueLimits } from "./outbox.js";

/** A `MessagePort`, a `Worker` or the global scope of a worker, in browsers or in Node. */
export interface PortLike {
  /** Sends a value to the other end. */
  postMessage(value: unknown): void;
  /** Adds a listener, in browsers. */
  addEventListener?(type: string, listener: (event: object) => void): void;
  /** Adds a listener, in Node. Used instead of `addEventListener` if both exist. Node's `Worker` has only `on`. */
  on?(type: string, listener: (value: unknown) => void): unknown;
  /** Starts delivery. Needed by ports with `addEventListener`. */
  start?(): void;
  /** Closes the port. */
  close?(): void;
}

/** Limits of a channel over a port. */
export interface MessagePortOptions extends QueueLimits {
  /** Replaces the timers of the runtime, for example in a test. Default: those of the runtime. */
  platform?: Pick<Platform, "defer" | "timer"> | undefined;
}

/**
 * Maximum number of messages that the peer has not acknowledged. Further messages wait in the queue, because ports have
 * no back-pressure.
 */
const WINDOW_MESSAGES = 1024;
/** Total length of unacknowledged messages, in UTF-16 units. Above it, further messages wait in the queue. */
const WINDOW_LENGTH = 4 * 1024 * 1024;
/**
 * Maximum time that `close` waits for the peer to close its end. After that, `close` closes the port itself. A peer in
 * the same process closes its end within one turn of the event loop.
 */
const CLOSE_MS = 1000;

/**
 * Creates a channel over a port. Both ends of the port must use this function.
 *
 * On the port, a string is a message, a number acknowledges that many further messages, and `null` ends the channel.
 * The acknowledgements bound the queue inside the port.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/transports.md | Transports}
 */
export function messagePortChannel(port: PortLike, options: MessagePortOptions = {}): Channel {
  checkOptions("messagePortChannel", options, "maxQueuedMessages maxQueuedBytes platform");
  return new PortChannel(port, options);
}

class PortChannel implements Channel {
  readonly #port: PortLike;
  readonly #platform: Pick<Platform, "defer" | "timer">;
  readonly #outbox: Outbox;
  #receiver: ChannelReceiver | undefined;
  /** Lengths of the messages that the peer has not acknowledged, oldest first, and their sum. */
  #inTransit: number[] = [];
  #inTransitLength = 0;
  /** Number of messages received since the last acknowledgement. */
  #unacknowledged = 0;
  #closing = false;
  #closedCalled = false;
  #closeTimer: Timer | undefined;

  constructor(port: PortLike, options: MessagePortOptions) {
    this.#port = port;
    this.#platform = options.platform ?? runtimePlatform;
    this.#outbox = new Outbox(options);
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    const { on, addEventListener } = this.#port;
    const gone = () => this.#end();
    if (on !== undefined) {
      on.call(this.#port, "message", (value) => this.#receive(value));
      on.call(this.#port, "close", gone);
      on.call(this.#port, "exit", gone);
      on.call(this.#port, "error", (error) => this.#end(error instanceof Error ? error : undefined));
    } else {
      addEventListener?.call(this.#port, "message", (event) => this.#receive("data" in event ? event.data : undefined));
      addEventListener?.call(this.#port, "close", gone);
      addEventListener?.call(this.#port, "messageerror", () => this.#fault("a value on the port could not be read"));
    }
    this.#port.start?.();
  }

  send(text: string): void {
    if (this.#closing || this.#closedCalled) return;
    if (this.#outbox.isEmpty && this.#hasRoom()) this.#post(text);
    else this.#outbox.push(text);
  }

  close(): void {
    if (this.#closing || this.#closedCalled) return;
    this.#closing = true;
    // Sends the whole queue even beyond the window, because no further messages follow.
    for (const text of this.#outbox.takeAll()) this.#port.postMessage(text);
    this.#port.postMessage(null);
    this.#platform.defer(() => this.#notifyClosed());
    this.#closeTimer = this.#platform.timer(CLOSE_MS, () => this.#port.close?.());
  }

  #hasRoom(): boolean {
    return this.#inTransit.length < WINDOW_MESSAGES && this.#inTransitLength < WINDOW_LENGTH;
  }

  #post(text: string): void {
    this.#inTransit.push(text.length);
    this.#inTransitLength += text.length;
    this.#port.postMessage(text);
  }

  #receive(value: unknown): void {
    if (typeof value === "string") this.#message(value);
    else if (typeof value === "number") this.#acknowledged(value);
    else if (value === null) this.#end();
    else this.#fault("a value on the port is not a string");
  }

  #message(text: string): void {
    if (this.#closedCalled) return;
    if (this.#unacknowledged++ === 0) this.#platform.defer(() => this.#acknowledge());
    this.#receiver?.message(text);
  }

  #acknowledge(): void {
    if (!this.#closedCalled && !this.#closing) this.#port.postMessage(this.#unacknowledged);
    this.#unacknowledged = 0;
  }

  #acknowledged(count: number): void {
    for (const length of this.#inTransit.splice(0, Math.max(0, count))) this.#inTransitLength -= length;
    const waiting = this.#outbox.takeAll();
    let next = 0;
    for (; next < waiting.length && this.#hasRoom(); next++) this.#post(waiting[next] ?? "");
    for (; next < waiting.length; next++) this.#outbox.push(waiting[next] ?? "");
  }

  #fault(message: string): void {
    const fix = "Use this channel on both ends of the port, and use the port for nothing else.";
    if (!this.#closedCalled) this.#receiver?.fault(new McpError("decode_error", message, { fix }));
  }

  /** Ends the channel after the peer or the port has closed. */
  #end(reason?: Error): void {
    if (!this.#closing) {
      this.#closing = true;
      this.#port.postMessage(null);
    }
    this.#closeTimer?.cancel();
    this.#port.close?.();
    this.#outbox.takeAll();
    this.#notifyClosed(reason);
  }

  #notifyClosed(reason?: Error): void {
    if (this.#closedCalled) return;
    this.#closedCalled = true;
    this.#receiver?.closed(reason);
  }
}
