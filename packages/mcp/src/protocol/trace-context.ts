import { withoutUndefined } from "../encoding/with-defaults.js";
import { isObject } from "../jsonrpc/message.js";

/**
 * The trace of a request (W3C Trace Context and W3C Baggage). The three strings are in `_meta` under unprefixed keys;
 * `traceId`, `spanId` and `sampled` are parsed from `traceparent`.
 */
export interface TraceContext {
  /** The header value as received, for example `00-<trace id>-<span id>-01`. */
  readonly traceparent?: string | undefined;
  /** The id of the whole trace: 32 hexadecimal digits. */
  readonly traceId?: string | undefined;
  /** The caller's span, which is the parent of spans started here. */
  readonly spanId?: string | undefined;
  /** True if the caller records this trace. */
  readonly sampled?: boolean | undefined;
  /** Data of tracing vendors as received. Set only with a valid `traceparent`. */
  readonly tracestate?: string | undefined;
  /** Application-defined key-value pairs as received. */
  readonly baggage?: string | undefined;
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const PRINTABLE = /^[\x20-\x7e\t]+$/;
// Maximum lengths; longer values are ignored. The W3C standards require every implementation to propagate these sizes.
const MAX_STATE = 512;
const MAX_BAGGAGE = 8192;

/** Reads the trace from `_meta`, if any. Malformed parts are ignored, as the standards require. */
export function readTrace(meta: unknown): TraceContext | undefined {
  if (!isObject(meta)) return undefined;
  const parent = readParent(meta["traceparent"]);
  const baggage = readText(meta["baggage"], MAX_BAGGAGE);
  if (parent === undefined && baggage === undefined) return undefined;
  // Trace Context, 3.3: tracestate is ignored without a valid traceparent.
  const tracestate = parent === undefined ? undefined : readText(meta["tracestate"], MAX_STATE);
  return withoutUndefined({ ...parent, tracestate, baggage });
}

/** The members of `_meta` that propagate a trace. */
export function traceMeta({ traceparent, tracestate, baggage }: TraceContext): Record<string, string> {
  return withoutUndefined({ traceparent, tracestate, baggage }) as Record<string, string>;
}

function readParent(value: unknown): TraceContext | undefined {
  const match = typeof value === "string" && value.length <= 256 ? PARENT.exec(value) : null;
  if (match === null) return undefined;
  const [traceparent, version, traceId = "", spanId = "", flags = "", rest] = match;
  // Trace Context, 3.2.2: version ff is invalid, version 00 ends after the flags, an id of zeros is invalid.
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceparent, traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

function readText(value: unknown, maxLength: number): string | undefined {
  return typeof value === "string" && value.length <= maxLength && PRINTABLE.test(value) ? value : undefined;
}
