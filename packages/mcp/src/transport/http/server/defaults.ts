import type { EventLogLimits, HttpLimits, HttpTimes } from "./options.js";

type Resolved<T> = { [K in keyof T]-?: NonNullable<T[K]> };
export type ResolvedLimits = Resolved<HttpLimits>;
export type ResolvedTimes = Resolved<HttpTimes>;
export type ResolvedEventLog = Resolved<EventLogLimits>;

export const DEFAULT_HTTP_LIMITS: ResolvedLimits = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxInFlight: 4096,
  maxStreams: 16_384,
  maxStreamsPerPrincipal: 1024,
  maxQueuedBytes: 1024 * 1024,
  maxSessions: 10_000,
  maxStreamsPerSession: 8,
  maxInFlightPerSession: 256,
};

export const DEFAULT_TIMES: ResolvedTimes = {
  streamAfterMs: 1000,
  keepAliveMs: 15_000,
  sessionIdleMs: 30 * 60_000,
  handshakeMs: 30_000,
  eventAgeMs: 5 * 60_000,
};

export const DEFAULT_EVENT_LOG: ResolvedEventLog = { maxEvents: 1000, maxBytes: 4 * 1024 * 1024, maxEndedStreams: 32 };
