import { withDefaults } from "../../encoding/with-defaults.js";
import { negotiate } from "../../era/negotiate/negotiate.js";
import type { Negotiation, NegotiationResult, Prior } from "../../era/negotiate/negotiation.js";
import { isTransient, revisionsInstead } from "../../era/negotiate/refusal.js";
import { type Id, isObject, type NotificationMessage, type RequestMessage } from "../../jsonrpc/message.js";
import { atMost, pause } from "../../platform/pause.js";
import type { Platform } from "../../platform/platform.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { methodsWith } from "../../protocol/extension.js";
import { implementationIn } from "../../protocol/implementation.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import type { MethodTable } from "../../protocol/methods.js";
import { REVISIONS, type Revision } from "../../protocol/revisions.js";
import { ReconnectPacer } from "../../transport/reconnect.js";
import type { Receiver, Transport } from "../../transport/transport.js";
import type { ConnectionState } from "../contract/events.js";
import { type ClientOptions, DEFAULT_TIMEOUTS, type Timeouts } from "../contract/options.js";
import { transition } from "./connection-state.js";
import {
  type CurrentConnection,
  currentConnection,
  implementationOf,
  type RevisionCache,
} from "./current-connection.js";
import type { RequestObservers } from "./request-observers.js";
import { type OpenedRoute, openRoute, type ServerRoute } from "./route.js";
import { settleWithin, WaitHolds } from "./wait-bounds.js";

/** Maximum number of consecutive attempts to reopen a lost connection. After that, the next call starts over. */
const MAX_ATTEMPTS = 8;
/** Time after a revision check in which further errors do not cause another check. */
const DOUBT_MS = 30_000;
/** After its deadline, `connect` waits at most this long for the transport to close. */
const CLOSE_MS = 250;

/** Receives the events of a connection. No member may throw. */
export interface ConnectionEvents {
  readonly notification: (message: NotificationMessage, about: Id | undefined) => void;
  /** Answers a request of the server. Returns the text of the answer, or an empty string if none may be sent. */
  readonly request: (message: RequestMessage, about: Id | undefined) => Promise<string>;
  /** Called with a result for which no call waits any more. */
  readonly lateResult: (id: Id, result: unknown) => void;
  readonly fault: (error: Error) => void;
  /** Called when notifications may have been lost. */
  readonly notificationsLost: () => void;
  /** Called when the request `about`, or a handshake, waits for a user. The returned function ends the wait. */
  readonly userWait: (about: Id | undefined) => () => void;
  readonly state: (state: ConnectionState, reason: Error | undefined, transport: Transport | undefined) => void;
  /** Restores the state of the old session after a new handshake. Calls wait until it settles. */
  readonly recovered: (reason: McpError) => Promise<void>;
}

/** Configuration of a client connection. */
export interface ConnectionConfig {
  route: ServerRoute;
  options: ClientOptions;
  platform: Platform;
  /** The capabilities of this client in a revision. */
  capabilities(revision: Revision): ClientCapabilities;
  revisions: RevisionCache;
  events: ConnectionEvents;
  observers: RequestObservers | undefined;
}

/** One connection to one server. Opens it, negotiates the era, and reopens it when possible. */
export class ClientConnection {
  readonly options: ClientOptions;
  readonly platform: Platform;
  readonly timeouts: Timeouts;
  readonly methods: MethodTable;
  /** The connection to send calls over. Undefined while calls have to wait for `ready`. Only this class sets it. */
  current: CurrentConnection | undefined;
  /** The result of the last handshake. Undefined before the first one. */
  last: CurrentConnection | undefined;
  /**
   * The connection for the server's questions. Also set while the handshake ends, but never before the server is known.
   */
  asking: CurrentConnection | undefined;
  /** The id of the last request. */
  lastId = 0;
  /** True once a call was answered since the last handshake. */
  proved = false;
  /** The lowest level of log messages to request, in revisions that carry it in requests. */
  logLevel: LoggingLevel | undefined;
  /** Aborted by `close`, which ends all pending waits. */
  readonly closing = new AbortController();
  readonly #config: ConnectionConfig;
  readonly #pacer: ReconnectPacer;
  readonly #holds = new WaitHolds();
  #route: ServerRoute;
  #transport: Transport | undefined;
  #state: ConnectionState = "disconnected";
  /** The opening or reopening in progress. */
  #work: Promise<void> | undefined;
  /** The reason why the current transport ended by itself, if it did. */
  #ended: McpError | undefined;
  #doubtAgainAt = Number.NEGATIVE_INFINITY;
  /**
   * The revisions to negotiate in the next handshake, after an error that may mean that the current revision is wrong.
   */
  #candidates: readonly Revision[] | undefined;

  constructor(config: ConnectionConfig) {
    const { options, platform, route } = config;
    this.#config = config;
    this.#route = route;
    this.options = options;
    this.logLevel = options.logLevel;
    this.platform = platform;
    this.timeouts = withDefaults(DEFAULT_TIMEOUTS, options.timeouts);
    this.methods = methodsWith(options.extensions ?? [], "connect");
    this.#pacer = new ReconnectPacer(platform, Number.POSITIVE_INFINITY);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** True if a lost connection can be opened again. */
  get canReopen(): boolean {
    return this.#route.repeatable && this.#config.route.reopens !== false && this.#state !== "closed";
  }

  /** The result of the last handshake. Throws before the first one. */
  get established(): CurrentConnection {
    if (this.last === undefined) throw notConnected(this.#state);
    return this.last;
  }

  /** Opens the connection. Rejects if no route completes a handshake before the `connect` deadline. */
  async connect(): Promise<void> {
    this.#move("connect");
    try {
      await this.#track(() => this.#open());
    } catch (error) {
      if (this.#state !== "closed") this.#move("failed");
      throw McpError.from(error);
    }
    this.#becomeReady();
  }

  /**
   * Returns undefined if a call can be sent now, otherwise a promise to wait for. Throws if the connection cannot
   * become ready.
   */
  ready(): Promise<void> | undefined {
    if (this.#state === "ready") return undefined;
    if (this.#work !== undefined) return this.#work;
    if (this.#state === "disconnected" && this.last !== undefined && this.canReopen) {
      return this.#track(() => this.#revive("connect", this.#ended ?? notConnected(this.#state), false));
    }
    throw notConnected(this.#state);
  }

  /**
   * Performs a new handshake after a call over `sent` found the session lost. Concurrent callers share one handshake.
   */
  recover(lost: McpError, sent: CurrentConnection | undefined): Promise<void> | undefined {
    if (sent !== this.last || this.#state !== "ready") return this.ready();
    return this.#track(() => this.#revive("lost", lost, true));
  }

  /**
   * Negotiates again after a call over `sent` failed with an error that may mean that the server uses another revision.
   * Returns undefined for other errors, and if the revision was checked less than `DOUBT_MS` ago. Rejects if the
   * revision stays the same.
   */
  correct(error: unknown, sent: CurrentConnection): Promise<void> | undefined {
    const { revision } = sent.era;
    const among = revisionsInstead(error, revision, this.options.revisions ?? REVISIONS, this.proved);
    if (among === undefined) return undefined;
    const now = this.platform.monotonic();
    let work = this.ready();
    if (sent === this.last && work === undefined) {
      if (now < this.#doubtAgainAt) return undefined;
      this.#doubtAgainAt = now + DOUBT_MS;
      this.#candidates = among;
      work = this.#track(() => this.#revive("lost", McpError.from(error), true));
    }
    return Promise.resolve(work).then(() => {
      if (this.last?.era.revision === revision) throw error;
    });
  }

  /** Records that a call was answered, which resets the back-off of the reconnection. */
  noteAnswer(): void {
    if (this.proved) return;
    this.proved = true;
    this.#pacer.progressed();
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#move("close");
    this.closing.abort();
    await this.#transport?.close();
  }

  #track(work: () => Promise<void>): Promise<void> {
    const running = work().finally(() => {
      if (this.#work === running) this.#work = undefined;
    });
    // Waiting callers receive the failure. If there are none, it must not be an unhandled rejection.
    running.catch(() => {});
    this.#work = running;
    return running;
  }

  /**
   * Reopens a lost connection. `session` is true if only the server's session was lost, so that the transport can be
   * reused.
   */
  async #revive(event: "lost" | "connect", lost: McpError, session: boolean): Promise<void> {
    this.#move(event, lost);
    try {
      for (let attempt = session ? 0 : 1; ; attempt++) {
        try {
          await this.#attempt(attempt, lost);
          break;
        } catch (error) {
          const over = attempt >= MAX_ATTEMPTS || this.#config.route.reopens === false;
          if (over || !isTransient(error) || this.closing.signal.aborted) throw error;
        }
      }
    } catch (error) {
      // The compiler does not see that `close` may have run meanwhile.
      if ((this.#state as ConnectionState) !== "closed") this.#move("failed", McpError.from(error));
      throw McpError.from(error);
    }
    this.#becomeReady();
  }

  /** Attempt 0 reuses the open transport. Later attempts wait, then open a new one. */
  async #attempt(attempt: number, lost: McpError): Promise<void> {
    if (attempt === 0) await this.#handshakeAgain();
    else {
      await pause(this.platform, this.#pacer.ended(false) ?? 0, this.closing.signal, true);
      // A handshake that failed midway has not closed its transport, which has its own session and streams.
      await this.#transport?.close();
      if (this.closing.signal.aborted) throw notConnected(this.#state);
      this.#pacer.begun();
      await this.#open();
    }
    await this.#config.events.recovered(lost);
    if (this.#ended !== undefined) throw this.#ended;
  }

  #becomeReady(): void {
    this.#move("established");
    // The connection may have ended after the handshake, before the state was `ready`.
    if (this.#ended !== undefined) this.#lost(this.#ended);
  }

  async #handshakeAgain(): Promise<void> {
    const { transport } = this.established;
    transport.reset?.();
    const asked = this.#candidates === undefined ? {} : { prior: undefined, revisions: this.#candidates };
    this.#candidates = undefined;
    const negotiation = { ...this.#negotiation(transport), skipProbe: false, ...asked };
    this.#adopt(await this.#withinDeadline(() => negotiate(negotiation)), transport);
  }

  async #open(): Promise<void> {
    const deadline = this.platform.monotonic() + this.timeouts.connectMs;
    const stopped = new AbortController();
    try {
      const opened = await this.#withinDeadline<OpenedRoute>(() =>
        openRoute({
          route: this.#route,
          receiver: (transport) => this.#receiver(transport),
          negotiation: (transport) => this.#negotiation(transport),
          using: (transport) => {
            this.#transport = transport;
            this.#ended = undefined;
          },
          signal: stopped.signal,
        }),
      );
      if (this.#ended !== undefined) throw this.#ended;
      this.#route = opened.route;
      this.#adopt(opened.established, opened.transport);
    } catch (error) {
      stopped.abort();
      const transport = this.#transport;
      const reported = McpError.is(error) && error.kind === "timeout" ? (transport?.explain?.(error) ?? error) : error;
      const closed = Promise.resolve(transport?.close()).catch(() => {});
      // Does not wait longer than the caller's deadline. A process or session that is still closing ends by itself.
      await atMost(this.platform, Math.max(0, deadline - this.platform.monotonic()) + CLOSE_MS, closed, true);
      throw reported;
    }
  }

  #adopt(established: NegotiationResult, transport: Transport): void {
    this.last = currentConnection(established, transport, this.methods);
    this.asking = this.last;
    this.proved = false;
    this.#pacer.opened();
    this.#config.revisions.set(this.#route.key, established.era.revision, this.options.revisions);
  }

  #negotiation(transport: Transport): Omit<Negotiation, "skipProbe"> {
    this.asking = undefined;
    const { capabilities, observers } = this.#config;
    const { revisions = REVISIONS, extensions = [] } = this.options;
    const info = implementationOf(this.options);
    const headers = transport.kind === "http";
    return {
      transport: observers?.handshake(transport) ?? transport,
      self: (revision) => ({ info: implementationIn(revision, info), capabilities: capabilities(revision), headers }),
      methods: this.methods,
      resultTypes: extensions.flatMap((extension) => extension.resultTypes ?? []),
      revisions,
      prior: this.#prior(),
      platform: this.platform,
      nextId: () => ++this.lastId,
      onNegotiated: (established) => {
        this.asking = currentConnection(established, transport, this.methods);
      },
    };
  }

  /** The revision to try first: the last one used, else the one passed to `connect`, else the cached one. */
  #prior(): Prior | undefined {
    const { prior, revisions } = this.options;
    if (this.last !== undefined) return { revision: this.last.era.revision };
    const remembered = this.#config.revisions.get(this.#route.key, revisions);
    return prior ?? (remembered === undefined ? undefined : { revision: remembered });
  }

  #receiver(transport: Transport): Receiver {
    const { events } = this.#config;
    return {
      request: events.request,
      notification: events.notification,
      late: events.lateResult,
      missed: events.notificationsLost,
      fault: (error) => {
        if (!McpError.is(error) || error.kind !== "session_lost") return events.fault(error);
        // A stale error belongs to an earlier session and is ignored.
        const stale = isObject(error.data) && error.data["stale"] === true;
        if (!stale && this.#state === "ready") void this.recover(error, this.last);
      },
      userWait: (about) => {
        const releases = [this.#holds.hold(), events.userWait(about)];
        return () => {
          for (const release of releases) release();
        };
      },
      closed: (reason) => {
        // Ignores events of a replaced transport.
        if (this.#transport !== transport) return;
        this.#ended = new McpError("connection_closed", `the connection to ${transport.target} ended`, {
          cause: reason,
          fix: "Check why the server stopped; the next call reopens the connection if possible.",
        });
        if (this.#state === "ready") this.#lost(this.#ended);
      },
    };
  }

  #lost(error: McpError): void {
    if (this.canReopen) void this.#track(() => this.#revive("lost", error, false));
    else this.#move("failed", error);
  }

  /** Settles with the work, the `connect` deadline, the caller's signal or `close`, whichever is first. */
  #withinDeadline<T>(work: () => Promise<T>): Promise<T> {
    // The signal belongs to the call of `connect`, not to later attempts of the client.
    const signal = this.last === undefined ? this.options.signal : undefined;
    const { connectMs } = this.timeouts;
    const late = () =>
      new McpError(
        "timeout",
        `no handshake with ${this.#transport?.target ?? "the server"} within the connect deadline of ${connectMs} ms`,
        {
          data: { deadline: "connect", ms: connectMs },
          fix: "Raise `timeouts.connectMs`, or check what the server does at startup.",
        },
      );
    const cancelled = () => new McpError("cancelled", "connecting was cancelled", { cause: signal?.reason });
    const bounds = [
      { on: connectMs, error: late },
      { on: signal, error: cancelled },
      { on: this.closing.signal, error: () => notConnected(this.#state) },
    ];
    return settleWithin(this.platform, bounds, work, this.#holds);
  }

  #move(event: Parameters<typeof transition>[1], reason?: Error): void {
    this.#state = transition(this.#state, event);
    this.current = this.#state === "ready" ? this.last : undefined;
    this.#config.events.state(this.#state, reason, this.#transport);
  }
}

/** The error for using a connection that is not ready. */
function notConnected(state: ConnectionState): McpError {
  return new McpError("connection_closed", `the client is ${state}`, { fix: "Call `connect` again." });
}
