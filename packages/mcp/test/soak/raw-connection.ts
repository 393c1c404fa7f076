import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawReply {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** One kept connection that sends a request at a time and reads answers of a told length, cheaper than any HTTP client. */
export class RawConnection {
  readonly #socket: Socket;
  #text = "";
  #waiting: { resolve(reply: RawReply): void; reject(error: Error): void } | undefined;
  #fault: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    // A character per byte, so that lengths in bytes are lengths of text; all that lanes send is ASCII.
    socket.setEncoding("latin1").setNoDelay(true);
    socket.on("data", (text) => this.#read(String(text)));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  send(method: string, headers: Readonly<Record<string, string>>, body = ""): Promise<RawReply> {
    return new Promise((resolve, reject) => {
      if (this.#fault !== undefined) return reject(this.#fault);
      this.#waiting = { resolve, reject };
      this.#socket.write(requestText(method, headers, body));
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#text += text;
    const end = this.#text.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = this.#text.slice(0, end);
    const status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined && status !== 202 && status !== 204) {
      return this.#fail(new Error(`an answer without a length: ${head.slice(0, 300)}`));
    }
    const whole = end + 4 + Number(length ?? 0);
    if (this.#text.length < whole) return;
    const body = this.#text.slice(end + 4, whole);
    this.#text = this.#text.slice(whole);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status, head, body });
  }

  #fail(error: Error): void {
    this.#fault ??= error;
    this.#waiting?.reject(this.#fault);
    this.#waiting = undefined;
  }
}

/** A whole HTTP/1.1 request, as bytes in Latin-1. */
export function requestText(method: string, headers: Readonly<Record<string, string>>, body: string): string {
  let text = `${method} /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  return body === "" ? `${text}\r\n` : `${text}content-length: ${body.length}\r\n\r\n${body}`;
}
