import { isObject, type Params } from "../jsonrpc/message.js";
import { META } from "../protocol/meta.js";

/** The members of `_meta` that only the protocol sets. */
const PROTOCOL_KEYS: readonly string[] = [
  "progressToken",
  META.protocolVersion,
  META.clientInfo,
  META.clientCapabilities,
  META.logLevel,
];

/**
 * The members that a caller adds to `_meta`. Members that the protocol sets are removed: a gateway that forwards the
 * `_meta` of its caller would otherwise send that caller's version, capabilities and progress token as its own.
 */
export function callerMeta(meta: Params | undefined, given: unknown): Params {
  const all = { ...meta, ...(isObject(given) ? given : {}) };
  return Object.fromEntries(Object.entries(all).filter(([key]) => !PROTOCOL_KEYS.includes(key)));
}
