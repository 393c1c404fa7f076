import { withoutUndefined } from "../../../encoding/with-defaults.js";
import type { Principal } from "../../../http/authentication.js";
import type { HttpRequest } from "../../../http/http.js";
import { callHook } from "../../../platform/call-hook.js";
import type { Platform } from "../../../platform/platform.js";

/** One finished request, safe to log. */
export interface RequestLogEntry {
  readonly method: string;
  /** Without the query, which may contain credentials. */
  readonly path: string;
  readonly status: number;
  /** From the arrival of the headers to the end of the reply, streams included. */
  readonly durationMs: number;
  readonly remoteAddress?: string;
  readonly subject?: string;
  readonly clientId?: string;
  /** Every request header; credentials are replaced by `[redacted]`. Built on demand. */
  headers(): Record<string, string>;
}

const SECRET =
  /^(authorization|proxy-authorization|cookie|mcp-session-id|last-event-id|dpop)$|token|secret|api-?key|passw/;

/** The server of the request. */
interface LogOptions {
  readonly platform: Platform;
  readonly options: { onRequest?: ((entry: RequestLogEntry) => void) | undefined };
}

/** Calls `onRequest` for a finished request. */
export function logRequest(
  { platform, options }: LogOptions,
  { http, principal }: { readonly http: HttpRequest; readonly principal: Principal | undefined },
  status: number,
  startedAt: number,
): void {
  const durationMs = platform.monotonic() - startedAt;
  callHook(platform, "onRequest", () => options.onRequest?.(requestLogEntry(http, principal, status, durationMs)));
}

/** Builds the entry for a finished request. */
export function requestLogEntry(
  request: HttpRequest,
  principal: Principal | undefined,
  status: number,
  durationMs: number,
): RequestLogEntry {
  const entry = {
    method: request.method,
    path: request.path.split("?", 1)[0] ?? "",
    status,
    durationMs,
    remoteAddress: request.remoteAddress,
    subject: principal?.subject,
    clientId: principal?.clientId,
    headers() {
      const headers = request.headers();
      for (const name of Object.keys(headers)) if (SECRET.test(name)) headers[name] = "[redacted]";
      return headers;
    },
  };
  return withoutUndefined(entry);
}
