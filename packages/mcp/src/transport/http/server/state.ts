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

type WithDefaults<T> = { [K in keyof T]-?: NonNullable<T[K]> };
type ResolvedLimits = WithDefaults<HttpLimits>;
type ResolvedTimes = WithDefaults<HttpTimes>;
type ResolvedEventLog = WithDefaults<EventLogLimits>;

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

/** A request that has no answer yet. */
export interface RunningRequest {
  readonly http: Incoming;
  /** True for requests that run until the client or a shutdown ends them. */
  readonly endless: boolean;
  /** True once the request has ended. */
  readonly settled: boolean;
  /** Called when the request has ended and its answer, if any, is sent. */
  whenSettled: (() => void) | undefined;
  /** Called at the end of the turn in which the request arrived, unless it is settled by then. */
  turnEnded(): void;
  /** Turns the reply into a stream, because the answer took longer than `streamAfterMs`. */
  overdue(): void;
  /** Asks the handler to finish. The handler's answer is still sent. */
  stop(reason: Error): void;
  /** Ends the request without an answer and aborts its handler. */
  cancel(reason: unknown): void;
  /**
   * Ends the request with an error and aborts its handler. Sends no error if `resumable` is set and the reply is a
   * stream, because the client can resume the stream on another node.
   */
  fail(error: EndedError, resumable: boolean): void;
  /** Ends the request with its answer. */
  settle(answer: Answer): void;
}

/** The part of an open stream that timers and shutdown use. */
export interface OpenStream {
  /** Called when nothing was written for `keepAliveMs`. */
  sendKeepAlive(): void;
  end(): void;
}

/** The options, counters and timers that all requests of one HTTP server share. */
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
  /** Requests that have outlived the turn in which they arrived. Most requests end earlier. */
  readonly #running = new Set<RunningRequest>();
  /** The running requests that have waited for less than `streamAfterMs`. */
  readonly #overdue: DueList<RunningRequest>;
  /** Number of requests that are being authenticated or received. */
  arriving = 0;
  /** Number of requests whose reply is not complete. Streams outside requests do not count. */
  unfinished = 0;
  /** Bytes of the bodies that are being received. */
  unfinishedBytes = 0;
  /**
   * Number of requests whose handlers run, even after a disconnect. A request whose reply is an open stream does not
   * count.
   */
  inFlight = 0;
  /** Number of streams with events that are being stored. */
  #storing = 0;
  draining = false;
  /**
   * True if the server closes each connection after its next reply, so that clients and proxies connect to other nodes.
   */
  closesConnections = false;
  #whenIdle: (() => void) | undefined;
  readonly inFlightOf = new KeyCounts();
  readonly #storageWarnings: RepeatedWarnings;
  /** Number of open streams by principal. */
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
    this.keepAlive = new DueList(platform, this.times.keepAliveMs, (connection) => connection.sendKeepAlive());
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

  /** Ends the wait of `drain` if the server is idle. */
  noteIdle(): void {
    if (this.#isIdle) this.#whenIdle?.();
  }

  get #isIdle(): boolean {
    return this.unfinished === 0 && this.#running.size === 0 && this.#storing === 0;
  }

  /** Counts a stream that begins (1) or ends (-1) storing events. */
  countStoring(by: 1 | -1): void {
    this.#storing += by;
    if (this.draining) this.noteIdle();
  }

  /** Returns the name of the limit that prevents `more` further requests of this principal from running, if any. */
  fullFor(key: string, more: number): string | undefined {
    const { maxInFlightPerPrincipal } = this.limits;
    return this.inFlightOf.get(key) + more > maxInFlightPerPrincipal ? "maxInFlightPerPrincipal" : undefined;
  }

  /**
   * Stops endless requests. Waits until all requests are replied to, at most `graceMs`. Then stops the remaining
   * requests.
   */
  async drain(graceMs: number): Promise<void> {
    this.draining = true;
    this.closesConnections = true;
    for (const request of this.#running) if (request.endless) request.stop(CLOSING);
    if (!this.#isIdle) {
      await new Promise<void>((resolve) => {
        const grace = this.platform.timer(graceMs, resolve, true);
        // The timer would otherwise keep the process alive for the rest of the grace period.
        this.#whenIdle = () => {
          grace.cancel();
          resolve();
        };
      });
    }
    for (const request of this.#running) request.stop(CLOSING);
  }

  /**
   * Warns about a failure of the storage. Repeated failures are summarized, because all requests fail during an outage.
   */
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
