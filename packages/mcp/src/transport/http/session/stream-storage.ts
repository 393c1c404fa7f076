import type { AppendLog, LogLimits } from "../../../storage/storage.js";
import type { ServerState } from "../server/state.js";
import type { LoggedStream, StreamStorage } from "./logged-stream.js";
import { logNameOf } from "./records.js";
import type { HttpSession, SessionHost } from "./session.js";

/** How much a stream keeps, and for how long. */
export function logLimits({ eventLog, times }: ServerState): LogLimits {
  const { eventAgeMs, sessionIdleMs } = times;
  return {
    maxEntries: eventLog.maxEvents,
    maxBytes: eventLog.maxBytes,
    maxAgeMs: eventAgeMs,
    ttlMs: Math.max(eventAgeMs, sessionIdleMs) * 2,
  };
}

/** What a store does about the streams of its sessions. */
interface StreamHost extends Pick<SessionHost, "tell"> {
  failed(error: unknown): void;
  released(session: HttpSession, stream: LoggedStream): void;
}

/** The storage of one session's streams. */
export function streamStorage(
  session: HttpSession,
  log: AppendLog,
  limits: LogLimits,
  host: StreamHost,
): StreamStorage {
  return {
    log,
    limits,
    logName: (stream) => logNameOf(session.id, stream),
    hint: (stream) => host.tell(session, { kind: "log", stream }),
    ended: () => session.tidy(),
    released: (stream) => host.released(session, stream),
    failed: (error) => host.failed(error),
  };
}
