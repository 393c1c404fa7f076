import { isThenable } from "../encoding/maybe-promise.js";

/** A token of RFC 9110, 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/** Without the control characters that could end a header (RFC 9110, 5.5). */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** They delimit the reply, so only the transport may set them. */
const FRAMING = /^(content-length|transfer-encoding|connection|trailer|upgrade)$/i;

/**
 * Whether an answer of the application holds headers that can be sent. Every such answer passes here, because a runtime finds
 * out only while it writes, when the request can no longer be refused.
 */
export function areReplyHeaders(headers: unknown): headers is Readonly<Record<string, string>> {
  if (typeof headers !== "object" || headers === null || isThenable(headers)) return false;
  return Object.entries(headers).every(
    ([name, value]) => NAME.test(name) && !FRAMING.test(name) && typeof value === "string" && VALUE.test(value),
  );
}
