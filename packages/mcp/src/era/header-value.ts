import { fromBase64, toBase64 } from "../encoding/base64.js";
import { McpError } from "../protocol/error.js";

const OPEN = "=?base64?";
const CLOSE = "?=";
/** Visible ASCII with inner spaces and tabs: the values that a header can contain unencoded (RFC 9110, 5.5). */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Encodes a text as a header value: unchanged if a header can contain the text, otherwise as Base64. A text that looks
 * like an encoded value is encoded too, so that the receiver decodes it to the same text.
 *
 * Spec: Streamable HTTP, https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export function encodeHeaderValue(text: string): string {
  if (text === "") return text;
  if (PLAIN.test(text) && !isSentinel(text)) return text;
  return `${OPEN}${toBase64(new TextEncoder().encode(text))}${CLOSE}`;
}

/** Decodes a header value. Returns undefined for invalid Base64, and for a plain value that is not visible ASCII. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!isSentinel(value)) return value === "" || PLAIN.test(value) ? value : undefined;
  const inner = value.slice(OPEN.length, -CLOSE.length);
  if (!BASE64.test(inner)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fromBase64(inner));
  } catch {
    return undefined;
  }
}

function isSentinel(value: string): boolean {
  return value.length >= OPEN.length + CLOSE.length && value.startsWith(OPEN) && value.endsWith(CLOSE);
}

/** The error for a header that is missing, malformed or different from the body. */
export function mismatch(message: string): McpError {
  return new McpError("header_mismatch", message, { fix: "Send headers with exactly the values of the body." });
}
