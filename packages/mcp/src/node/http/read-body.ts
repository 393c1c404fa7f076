import type { IncomingMessage } from "node:http";
import { PARSE_ERROR } from "../../jsonrpc/error.js";
import { type Body, type BodyLimits, longBody, TOO_MUCH } from "../../transport/http/server/incoming.js";
import { builtin } from "../builtin.js";

const { isUtf8 } = builtin("node:buffer");

/** The text of a body that was received completely. */
export function bodyOfBytes(bytes: Buffer): Body {
  // `toString` would replace invalid bytes with U+FFFD, and a filter in front may have read something else.
  if (!isUtf8(bytes)) return { status: 400, code: PARSE_ERROR, reason: "the body is not valid UTF-8" };
  return { text: bytes.toString() };
}

/** Reads a body into memory. Calls `done` once, or never if the client disconnects first. */
export function readBytes(request: IncomingMessage, limits: BodyLimits, done: (body: Body) => void): void {
  const { maxBytes } = limits;
  // Nearly every body arrives as one chunk.
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let size = 0;
  let refused = false;
  request.on("data", (chunk: Buffer) => {
    // Refused only once; later chunks are dropped until the connection closes.
    if (refused) return;
    size += chunk.length;
    if (size > maxBytes || !limits.received(chunk.length)) {
      refused = true;
      first = undefined;
      rest = undefined;
      return done(size > maxBytes ? longBody(maxBytes) : TOO_MUCH);
    }
    if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  request.on("end", () => {
    if (refused) return;
    done(bodyOfBytes(rest === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest)));
  });
}
