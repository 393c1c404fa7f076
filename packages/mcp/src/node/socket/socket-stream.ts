import type { Socket } from "node:net";
import type { ByteStream, ByteStreamEvents } from "../../transport/channel/byte-stream.js";

/**
 * A connected or connecting socket as a byte stream. The socket must have been made with `allowHalfOpen`.
 *
 * With `messagesOnly`, the connection is closed if its first byte cannot begin a message. A web page can make a browser
 * send an HTTP request with messages in its body to any local port; without this, only its other lines would be skipped.
 */
export function socketStream(socket: Socket, messagesOnly = false): ByteStream {
  return new SocketStream(socket, messagesOnly);
}

/** The first byte of an object, an array, white space, a byte order mark or a `Content-Length` header. */
const FIRST_BYTES = new Set([..."{[ \t\r\nCc"].map((character) => character.charCodeAt(0)).concat(0xef));

class SocketStream implements ByteStream {
  readonly #socket: Socket;
  #failure: Error | undefined;
  #opened = false;
  #unscreened: boolean;

  constructor(socket: Socket, messagesOnly: boolean) {
    this.#socket = socket;
    this.#unscreened = messagesOnly;
    socket.setNoDelay(true);
    // Before `open`, so that a connection that breaks early is not an uncaught error.
    socket.on("error", (error) => {
      this.#failure ??= error;
    });
  }

  open(events: ByteStreamEvents): void {
    const socket = this.#socket;
    this.#opened = true;
    socket.on("data", (chunk) => {
      if (this.#unscreened && !FIRST_BYTES.has(chunk[0] ?? 0)) socket.destroy();
      if (socket.destroyed) return;
      this.#unscreened = false;
      events.data(chunk);
    });
    socket.once("end", () => events.inputEnded());
    socket.on("drain", () => events.drained());
    // A server accepts connections paused, so that nothing is lost while it authenticates them.
    socket.resume();
    if (socket.closed) setImmediate(() => events.closed(this.#failure));
    else socket.once("close", () => events.closed(this.#failure));
  }

  write(text: string): boolean {
    return this.#socket.writable ? this.#socket.write(text) : true;
  }

  end(): void {
    if (this.#opened) this.#socket.end();
    else this.#socket.destroy();
    // Unread input would keep the socket open.
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }
}
