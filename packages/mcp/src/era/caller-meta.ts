import { isObject, type Params } from "../jsonrpc/message.js";
import { META } from "../protocol/meta.js";

/** The members of `_meta` that only the protocol sets. */
const OWN: readonly string[] = [
  "progressToken",
  META.protocolVersion,
  META.clientInfo,
  META.clientCapabilities,
  META.logLevel,
];

/**
 * What a caller adds to `_meta`. The members of the protocol itself are left out: a gateway that passes on the `_meta` of its
 * own caller would otherwise speak in that caller's name.
 */
export function callerMeta(meta: Params | undefined, given: unknown): Params {
  const all = { ...meta, ...(isObject(given) ? given : {}) };
  return Object.fromEntries(Object.entries(all).filter(([key]) => !OWN.includes(key)));
}
