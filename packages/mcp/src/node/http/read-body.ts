import type { IncomingMessage } from "node:http";
import { PARSE_ERROR } from "../../jsonrpc/error.js";
import { type Body, longBody } from "../../transport/http/server/incoming.js";
import { builtin } from "../builtin.js";

const { isUtf8 } = builtin("node:buffer");

/** The text of a body that was received completely. */
export function bodyOfBytes(bytes: Buffer): Body {
  // `toString` would replace invalid bytes with U+FFFD, and a filter in front may have read something else.
  if (!isUtf8(bytes)) return { status: 400, code: PARSE_ERROR, reason: "the body is not valid UTF-8" };
  return { text: bytes.toString() };
}

/** Reads a body into memory. Calls `done` once, or never if the client disconnects first. */
export function readBytes(request: IncomingMessage, maxBytes: number, done: (body: Body) => void): void {
  // Nearly every body arrives as one chunk.
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) {
      // Refused only once; later chunks are dropped until the connection closes.
      if (size - chunk.length <= maxBytes) done(longBody(maxBytes));
      first = undefined;
      rest = undefined;
      return;
    }
    if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  request.on("end", () => {
    if (size > maxBytes) return;
    done(bodyOfBytes(rest === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest)));
  });
}
