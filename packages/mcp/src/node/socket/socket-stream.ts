import type { Socket } from "node:net";
import { type ByteStream, type ByteStreamEvents, type Framing, LINES } from "../../transport/channel/stream-channel.js";
import { encodeContentLength } from "../../transport/framing/content-length.js";
import { SniffingDecoder } from "../../transport/framing/sniff.js";

/**
 * Wraps a connected or connecting socket as a byte stream. The socket must have been created with `allowHalfOpen`.
 *
 * With `messagesOnly`, closes the connection if its first line cannot begin a message. A web page can make a browser send
 * an HTTP request, of any method, with messages in its body to any local port. Without `messagesOnly`, the lines of the
 * HTTP header would be skipped as invalid and the messages in the body would be processed.
 */
export function socketStream(socket: Socket, messagesOnly = false): ByteStream {
  return new SocketStream(socket, messagesOnly);
}

/** White space and the bytes of a byte order mark, which may precede a message. */
const BLANK = /^[ \t\r\n\u00ef\u00bb\u00bf]+/;
/**
 * Possible beginnings of a message: an object, an array, or a header. An HTTP request begins with its method, which
 * cannot contain a brace, a bracket or a colon.
 */
const MESSAGE_STARTS = ["{", "[", "content-length:", "content-type:"];

class SocketStream implements ByteStream {
  readonly #socket: Socket;
  #failure: Error | undefined;
  #opened = false;
  /** The first characters, until they are known to begin a message. Undefined after that. */
  #beginning: string | undefined;

  constructor(socket: Socket, messagesOnly: boolean) {
    this.#socket = socket;
    this.#beginning = messagesOnly ? "" : undefined;
    socket.setNoDelay(true);
    // Registered before `open`, so that a connection that breaks early is not an uncaught error.
    socket.on("error", (error) => {
      this.#failure ??= error;
    });
  }

  open(events: ByteStreamEvents): void {
    const socket = this.#socket;
    this.#opened = true;
    socket.on("data", (chunk) => {
      if (this.#beginning !== undefined && !this.#mayBegin(this.#beginning, chunk)) socket.destroy();
      // Undecided input has no complete line yet, so nothing of it is processed.
      if (!socket.destroyed) events.data(chunk);
    });
    socket.once("end", () => events.inputEnded());
    socket.on("drain", () => events.drained());
    // A server accepts connections paused, so that no data is lost during authentication.
    socket.resume();
    if (socket.closed) setImmediate(() => events.closed(this.#failure));
    else socket.once("close", () => events.closed(this.#failure));
  }

  #mayBegin(before: string, chunk: Uint8Array): boolean {
    const text = (before + Buffer.from(chunk).toString("latin1")).replace(BLANK, "").slice(0, 20).toLowerCase();
    this.#beginning = MESSAGE_STARTS.some((one) => text.startsWith(one)) ? undefined : text;
    return this.#beginning === undefined || MESSAGE_STARTS.some((one) => one.startsWith(text));
  }

  write(text: string): boolean {
    return this.#socket.writable ? this.#socket.write(text) : true;
  }

  end(): void {
    if (this.#opened) this.#socket.end();
    else this.#socket.destroy();
    // Unread input would keep the socket open, so reading continues.
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

/**
 * Delimiter of written messages. `lines`: one message per line, as MCP recommends. `content-length`: a header with the
 * length before each message, as in LSP. `auto`, for servers: the form that the client uses, or lines until that form
 * is known.
 */
export type SocketFraming = "lines" | "content-length" | "auto";

/** Creates the framing of one connection. Writes the named form, and detects the form when reading. */
export function framingNamed(name: SocketFraming): Framing {
  let decoder: SniffingDecoder | undefined;
  return {
    decoder(sink, options) {
      decoder = new SniffingDecoder(sink, options);
      return decoder;
    },
    encode(texts) {
      const form = name === "auto" ? (decoder?.framing ?? "lines") : name;
      return form === "lines" ? LINES.encode(texts) : texts.map(encodeContentLength).join("");
    },
  };
}
