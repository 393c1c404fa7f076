import { callHook } from "../../platform/call-hook.js";
import { readTrace, traceMeta } from "../../protocol/trace-context.js";
import type { CallOptions, ClientOptions } from "../options.js";

/** What the application wants in `_meta`: the trace context, and what it gave for this call. */
export function metaOf(
  { trace, meta }: CallOptions,
  options: ClientOptions,
  warn: (message: string) => void,
): Record<string, unknown> | undefined {
  let wanted = trace;
  if (wanted === undefined && options.trace !== undefined) {
    callHook(warn, "trace", () => {
      wanted = options.trace?.();
      return wanted;
    });
  }
  // Reading it again leaves out what is malformed: tracing never breaks a call.
  const read = wanted === undefined ? undefined : readTrace(wanted);
  return read === undefined ? meta : { ...traceMeta(read), ...meta };
}
