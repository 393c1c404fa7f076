import type { Channel, ChannelReceiver } from "../../jsonrpc/connection.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { DEFAULT_MAX_MESSAGE_BYTES, oversizedFrame } from "../framing/frame-decoder.js";
import { Outbox, type QueueLimits } from "./outbox.js";

/** The WebSocket subprotocol (RFC 6455, 1.9) that identifies MCP messages. */
export const SUBPROTOCOL = "mcp";

/** The part of a WebSocket that the library uses. The WebSockets of browsers and of `ws` have it. */
export interface WebSocketLike {
  /** 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** Number of bytes that were passed to `send` and are not sent yet. */
  readonly bufferedAmount: number;
  /** Sends one text frame. */
  send(text: string): void;
  /** Starts the closing handshake. */
  close(code?: number, reason?: string): void;
  /** Adds a listener for an event. */
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number; reason: string }) => void): void;
  addEventListener(type: "error", listener: (event: object) => void): void;
  /** Destroys the connection. Only sockets of `ws` have this method. */
  terminate?(): void;
  /** Stops reading. Only sockets of `ws` have this method. */
  pause?(): void;
  /** Restarts reading. Only sockets of `ws` have this method. */
  resume?(): void;
}

/** Options of a channel over a WebSocket. */
export interface WebSocketChannelOptions extends QueueLimits {
  platform: Pick<Platform, "defer" | "timer">;
  /**
   * Maximum length of a message that is read, in UTF-16 units. A longer message is skipped and reported, and the
   * channel continues. Default: 16 Mi.
   */
  maxMessageBytes?: number | undefined;
  /**
   * Length of the output queue, in UTF-16 units, above which the channel pauses reading until the queue is empty. For
   * servers only; see `StreamChannelOptions`. Default: never.
   */
  holdInputAbove?: number | undefined;
  /** Time that `close` waits for the close frame of the peer. Default: 2 s. */
  closeTimeoutMs?: number | undefined;
}

/**
 * While the socket's own buffer, which is unbounded, has this many bytes or more, texts wait in the bounded queue of
 * the channel.
 */
const HIGH_WATER = 1024 * 1024;
/**
 * Milliseconds between two checks of the socket's buffer. The channel polls, because WebSockets have no event for an
 * empty buffer.
 */
const POLL_MS = 5;
const CONNECTING = 0;
const OPEN = 1;

/** Creates a channel over a WebSocket that is open or opening. One text frame is one message. */
export function webSocketChannel(socket: WebSocketLike, options: WebSocketChannelOptions): Channel {
  return new WebSocketChannel(socket, options);
}

class WebSocketChannel implements Channel {
  readonly #socket: WebSocketLike;
  readonly #options: WebSocketChannelOptions;
  readonly #outbox: Outbox;
  readonly #holdAbove: number;
  readonly #done: Promise<void>;
  #finish: () => void = () => {};
  #receiver: ChannelReceiver | undefined;
  #polling = false;
  #held = false;
  #closing = false;
  #closedCalled = false;
  #closeTimer: Timer | undefined;

  constructor(socket: WebSocketLike, options: WebSocketChannelOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#outbox = new Outbox(options);
    this.#holdAbove = options.holdInputAbove ?? Number.POSITIVE_INFINITY;
    this.#done = new Promise((resolve) => {
      this.#finish = resolve;
    });
    // Reading is paused until `open`, because messages that arrive without a listener would be lost.
    socket.pause?.();
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    const socket = this.#socket;
    socket.addEventListener("open", () => this.#flush());
    socket.addEventListener("message", (event) => this.#message(event.data));
    socket.addEventListener("close", (event) => this.#closed(event));
    // Ignored: the close event that follows has the code, and the error event has no further information.
    socket.addEventListener("error", () => {});
    socket.resume?.();
    if (socket.readyState > OPEN) this.#options.platform.defer(() => this.#closed({ code: 1006, reason: "" }));
  }

  send(text: string): void {
    if (this.#closing || this.#closedCalled) return;
    if (this.#outbox.isEmpty && this.#hasRoom()) {
      this.#socket.send(text);
      return;
    }
    this.#outbox.push(text);
    if (!this.#polling && this.#socket.readyState === OPEN) this.#poll();
    if (!this.#held && this.#outbox.length > this.#holdAbove) {
      this.#held = true;
      this.#socket.pause?.();
    }
  }

  close(): Promise<void> {
    if (this.#closing || this.#closedCalled) return this.#done;
    this.#closing = true;
    const { platform, closeTimeoutMs = 2000 } = this.#options;
    if (this.#receiver === undefined) {
      this.#socket.close(1000);
      this.#finish();
      return this.#done;
    }
    this.#socket.resume?.();
    // A socket that is still connecting and has queued texts is closed only after it has opened and sent them.
    if (this.#socket.readyState !== CONNECTING || this.#outbox.isEmpty) this.#leave();
    platform.defer(() => this.#notifyClosed());
    this.#closeTimer = platform.timer(closeTimeoutMs, () => {
      this.#socket.terminate?.();
      this.#finish();
    });
    return this.#done;
  }

  #hasRoom(): boolean {
    return this.#socket.readyState === OPEN && this.#socket.bufferedAmount < HIGH_WATER;
  }

  #leave(): void {
    if (this.#socket.readyState === OPEN) for (const text of this.#outbox.takeAll()) this.#socket.send(text);
    this.#socket.close(1000);
  }

  #flush(): void {
    if (this.#closing) {
      this.#leave();
      return;
    }
    if (this.#closedCalled) return;
    const waiting = this.#outbox.takeAll();
    let next = 0;
    for (; next < waiting.length && this.#hasRoom(); next++) this.#socket.send(waiting[next] ?? "");
    for (; next < waiting.length; next++) this.#outbox.push(waiting[next] ?? "");
    if (!this.#outbox.isEmpty) this.#poll();
    else if (this.#held) {
      this.#held = false;
      this.#socket.resume?.();
    }
  }

  #poll(): void {
    this.#polling = true;
    this.#options.platform.timer(POLL_MS, () => {
      this.#polling = false;
      this.#flush();
    });
  }

  #message(data: unknown): void {
    if (this.#closedCalled) return;
    const limit = this.#options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
    if (typeof data !== "string") {
      const fix = "Send every message as one text frame.";
      this.#receiver?.fault(new McpError("decode_error", "a binary frame is not a message", { fix }));
    } else if (data.length > limit) {
      const { message, fix } = oversizedFrame(limit);
      this.#receiver?.fault(new McpError("oversized_frame", message, { fix }));
    } else this.#receiver?.message(data);
  }

  #closed({ code, reason }: { code: number; reason: string }): void {
    this.#closeTimer?.cancel();
    this.#outbox.takeAll();
    // RFC 6455, 7.4.1: 1000 and 1001 are orderly ends; 1005 is a close frame without a code.
    const orderly = code === 1000 || code === 1001 || code === 1005;
    this.#notifyClosed(orderly ? undefined : broken(code, reason));
    this.#finish();
  }

  #notifyClosed(reason?: Error): void {
    if (this.#closedCalled) return;
    this.#closedCalled = true;
    this.#receiver?.closed(reason);
  }
}

function broken(code: number, reason: string): McpError {
  const why = reason === "" ? CLOSE_CODES[code] : reason;
  const message = `the WebSocket was closed with code ${code}${why === undefined ? "" : ` (${why})`}`;
  const fix = code === 1009 ? "Send smaller messages, or raise the peer's limit." : undefined;
  return new McpError("connection_closed", message, { data: { code }, ...(fix === undefined ? {} : { fix }) });
}

const CLOSE_CODES: Record<number, string> = {
  1002: "protocol error",
  1003: "unsupported data",
  1006: "the connection broke",
  1007: "not UTF-8",
  1008: "the peer's policy rejected a message",
  1009: "a message was too large",
  1011: "the peer failed",
  1012: "the peer restarts",
  1013: "the peer is overloaded",
};

/** True if a socket is still connecting. */
export function isConnecting(socket: WebSocketLike): boolean {
  return socket.readyState === CONNECTING;
}
