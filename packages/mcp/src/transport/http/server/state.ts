import { withDefaults } from "../../../encoding/with-defaults.js";
import { DueList } from "../../../platform/due-list.js";
import { KeyCounts } from "../../../platform/key-counts.js";
import type { Platform } from "../../../platform/platform.js";
import { RepeatedWarnings } from "../../../platform/repeated-warnings.js";
import type { Answer, Endpoint } from "../../transport.js";
import { type Cors, createCors } from "./cors.js";
import type { Incoming } from "./incoming.js";
import {
  checkAccess,
  type EventLogLimits,
  type HttpLimits,
  type HttpServerOptions,
  type HttpTimes,
} from "./options.js";
import type { OriginGuard } from "./origin.js";
import type { EndedError } from "./refusal.js";

type Resolved<T> = { [K in keyof T]-?: NonNullable<T[K]> };
type ResolvedLimits = Resolved<HttpLimits>;
type ResolvedTimes = Resolved<HttpTimes>;
type ResolvedEventLog = Resolved<EventLogLimits>;

export const DEFAULT_HTTP_LIMITS: ResolvedLimits = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxUnfinishedBytes: 256 * 1024 * 1024,
  maxBatchItems: 100,
  maxInFlight: 4096,
  maxInFlightPerPrincipal: 1024,
  maxStreams: 16_384,
  maxStreamsPerPrincipal: 1024,
  maxQueuedBytes: 1024 * 1024,
  maxUnsentBytes: 128 * 1024 * 1024,
  maxSessions: 10_000,
  maxSessionsPerPrincipal: 1024,
  maxStreamsPerSession: 8,
  maxInFlightPerSession: 256,
};

export const DEFAULT_TIMES: ResolvedTimes = {
  streamAfterMs: 1000,
  keepAliveMs: 15_000,
  sessionIdleMs: 30 * 60_000,
  handshakeMs: 30_000,
  eventAgeMs: 5 * 60_000,
  nodeLostMs: 10_000,
};

export const DEFAULT_EVENT_LOG: ResolvedEventLog = {
  maxEvents: 1000,
  maxBytes: 4 * 1024 * 1024,
  maxBytesPerSession: 16 * 1024 * 1024,
  maxBytesPerPrincipal: 64 * 1024 * 1024,
  maxEndedStreams: 32,
  maxUnreadLength: 64 * 1024,
  maxUnreadLengthPerPrincipal: 16 * 1024 * 1024,
  maxAnswersLength: 4 * 1024 * 1024,
  maxAnswersLengthPerPrincipal: 16 * 1024 * 1024,
};

const CLOSING = new Error("the server is closing");

/** A request without an answer. */
export interface RunningRequest {
  readonly http: Incoming;
  /** True for requests that only the client ends. */
  readonly endless: boolean;
  /** True once it has ended. */
  readonly settled: boolean;
  /** Called once it has ended and its answer, if it has one, is sent. */
  whenSettled: (() => void) | undefined;
  /** Called at the end of the turn in which the request arrived, unless it is settled by then. */
  turnEnded(): void;
  /** There was no answer for `streamAfterMs`: the reply becomes a stream. */
  overdue(): void;
  /** Asks the handler to finish; its answer is still sent. */
  stop(reason: Error): void;
  /** Ends the request without an answer, and aborts its handler. */
  cancel(reason: unknown): void;
  /** Ends the request with an error, and aborts its handler; without one if `goesOn` and the reply is a stream, which can be resumed. */
  fail(error: EndedError, goesOn: boolean): void;
  /** Ends the request with its answer. */
  settle(answer: Answer): void;
}

/** What timers and shutdown use of an open stream. */
export interface OpenStream {
  /** Nothing was written for `keepAliveMs`. */
  quiet(): void;
  end(): void;
}

/** What all requests of one HTTP server share: options, counters and timers. */
export class ServerState {
  readonly endpoint: Endpoint;
  readonly platform: Platform;
  readonly options: HttpServerOptions;
  readonly guard: OriginGuard;
  readonly cors: Cors | undefined;
  readonly limits: ResolvedLimits;
  readonly times: ResolvedTimes;
  readonly eventLog: ResolvedEventLog;
  /** Open streams, by the time of their last write. */
  readonly keepAlive: DueList<OpenStream>;
  readonly connections = new Set<OpenStream>();
  /** Requests that have outlived the turn in which they arrived; most end earlier. */
  readonly #running = new Set<RunningRequest>();
  /** Those of them that have waited for less than `streamAfterMs`. */
  readonly #overdue: DueList<RunningRequest>;
  /** Requests that are being identified or received. */
  arriving = 0;
  /** Requests whose reply is not complete; streams that belong to no request are not counted. */
  unfinished = 0;
  /** Bytes of bodies that are being received. */
  unfinishedBytes = 0;
  /** Requests whose handlers run, also those whose clients have left, but not those whose reply is an open stream. */
  inFlight = 0;
  /** Streams with events that are being stored. */
  #storing = 0;
  draining = false;
  /** True if connections end with their next reply, so that clients and proxies open new ones at other nodes. */
  closesConnections = false;
  #whenIdle: (() => void) | undefined;
  readonly inFlightOf = new KeyCounts();
  readonly #storageWarnings: RepeatedWarnings;
  /** Open streams by principal. */
  readonly streamsOf = new KeyCounts();

  constructor(endpoint: Endpoint, options: HttpServerOptions, platform: Platform) {
    this.endpoint = endpoint;
    this.options = options;
    this.platform = platform;
    this.#storageWarnings = new RepeatedWarnings(platform, "the session storage failed");
    this.guard = checkAccess(options);
    this.cors = options.cors && createCors(options.cors);
    this.limits = withDefaults(DEFAULT_HTTP_LIMITS, options.limits);
    this.times = withDefaults(DEFAULT_TIMES, options.times);
    this.eventLog = withDefaults(DEFAULT_EVENT_LOG, options.eventLog);
    this.#overdue = new DueList(platform, this.times.streamAfterMs, (request) => request.overdue());
    this.keepAlive = new DueList(platform, this.times.keepAliveMs, (connection) => connection.quiet());
  }

  started(request: RunningRequest): void {
    this.#running.add(request);
    this.#overdue.touch(request);
    if (this.draining && request.endless) request.stop(CLOSING);
  }

  settled(request: RunningRequest): void {
    this.#running.delete(request);
    this.#overdue.drop(request);
    this.noteIdle();
  }

  /** Ends the wait of `drain` if nothing is left to wait for. */
  noteIdle(): void {
    if (this.#isIdle) this.#whenIdle?.();
  }

  get #isIdle(): boolean {
    return this.unfinished === 0 && this.#running.size === 0 && this.#storing === 0;
  }

  /** One more or one less stream has events that are being stored. */
  stores(by: 1 | -1): void {
    this.#storing += by;
    if (this.draining) this.noteIdle();
  }

  /** The name of the limit that forbids to run `more` requests of this principal. */
  fullFor(key: string, more: number): string | undefined {
    const { maxInFlightPerPrincipal } = this.limits;
    return this.inFlightOf.get(key) + more > maxInFlightPerPrincipal ? "maxInFlightPerPrincipal" : undefined;
  }

  /** Stops endless requests. Resolves when all requests are replied to or after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.draining = true;
    this.closesConnections = true;
    for (const request of this.#running) if (request.endless) request.stop(CLOSING);
    if (!this.#isIdle) {
      await new Promise<void>((resolve) => {
        const grace = this.platform.timer(graceMs, resolve, true);
        // The timer would keep the process alive for the rest of the grace period.
        this.#whenIdle = () => {
          grace.cancel();
          resolve();
        };
      });
    }
    for (const request of this.#running) request.stop(CLOSING);
  }

  /** Warns of a failure of the storage: during an outage, all requests have the same. */
  storageFailed(error: unknown): void {
    this.#storageWarnings.warn(error);
  }

  /** Ends every stream immediately. */
  close(): void {
    this.draining = true;
    for (const request of this.#running) request.stop(CLOSING);
    for (const connection of this.connections) connection.end();
    this.#overdue.close();
    this.keepAlive.close();
    this.#storageWarnings.close();
  }
}
