import { withoutUndefined } from "../../../encoding/with-defaults.js";
import type { Principal } from "../../../http/authentication.js";
import type { HttpRequest } from "../../../http/http.js";
import { callHook } from "../../../platform/call-hook.js";
import type { Platform } from "../../../platform/platform.js";

/** One finished request, safe to log. */
export interface RequestLogEntry {
  /** The HTTP method. */
  readonly method: string;
  /** The path without the query, which may contain credentials. */
  readonly path: string;
  /** The HTTP status of the reply. */
  readonly status: number;
  /** Milliseconds from the arrival of the headers to the end of the reply, streams included. */
  readonly durationMs: number;
  /** The IP address of the client, if the runtime reports it. */
  readonly remoteAddress?: string;
  /** The `subject` that `authenticate` returned. Absent without authentication. */
  readonly subject?: string;
  /** The `clientId` that `authenticate` returned, if any. */
  readonly clientId?: string;
  /** Returns every request header. Credentials are replaced by `[redacted]`. */
  headers(): Record<string, string>;
}

const SECRET =
  /^(authorization|proxy-authorization|cookie|mcp-session-id|last-event-id|dpop)$|token|secret|api-?key|passw/;

/** The parts of the server that logging uses. */
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
