import { connect, type Socket } from "node:net";

/** A reply as it came over the socket. */
export interface RawReply {
  status: number;
  headers: Map<string, string>;
  body: string;
}

/** Sends bytes as they are and reads one reply. Rejects when the connection ends without one, or after `timeoutMs`. */
export function sendRaw(port: number, bytes: string | Uint8Array, timeoutMs = 10_000): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    const finish = (act: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      act();
    };
    const timer = setTimeout(() => finish(() => reject(new Error("no reply in time"))), timeoutMs);
    const look = (ended: boolean) => {
      const reply = parseReply(Buffer.concat(chunks), ended);
      if (reply !== undefined) finish(() => resolve(reply));
      else if (ended) finish(() => reject(new Error("the connection ended without a reply")));
    };
    socket.on("connect", () => socket.write(bytes));
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      look(false);
    });
    socket.on("end", () => look(true));
    socket.on("error", () => look(true));
  });
}

/** Parses one reply; undefined while it is incomplete. A body without a length ends with the connection. */
export function parseReply(bytes: Buffer, ended: boolean): RawReply | undefined {
  const text = bytes.toString("latin1");
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const at = line.indexOf(":");
    headers.set(line.slice(0, at).toLowerCase(), line.slice(at + 1).trim());
  }
  const rest = bytes.subarray(headEnd + 4);
  const reply = { status: Number(statusLine.split(" ")[1]), headers, body: rest.toString() };
  const length = headers.get("content-length");
  if (length !== undefined && rest.length >= Number(length)) return reply;
  if (headers.get("transfer-encoding") === "chunked" && rest.toString("latin1").endsWith("0\r\n\r\n")) {
    return { ...reply, body: unchunk(rest) };
  }
  return ended || reply.status === 204 ? reply : undefined;
}

function unchunk(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(parts).toString();
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

/** A socket that reads an event stream until told to stop. */
export function openSocket(port: number, bytes: string): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.on("connect", () => socket.write(bytes));
  return socket;
}
