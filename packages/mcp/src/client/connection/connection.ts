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
import { bounded, WaitHolds } from "./bounded.js";
import { transition } from "./connection-state.js";
import {
  type CurrentConnection,
  currentConnection,
  implementationOf,
  type RevisionCache,
} from "./current-connection.js";
import type { RequestObservers } from "./request-observers.js";
import { type Opened, openRoute, type ServerRoute } from "./route.js";

/** Attempts in a row to open a lost connection again; afterwards the next call starts over. */
const MAX_ATTEMPTS = 8;
/** How long what a server said about its revision is not doubted again. */
const DOUBT_MS = 30_000;
/** How long after its deadline `connect` waits for the end of what it began. */
const CLOSE_MS = 250;

/** Receives the events of a connection. No member may throw. */
export interface ConnectionEvents {
  readonly notification: (message: NotificationMessage, about: Id | undefined) => void;
  /** Answers a request of the server; gives the text of the answer, or an empty one where none may be sent. */
  readonly request: (message: RequestMessage, about: Id | undefined) => Promise<string>;
  /** Called with a result that nothing waits for. */
  readonly late: (id: Id, result: unknown) => void;
  readonly fault: (error: Error) => void;
  /** Called when notifications may have been lost. */
  readonly missed: () => void;
  /** Called when the request `about`, or a handshake, waits for a user; the returned function ends the wait. */
  readonly userWait: (about: Id | undefined) => () => void;
  readonly state: (state: ConnectionState, reason: Error | undefined, transport: Transport | undefined) => void;
  /** Restores the state of the old session after a new handshake; calls wait until it settles. */
  readonly recovered: (reason: McpError) => Promise<void>;
}

/** What a client connection is made of. */
export interface ConnectionParts {
  route: ServerRoute;
  options: ClientOptions;
  platform: Platform;
  /** What the server may ask this client for. */
  capabilities(revision: Revision): ClientCapabilities;
  revisions: RevisionCache;
  events: ConnectionEvents;
  observers: RequestObservers | undefined;
}

/** One connection to one server: opens it, finds the era, and opens it again when it may. */
export class ClientConnection {
  readonly options: ClientOptions;
  readonly platform: Platform;
  readonly timeouts: Timeouts;
  readonly methods: MethodTable;
  /** What calls are sent over; undefined while they have to wait for `ready`. Only this class replaces it. */
  current: CurrentConnection | undefined;
  /** What the last handshake established; undefined before the first one. */
  last: CurrentConnection | undefined;
  /** The connection in which the server may ask: also while the handshake ends, and never before the server is known. */
  asking: CurrentConnection | undefined;
  /** The id of the last request. */
  lastId = 0;
  /** False until a call was answered since the last handshake. */
  proved = false;
  /** The least level of log messages that requests ask for, where requests say it. */
  logLevel: LoggingLevel | undefined;
  /** Aborted by `close`: what waits for its turn gives up. */
  readonly closing = new AbortController();
  readonly #parts: ConnectionParts;
  readonly #pacer: ReconnectPacer;
  readonly #holds = new WaitHolds();
  #route: ServerRoute;
  #transport: Transport | undefined;
  #state: ConnectionState = "disconnected";
  /** The opening or reopening that runs now. */
  #work: Promise<void> | undefined;
  /** Why the transport in use ended by itself, if it did. */
  #ended: McpError | undefined;
  #doubtAgainAt = Number.NEGATIVE_INFINITY;
  /** What was known of the server is wrong: the next handshake asks it about these revisions. */
  #among: readonly Revision[] | undefined;

  constructor(parts: ConnectionParts) {
    const { options, platform, route } = parts;
    this.#parts = parts;
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

  /** True when a connection that is lost can be opened again. */
  get mayReturn(): boolean {
    return this.#route.repeatable && this.#parts.route.lasts !== false && this.#state !== "closed";
  }

  /** What the last handshake established. Throws before the first one. */
  get established(): CurrentConnection {
    if (this.last === undefined) throw notConnected(this.#state);
    return this.last;
  }

  /** Opens the connection. Rejects when no way leads to a handshake before the `connect` deadline. */
  async connect(): Promise<void> {
    this.#move("connect");
    try {
      await this.#busy(() => this.#open());
    } catch (error) {
      if (this.#state !== "closed") this.#move("failed");
      throw McpError.from(error);
    }
    this.#stand();
  }

  /** Undefined when a call can be sent now; otherwise what it has to wait for. Throws when there is nothing to wait for. */
  ready(): Promise<void> | undefined {
    if (this.#state === "ready") return undefined;
    if (this.#work !== undefined) return this.#work;
    if (this.#state === "disconnected" && this.last !== undefined && this.mayReturn) {
      return this.#busy(() => this.#revive("connect", this.#ended ?? notConnected(this.#state), false));
    }
    throw notConnected(this.#state);
  }

  /** A call that was sent over `sent` found the server's session lost. Concurrent callers share one new handshake. */
  recover(lost: McpError, sent: CurrentConnection | undefined): Promise<void> | undefined {
    if (sent !== this.last || this.#state !== "ready") return this.ready();
    return this.#busy(() => this.#revive("lost", lost, true));
  }

  /**
   * A call that was sent over `sent` ended in an error that may mean another revision: asks the server again. Undefined when the
   * error means nothing of the kind. Rejects when the revision stays the same.
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
      this.#among = among;
      work = this.#busy(() => this.#revive("lost", McpError.from(error), true));
    }
    return Promise.resolve(work).then(() => {
      if (this.last?.era.revision === revision) throw error;
    });
  }

  /** A call was answered: the connection is worth what the back-off counts. */
  alive(): void {
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

  #busy(work: () => Promise<void>): Promise<void> {
    const running = work().finally(() => {
      if (this.#work === running) this.#work = undefined;
    });
    // Those who wait get the failure; without any it must not count as an unhandled rejection.
    running.catch(() => {});
    this.#work = running;
    return running;
  }

  /** Opens a lost connection again. `session`: only the server's memory is gone, the transport can be kept. */
  async #revive(event: "lost" | "connect", lost: McpError, session: boolean): Promise<void> {
    this.#move(event, lost);
    try {
      for (let attempt = session ? 0 : 1; ; attempt++) {
        try {
          await this.#attempt(attempt, lost);
          break;
        } catch (error) {
          const over = attempt >= MAX_ATTEMPTS || this.#parts.route.lasts === false;
          if (over || !isTransient(error) || this.closing.signal.aborted) throw error;
        }
      }
    } catch (error) {
      // The compiler cannot see that `close` may have run meanwhile.
      if ((this.#state as ConnectionState) !== "closed") this.#move("failed", McpError.from(error));
      throw McpError.from(error);
    }
    this.#stand();
  }

  /** The attempt 0 uses the transport that stands; all others open a new one, and wait before it. */
  async #attempt(attempt: number, lost: McpError): Promise<void> {
    if (attempt === 0) await this.#handshakeAgain();
    else {
      await pause(this.platform, this.#pacer.ended(false) ?? 0, this.closing.signal, true);
      // A handshake that failed half way leaves a transport behind that still stands, with a session and streams of its own.
      await this.#transport?.close();
      if (this.closing.signal.aborted) throw notConnected(this.#state);
      this.#pacer.begun();
      await this.#open();
    }
    await this.#parts.events.recovered(lost);
    if (this.#ended !== undefined) throw this.#ended;
  }

  #stand(): void {
    this.#move("established");
    // The connection may have ended between the handshake and here, before the state was `ready`.
    if (this.#ended !== undefined) this.#lost(this.#ended);
  }

  async #handshakeAgain(): Promise<void> {
    const { transport } = this.established;
    transport.reset?.();
    const asked = this.#among === undefined ? {} : { prior: undefined, revisions: this.#among };
    this.#among = undefined;
    const negotiation = { ...this.#negotiation(transport), skipProbe: false, ...asked };
    this.#adopt(await this.#bounded(() => negotiate(negotiation)), transport);
  }

  async #open(): Promise<void> {
    const deadline = this.platform.monotonic() + this.timeouts.connectMs;
    const stopped = new AbortController();
    try {
      const opened = await this.#bounded<Opened>(() =>
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
      const told = McpError.is(error) && error.kind === "timeout" ? (transport?.explain?.(error) ?? error) : error;
      const closed = Promise.resolve(transport?.close()).catch(() => {});
      // What is left of a process or a session ends by itself, if that takes longer than the caller has to wait.
      await atMost(this.platform, Math.max(0, deadline - this.platform.monotonic()) + CLOSE_MS, closed, true);
      throw told;
    }
  }

  #adopt(established: NegotiationResult, transport: Transport): void {
    this.last = currentConnection(established, transport, this.methods);
    this.asking = this.last;
    this.proved = false;
    this.#pacer.opened();
    this.#parts.revisions.set(this.#route.key, established.era.revision, this.options.revisions);
  }

  #negotiation(transport: Transport): Omit<Negotiation, "skipProbe"> {
    this.asking = undefined;
    const { capabilities, observers } = this.#parts;
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

  /** The revision to try first: the one last spoken, else the one given to `connect`, else the remembered one. */
  #prior(): Prior | undefined {
    const { prior, revisions } = this.options;
    if (this.last !== undefined) return { revision: this.last.era.revision };
    const remembered = this.#parts.revisions.get(this.#route.key, revisions);
    return prior ?? (remembered === undefined ? undefined : { revision: remembered });
  }

  #receiver(transport: Transport): Receiver {
    const { events } = this.#parts;
    return {
      request: events.request,
      notification: events.notification,
      late: events.late,
      missed: events.missed,
      fault: (error) => {
        if (!McpError.is(error) || error.kind !== "session_lost") return events.fault(error);
        // A stale one is about a session that was left before.
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
        // Events of a transport that was replaced are ignored.
        if (this.#transport !== transport) return;
        this.#ended = new McpError("connection_closed", `the connection to ${transport.target} ended`, {
          cause: reason,
          fix: "Look at why the server ended; the next call opens the connection again where that is possible.",
        });
        if (this.#state === "ready") this.#lost(this.#ended);
      },
    };
  }

  #lost(error: McpError): void {
    if (this.mayReturn) void this.#busy(() => this.#revive("lost", error, false));
    else this.#move("failed", error);
  }

  /** Settles with the work, the `connect` deadline, the caller's signal or `close`, whichever is first. */
  #bounded<T>(work: () => Promise<T>): Promise<T> {
    // Later attempts belong to the client, not to the call of `connect` that the signal was given to.
    const signal = this.last === undefined ? this.options.signal : undefined;
    const { connectMs } = this.timeouts;
    const late = () =>
      new McpError(
        "timeout",
        `no handshake with ${this.#transport?.target ?? "the server"} within the connect deadline of ${connectMs} ms`,
        {
          data: { deadline: "connect", ms: connectMs },
          fix: "Raise `timeouts.connectMs`, or look at what the server does when it starts.",
        },
      );
    const cancelled = () => new McpError("cancelled", "connecting was cancelled", { cause: signal?.reason });
    const bounds = [
      { on: connectMs, error: late },
      { on: signal, error: cancelled },
      { on: this.closing.signal, error: () => notConnected(this.#state) },
    ];
    return bounded(this.platform, bounds, work, this.#holds);
  }

  #move(event: Parameters<typeof transition>[1], reason?: Error): void {
    this.#state = transition(this.#state, event);
    this.current = this.#state === "ready" ? this.last : undefined;
    this.#parts.events.state(this.#state, reason, this.#transport);
  }
}

/** The error of a use of a connection that does not stand. */
function notConnected(state: ConnectionState): McpError {
  return new McpError("connection_closed", `the client is ${state}`, { fix: "Call `connect` again." });
}
