import type { DecodeUtf8 } from "../transport/framing/frame-decoder.js";
import { builtin } from "./builtin.js";

// This line fails on runtimes without Node's modules. It is in a separate file, so that such runtimes can import the
// entries that read no streams.
const { isAscii, isUtf8 } = builtin("node:buffer");

/** Decodes strictly with Node's own routines, which do not create an exception for each invalid input. */
export const decodeUtf8: DecodeUtf8 = (bytes, start, end) => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  // For pure ASCII, Latin-1 gives the same text without a second scan.
  if (isAscii(view)) return view.toString("latin1");
  return isUtf8(view) ? view.toString("utf8") : undefined;
};
