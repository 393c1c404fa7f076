import type { ForwardedCall, InterimResult } from "../../client/call/requester.js";
import type { LocalServer, Target } from "../../client/connect.js";
import { type CallOptions, type ClientOptions, DEFAULT_TIMEOUTS } from "../../client/contract/options.js";
import type { Params } from "../../jsonrpc/message.js";
import type { DriftPolicy } from "../../lock/drift-policy.js";
import type { Platform, Timer } from "../../platform/platform.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { TASKS } from "../../protocol/features/tasks.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import { CallGate, type CallLimits } from "./call-gate.js";
import { CircuitBreaker, type CircuitOptions, type CircuitPass, isServerFailure } from "./circuit-breaker.js";
import { ConnectionQueue } from "./connection-queue.js";
import { type CallerChannel, RemoteConnection } from "./remote-connection.js";

/**
 * Maximum number of connections that are opened for callers of one server, in addition to the server's own connections.
 * Beyond it, the connection that has been idle longest is closed. If none is idle, the call is rejected.
 */
const MAX_CONNECTIONS = 100;
/** Milliseconds after which an unused connection for callers is closed. */
const IDLE_MS = 300_000;

/** The configuration of one server of a host. */
export interface RemoteServerConfig {
  readonly name: string;
  readonly target: Target | LocalServer;
  readonly options: ClientOptions;
  readonly platform: Platform;
  readonly limits: CallLimits;
  /** True if every connection starts another process of the server's program. */
  readonly startsProcess: boolean;
  readonly isolation: "shared" | "client";
  /**
   * Questions that the server's own connections declare on behalf of callers; undefined if only the application
   * answers.
   */
  readonly askable: ClientCapabilities | undefined;
  /** Answers questions that belong to no call of a gateway's client. */
  readonly application: CallerChannel;
  /** Milliseconds that a call waits for a server that is starting. */
  readonly waitMs: number;
  readonly circuit: CircuitOptions | false;
  /** The lock of the server; undefined if every offer is allowed. */
  readonly lock: DriftPolicy | undefined;
  /** Milliseconds for one call as a whole; undefined to use the client's own timeouts. */
  readonly callMs: number | undefined;
}

/** A call to send to a server of the host. */
export interface OutgoingRequest {
  readonly method: string;
  readonly params: Params;
  readonly call: CallerChannel;
  readonly options: CallOptions;
  readonly forwarded: ForwardedCall;
}

/**
 * An open connection, or a promise of the next one. An open connection is returned without a promise, so that the call
 * is counted before the next call in the same turn of the event loop picks a connection. Otherwise calls would not be
 * spread over the connections.
 */
type FoundConnection = RemoteConnection | Promise<RemoteConnection>;

interface RunOptions {
  readonly caller: unknown;
  readonly signal: AbortSignal | undefined;
  /** True if the call may be sent once more when its connection ends before the answer. */
  readonly repeatable: boolean;
  pick(): FoundConnection;
}

/** One server of a host: its connections, and the limits of its calls. */
export class RemoteServer {
  readonly name: string;
  readonly config: RemoteServerConfig;
  readonly gate: CallGate;
  readonly circuit: CircuitBreaker | undefined;
  /** Called with every further connection that several callers share, as soon as the connection is open. */
  onShared: ((connection: RemoteConnection) => void) | undefined;
  /** The server's own open connections. */
  readonly connections = new Set<RemoteConnection>();
  readonly #others: CallerConnections;
  readonly #queue: ConnectionQueue;
  #closed = false;

  constructor(config: RemoteServerConfig) {
    const { name, platform, circuit } = config;
    this.name = name;
    this.config = config;
    this.gate = new CallGate({ platform, server: name }, config.limits);
    this.circuit = circuit === false ? undefined : new CircuitBreaker({ platform, server: name }, circuit);
    this.#queue = new ConnectionQueue(config);
    this.#others = new CallerConnections(config, (connection) => this.onShared?.(connection));
  }

  /** The open connection with the fewest running calls; undefined if none is open. */
  get leastBusy(): RemoteConnection | undefined {
    let best: RemoteConnection | undefined;
    for (const connection of this.connections) {
      if (!connection.hasEnded && (best === undefined || connection.running < best.running)) best = connection;
    }
    return best;
  }

  /** Opens one of the server's own connections. The owner calls `adopt` when the connection can be used. */
  open(signal: AbortSignal): Promise<RemoteConnection> {
    const { options, askable: capabilities, ...rest } = this.config;
    return RemoteConnection.open({ ...rest, options: { ...options, signal }, capabilities });
  }

  adopt(connection: RemoteConnection): void {
    if (this.#closed) return;
    // The server has just answered, so failures of earlier connections no longer count.
    if (this.connections.size === 0) this.circuit?.reset();
    this.connections.add(connection);
    void connection.ended.then(() => this.connections.delete(connection));
    this.#queue.opened(connection);
  }

  /** Rejects waiting calls and, from now on, new calls, unless the server has an open connection. */
  markUnavailable(error: McpError): void {
    if (this.connections.size === 0 || this.#closed) this.#queue.refuse(error);
  }

  /** Lets calls wait for a server that is starting. */
  letCallsWait(): void {
    if (!this.#closed) this.#queue.admit();
  }

  /**
   * Returns the connection for the calls of a caller that can answer `askable`. `caller` identifies the client of a
   * gateway.
   */
  connection(askable: ClientCapabilities, caller: unknown, signal?: AbortSignal): FoundConnection {
    const own = this.ownConnection(signal);
    if (own instanceof RemoteConnection) return this.#shared(own, askable, caller);
    return own.then((stands) => this.#shared(stands, askable, caller));
  }

  #shared(own: RemoteConnection, askable: ClientCapabilities, caller: unknown): FoundConnection {
    const { isolation, startsProcess } = this.config;
    // Callers share the connection if each request contains the capabilities of its caller, or if every further
    // connection would start another process.
    if (isolation === "shared" && (!own.asksByRequest || startsProcess)) return own;
    const key = connectionKey(askable);
    if (isolation === "client") return this.#others.get(key, askable, caller);
    return key === ownConnectionKey(own.declared, this.config.options)
      ? own
      : this.#others.get(key, askable, undefined);
  }

  /**
   * Sets the channel for questions outside of calls that arrive over a client's own connections. `caller` is a client
   * of a gateway.
   */
  setCallerChannel(caller: object, call: CallerChannel): void {
    this.#others.setChannel(caller, call);
  }

  /** Closes the own connections of a gateway's client: all, or those without a running call. */
  closeConnectionsOf(caller: unknown, which: "all" | "idle" = "all"): void {
    this.#others.closeFor(caller, which);
  }

  /** Sends a request of a gateway's client, over `connection` if it is still open. */
  request(request: OutgoingRequest, connection: RemoteConnection): Promise<Record<string, unknown> | InterimResult> {
    const { method, params, call, forwarded } = request;
    const options = this.withDeadline(request.options);
    const { signal } = options;
    const repeatable = CORE_TABLE.get(method)?.idempotent === true;
    if (!repeatable && !this.gate.isLimited && !connection.hasEnded)
      return this.#forwardNow(request, connection, options);
    let first = true;
    const pick = () => {
      // The connection may have ended while the call waited for its turn.
      if (!first || connection.hasEnded) return this.connection(forwarded.capabilities ?? {}, call.caller, signal);
      first = false;
      return connection;
    };
    return this.run({ caller: call.caller, signal, repeatable, pick }, (over) =>
      over.forward(method, params, call, options, forwarded),
    );
  }

  /**
   * Sends a call that need not wait, as is the case for nearly every tool call. Allocates no promise other than that of
   * the answer.
   */
  #forwardNow(
    { method, params, call, forwarded }: OutgoingRequest,
    connection: RemoteConnection,
    options: CallOptions,
  ): Promise<Record<string, unknown> | InterimResult> {
    const { gate, circuit } = this;
    let entered = false;
    let admission = 0;
    let sent: Promise<Record<string, unknown> | InterimResult>;
    try {
      // Throws for a stopped server. Without limits it never returns a promise.
      void gate.enter(options.signal);
      entered = true;
      admission = circuit?.admit() ?? 0;
      sent = connection.forward(method, params, call, options, forwarded);
    } catch (error) {
      if (entered) gate.leave();
      return Promise.reject(error);
    }
    return sent.then(
      (result) => {
        this.#recordAnswer(connection, admission);
        gate.leave();
        return result;
      },
      (error: unknown) => {
        this.#recordFailure(connection, admission, error);
        gate.leave();
        throw error;
      },
    );
  }

  /**
   * Adds the server's deadline to the options of a call. Unless the idle timeout is set, it becomes at least as long as
   * the deadline.
   */
  withDeadline(options: CallOptions): CallOptions {
    const { callMs, options: ofConnection } = this.config;
    if (callMs === undefined) return options;
    const { totalMs = callMs, idleMs } = options.timeouts ?? {};
    const silent = idleMs ?? ofConnection.timeouts?.idleMs ?? Math.max(totalMs, DEFAULT_TIMEOUTS.idleMs);
    return { ...options, timeouts: { totalMs, idleMs: silent } };
  }

  /**
   * Runs a call within the limits of the server. Repeats a `repeatable` call once if its connection ended before the
   * answer.
   */
  async run<T>(options: RunOptions, send: (connection: RemoteConnection) => Promise<T>): Promise<T> {
    const { signal, caller } = options;
    const turn = this.gate.enter(signal, caller);
    if (turn !== undefined) await turn;
    try {
      return await this.#pickAndSend(options, send);
    } catch (error) {
      if (!options.repeatable || !isLost(error)) throw error;
      // Another connection may be open already, or open soon.
      return await this.#pickAndSend(options, send);
    } finally {
      this.gate.leave();
    }
  }

  async #pickAndSend<T>({ pick }: RunOptions, send: (connection: RemoteConnection) => Promise<T>): Promise<T> {
    const connection = pick();
    return this.#sendOnce(connection instanceof RemoteConnection ? connection : await connection, send);
  }

  /** The least busy of the server's own connections, or a promise of the next one. */
  ownConnection(signal?: AbortSignal): FoundConnection {
    const known = this.#closed ? undefined : this.leastBusy;
    if (known !== undefined) return known;
    return this.#queue.wait(signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.markUnavailable(new McpError("connection_closed", "it was stopped"));
    this.gate.close();
    await this.#others.close();
  }

  /** Sends a call that the circuit admits. */
  async #sendOnce<T>(connection: RemoteConnection, send: (connection: RemoteConnection) => Promise<T>): Promise<T> {
    const admission = this.circuit?.admit() ?? 0;
    let result: T;
    try {
      result = await send(connection);
    } catch (error) {
      this.#recordFailure(connection, admission, error);
      throw error;
    }
    this.#recordAnswer(connection, admission);
    return result;
  }

  #recordAnswer(connection: RemoteConnection, admission: CircuitPass): void {
    connection.answeredAt = this.config.platform.monotonic();
    this.circuit?.succeeded(admission);
  }

  #recordFailure(connection: RemoteConnection, admission: CircuitPass, error: unknown): void {
    if (McpError.is(error) && error.remote) this.#recordAnswer(connection, admission);
    else if (isServerFailure(error)) this.circuit?.failed(admission);
    else this.circuit?.abandoned(admission);
  }
}

interface CallerConnection {
  readonly opened: Promise<RemoteConnection>;
  connection: RemoteConnection | undefined;
  usedAt: number;
}

/**
 * Connections to one server for callers that cannot share its own connections: one for each key or, if a caller is
 * given, one for each caller and key.
 */
class CallerConnections {
  readonly #config: RemoteServerConfig;
  readonly #shared: (connection: RemoteConnection) => void;
  readonly #byCaller = new Map<unknown, Map<string, CallerConnection>>();
  /** Channels for questions outside of calls, by the caller of a connection. */
  readonly #channels = new WeakMap<object, CallerChannel>();
  #sweep: Timer | undefined;

  /** `shared` is called with every connection that several callers share, as soon as the connection is open. */
  constructor(config: RemoteServerConfig, shared: (connection: RemoteConnection) => void) {
    this.#config = config;
    this.#shared = shared;
  }

  /**
   * Returns the connection of `caller` for `key`. Opens it on the first call, and again on the first call after it
   * ended.
   */
  get(key: string, capabilities: ClientCapabilities, caller: unknown): FoundConnection {
    const now = this.#config.platform.monotonic();
    const mine = this.#byCaller.get(caller) ?? new Map<string, CallerConnection>();
    const known = mine.get(key);
    if (known !== undefined && known.connection?.hasEnded !== true) {
      known.usedAt = now;
      return known.connection ?? known.opened;
    }
    this.#makeRoom();
    const { name, target, lock } = this.#config;
    // A caller that is not an object has no channel of its own.
    const application = this.#channels.get(caller as object) ?? this.#config.application;
    const options = optionsFor(this.#config.options, capabilities);
    const opened = RemoteConnection.open({ name, target, options, capabilities, application, lock });
    const entry: CallerConnection = { opened, connection: undefined, usedAt: now };
    mine.set(key, entry);
    this.#byCaller.set(caller, mine);
    const forget = () => {
      if (mine.get(key) === entry) mine.delete(key);
      if (mine.size === 0) this.#byCaller.delete(caller);
    };
    opened.then((connection) => {
      entry.connection = connection;
      if (caller === undefined) this.#shared(connection);
      void connection.ended.then(forget);
    }, forget);
    this.#sweepLater();
    return opened;
  }

  /** Sets the channel for questions that belong to no call, over the connections of a caller. */
  setChannel(caller: object, call: CallerChannel): void {
    this.#channels.set(caller, call);
  }

  /** Closes the connections of a caller: all, or those without a running call. */
  closeFor(caller: unknown, which: "all" | "idle"): void {
    for (const { opened, connection } of this.#byCaller.get(caller)?.values() ?? []) {
      if (which === "all" || connection === undefined || connection.running === 0) closeQuietly(opened);
    }
  }

  async close(): Promise<void> {
    this.#sweep?.cancel();
    await Promise.all(this.#all().map(({ opened }) => closeQuietly(opened)));
  }

  #all(): CallerConnection[] {
    return [...this.#byCaller.values()].flatMap((mine) => [...mine.values()]);
  }

  #makeRoom(): void {
    const all = this.#all();
    if (all.length < MAX_CONNECTIONS) return;
    const idle = all.filter(({ connection }) => connection !== undefined && connection.running === 0);
    const [oldest] = idle.sort((one, other) => one.usedAt - other.usedAt);
    if (oldest === undefined) {
      const message = `the server "${this.#config.name}" already has ${MAX_CONNECTIONS} connections`;
      throw new McpError("limit_exceeded", message, {
        data: { limit: "connections", value: MAX_CONNECTIONS },
        fix: "Try again when other clients have finished.",
      });
    }
    void closeQuietly(oldest.opened);
  }

  #sweepLater(): void {
    const { platform } = this.#config;
    this.#sweep ??= platform.timer(IDLE_MS, () => {
      this.#sweep = undefined;
      const old = platform.monotonic() - IDLE_MS;
      for (const { connection, usedAt } of this.#all()) {
        if (connection?.running === 0 && usedAt <= old) void connection.close();
      }
      if (this.#byCaller.size > 0) this.#sweepLater();
    });
  }
}

/**
 * Identifies connections that callers can share. The key contains everything that a server learns about its callers
 * when the connection opens.
 */
function connectionKey({ extensions, ...askable }: ClientCapabilities): string {
  const ids = Object.keys(extensions ?? {}).filter((id) => id !== TASKS.id);
  return JSON.stringify([askable, ids.sort()]);
}

/** The key of callers that may share a server's own connection; undefined if only the application answers over it. */
function ownConnectionKey(declared: ClientCapabilities | undefined, options: ClientOptions): string | undefined {
  const { onElicit, onSample, roots, extensions = [] } = options;
  const answers = onElicit !== undefined || onSample !== undefined || roots !== undefined;
  if (declared === undefined && answers) return undefined;
  return connectionKey({ ...declared, extensions: Object.fromEntries(extensions.map(({ id }) => [id, {}])) });
}

/**
 * Removes the application's handlers and extensions from the options: callers answer questions and declare extensions
 * themselves.
 */
function optionsFor(options: ClientOptions, { extensions: declared = {} }: ClientCapabilities): ClientOptions {
  const { onElicit: _elicit, onSample: _sample, roots: _roots, extensions = [], ...rest } = options;
  // The tasks extension stays, because the host follows tasks for callers in every revision.
  return { ...rest, extensions: extensions.filter(({ id }) => id === TASKS.id || Object.hasOwn(declared, id)) };
}

/** Closes a connection. Ignores a failure to open it, because the caller already got that error. */
function closeQuietly(opened: Promise<RemoteConnection>): Promise<void> {
  return opened.then((connection) => connection.close()).catch(() => {});
}

/** True if the connection or the session of a call ended before the answer. */
function isLost(error: unknown): boolean {
  return McpError.is(error) && (error.kind === "connection_closed" || error.kind === "session_lost");
}
