import { connect } from "node:net";

/** An answer as it came. */
export interface RawAnswer {
  readonly status: number;
  /** Names in small letters; values of a name that came more than once are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Every byte, for what is no single answer. */
  readonly text: string;
}

/** Bytes of an answer that are kept. */
const MOST_BYTES = 1024 * 1024;

/** Sends bytes to a port, and resolves with what came back when the other side has ended the connection. */
export function sendRaw(port: number, bytes: string | readonly string[], host = "127.0.0.1"): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text = (text + chunk).slice(0, MOST_BYTES);
    });
    socket.on("error", (error) => (text === "" ? reject(error) : resolve(parsed(text))));
    socket.on("close", () => resolve(parsed(text)));
    for (const part of [bytes].flat()) socket.write(part, "latin1");
  });
}

/** A request in its own bytes; the connection is asked to end after it. */
export function requestText(method: string, target: string, headers: readonly string[], body = ""): string {
  return `${method} ${target} HTTP/1.1\r\n${[...headers, "Connection: close"].join("\r\n")}\r\n\r\n${body}`;
}

function parsed(text: string): RawAnswer {
  const at = text.indexOf("\r\n\r\n");
  const [line = "", ...lines] = (at < 0 ? text : text.slice(0, at)).split("\r\n");
  const headers: Record<string, string> = {};
  for (const one of lines) {
    const colon = one.indexOf(":");
    const name = one.slice(0, colon).toLowerCase();
    const value = one.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return { status: Number(line.split(" ")[1] ?? 0), headers, body: at < 0 ? "" : text.slice(at + 4), text };
}
