import type { Platform } from "../../../platform/platform.js";
import type { Endpoint } from "../../transport.js";
import { Deadlines } from "./due-list.js";
import {
  createDoors,
  DEFAULT_EVENT_LOG,
  DEFAULT_LIMITS,
  DEFAULT_TIMES,
  type Doors,
  type HttpServerOptions,
  type ResolvedEventLog,
  type ResolvedLimits,
  type ResolvedTimes,
} from "./options.js";

const CLOSING = new Error("the server is closing");

/** A reply that may have to become a stream. */
export interface Overdue {
  overdue(): void;
}

/** A request in flight that a shutdown can ask to end. */
export interface Stoppable {
  /** True for requests that nobody but the client ends. */
  readonly endless: boolean;
  /** Tells the handler to finish; its answer is still delivered. */
  stop(reason: Error): void;
}

/** A request whose answer is a promise. */
export interface Pending {
  /** Called at the end of the loop turn in which the request came. */
  turnEnded(): void;
}

/** An open stream, as far as timers and shutdown care. */
export interface OpenStream {
  /** Nothing was written for a while. */
  quiet(): void;
  end(): void;
}

/** What all requests of one HTTP server share: settings, counters, timers. */
export class ServerState {
  readonly endpoint: Endpoint;
  readonly platform: Platform;
  readonly options: HttpServerOptions;
  readonly doors: Doors;
  readonly limits: ResolvedLimits;
  readonly times: ResolvedTimes;
  readonly eventLog: ResolvedEventLog;
  /** Replies that wait for their answer. */
  readonly overdue: Deadlines<Overdue>;
  /** Streams on which nothing was written lately. */
  readonly keepAlive: Deadlines<OpenStream>;
  readonly connections = new Set<OpenStream>();
  /** Requests whose handler has not settled yet. */
  readonly #running = new Set<Stoppable>();
  /** Requests that wait for an answer and are no stream. */
  inFlight = 0;
  draining = false;
  #whenIdle: (() => void) | undefined;
  #pending: Pending[] = [];
  readonly #sharesTurns: boolean;
  readonly #streamsOf = new Map<string, number>();

  constructor(endpoint: Endpoint, options: HttpServerOptions, platform: Platform, sharesTurns: boolean) {
    this.endpoint = endpoint;
    this.#sharesTurns = sharesTurns;
    this.options = options;
    this.platform = platform;
    this.doors = createDoors(options);
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.times = { ...DEFAULT_TIMES, ...options.times };
    this.eventLog = { ...DEFAULT_EVENT_LOG, ...options.eventLog };
    this.overdue = new Deadlines(platform, this.times.streamAfterMs, (reply) => reply.overdue());
    this.keepAlive = new Deadlines(platform, this.times.keepAliveMs, (connection) => connection.quiet());
  }

  /**
   * Calls `turnEnded` after this loop turn. Most promises are settled by then, and need neither a place in the lists of
   * what runs nor an ear for the end of their connection.
   */
  afterTurn(request: Pending): void {
    if (!this.#sharesTurns) return request.turnEnded();
    if (this.#pending.push(request) > 1) return;
    this.platform.defer(() => {
      const pending = this.#pending;
      this.#pending = [];
      for (const one of pending) one.turnEnded();
    });
  }

  started(request: Stoppable): void {
    this.#running.add(request);
    if (this.draining && request.endless) request.stop(CLOSING);
  }

  settled(request: Stoppable): void {
    this.#running.delete(request);
    if (this.#running.size === 0) this.#whenIdle?.();
  }

  /** Stops what nobody else would end, and resolves when all requests are settled or `graceMs` have passed. */
  async drain(graceMs: number): Promise<void> {
    this.draining = true;
    for (const request of this.#running) if (request.endless) request.stop(CLOSING);
    if (this.#running.size > 0) {
      await new Promise<void>((resolve) => {
        const grace = this.platform.timer(graceMs, resolve, true);
        // A timer that is left would hold the process for the rest of the grace.
        this.#whenIdle = () => {
          grace.cancel();
          resolve();
        };
      });
    }
    for (const request of this.#running) request.stop(CLOSING);
  }

  /** Counts one more stream of a principal, or returns which limit forbids it. */
  takeStream(key: string | undefined): string | undefined {
    if (this.connections.size >= this.limits.maxStreams) return "maxStreams";
    if (key === undefined) return undefined;
    const count = this.#streamsOf.get(key) ?? 0;
    if (count >= this.limits.maxStreamsPerPrincipal) return "maxStreamsPerPrincipal";
    this.#streamsOf.set(key, count + 1);
    return undefined;
  }

  returnStream(key: string | undefined): void {
    if (key === undefined) return;
    const count = this.#streamsOf.get(key) ?? 0;
    if (count <= 1) this.#streamsOf.delete(key);
    else this.#streamsOf.set(key, count - 1);
  }

  /** Ends every stream at once. */
  close(): void {
    this.draining = true;
    for (const request of this.#running) request.stop(CLOSING);
    for (const connection of this.connections) connection.end();
    this.overdue.close();
    this.keepAlive.close();
  }
}
