import type { DecodeUtf8 } from "../transport/framing/frame-decoder.js";
import { builtin } from "./builtin.js";

// In a file of its own: entries that no stream is read in are imported on runtimes without these modules.
const { isAscii, isUtf8 } = builtin("node:buffer");

/** Strict decoding with Node's own routines, which do not create an exception for each invalid input. */
export const decodeUtf8: DecodeUtf8 = (bytes, start, end) => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  // For pure ASCII, Latin-1 gives the same text without a second scan.
  if (isAscii(view)) return view.toString("latin1");
  return isUtf8(view) ? view.toString("utf8") : undefined;
};
