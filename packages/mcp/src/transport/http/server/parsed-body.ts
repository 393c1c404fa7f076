import { INVALID_REQUEST } from "../../../jsonrpc/error.js";
import type { Body } from "./incoming.js";

/**
 * The body that a framework has parsed already, as text again: the limits of size and depth must hold on this way in
 * too, and a framework's own limits are not ours to trust.
 */
export function bodyOfValue(value: unknown, maxBytes: number): Body {
  let text: string | undefined;
  try {
    text = typeof value === "string" ? value : JSON.stringify(value);
  } catch {
    // A value nested too deeply for the runtime, or one that is no JSON at all.
  }
  if (text === undefined) return { status: 400, code: INVALID_REQUEST, reason: "the parsed body is no JSON value" };
  // A UTF-16 unit is at least one byte, so that this refuses nothing which would fit.
  if (text.length > maxBytes) {
    return { status: 413, code: INVALID_REQUEST, reason: `the body is longer than ${maxBytes} bytes` };
  }
  return { text };
}
