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
import { type PassedCall, RemoteConnection } from "./remote-connection.js";

/** Connections to one server beside its own; when there are as many, the one that is idle longest gives way. */
const MAX_CONNECTIONS = 100;
/** How long a connection that nobody uses is kept. */
const IDLE_MS = 300_000;

/** What a host knows of one of its servers before it is connected. */
export interface RemoteServerParts {
  readonly name: string;
  readonly target: Target | LocalServer;
  readonly options: ClientOptions;
  readonly platform: Platform;
  readonly limits: CallLimits;
  /** Whether a further connection starts the server once more. */
  readonly startsAnew: boolean;
  readonly isolation: "shared" | "client";
  /** What the server's own connections declare that callers can be asked for; undefined where only the application answers. */
  readonly asked: ClientCapabilities | undefined;
  /** Answers questions that are about no call of a gateway's client. */
  readonly application: PassedCall;
  /** Milliseconds that a call waits for a server that is being started. */
  readonly waitMs: number;
  readonly circuit: CircuitOptions | false;
  /** What is allowed of the server; undefined for all. */
  readonly lock: DriftPolicy | undefined;
  /** Milliseconds for one call as a whole; undefined for the client's own. */
  readonly callMs: number | undefined;
}

/** A call to be sent to a server of the host. */
export interface OutgoingRequest {
  readonly method: string;
  readonly params: Params;
  readonly call: PassedCall;
  readonly options: CallOptions;
  readonly forwarded: ForwardedCall;
}

/** A connection that stands, given at once so that calls of one turn are shared by several, or the next one that will. */
type FoundConnection = RemoteConnection | Promise<RemoteConnection>;

interface RunOptions {
  readonly caller: unknown;
  readonly signal: AbortSignal | undefined;
  /** Whether the call may be sent once more after it was lost with its connection. */
  readonly repeatable: boolean;
  pick(): FoundConnection;
}

/** One server of a host: its connections, and the calls that it gets within its limits. */
export class RemoteServer {
  readonly name: string;
  readonly parts: RemoteServerParts;
  readonly gate: CallGate;
  readonly circuit: CircuitBreaker | undefined;
  /** Called with every further connection that several callers share, when it stands. */
  onShared: ((connection: RemoteConnection) => void) | undefined;
  /** The server's own connections that stand. */
  readonly connections = new Set<RemoteConnection>();
  readonly #others: CallerConnections;
  readonly #queue: ConnectionQueue;
  #closed = false;

  constructor(parts: RemoteServerParts) {
    const { name, platform, circuit } = parts;
    this.name = name;
    this.parts = parts;
    this.gate = new CallGate({ platform, server: name }, parts.limits);
    this.circuit = circuit === false ? undefined : new CircuitBreaker({ platform, server: name }, circuit);
    this.#queue = new ConnectionQueue(parts);
    this.#others = new CallerConnections(parts, (connection) => this.onShared?.(connection));
  }

  /** The connection with the fewest calls, if one stands. */
  get leastBusy(): RemoteConnection | undefined {
    let best: RemoteConnection | undefined;
    for (const connection of this.connections) {
      if (!connection.hasEnded && (best === undefined || connection.running < best.running)) best = connection;
    }
    return best;
  }

  /** Opens one of the server's own connections; its owner calls `adopt` when it can be used. */
  open(signal: AbortSignal): Promise<RemoteConnection> {
    const { options, asked: capabilities, ...parts } = this.parts;
    return RemoteConnection.open({ ...parts, options: { ...options, signal }, capabilities });
  }

  adopt(connection: RemoteConnection): void {
    if (this.#closed) return;
    // It has just answered: what was lost with the connections before it says nothing about this one.
    if (this.connections.size === 0) this.circuit?.reset();
    this.connections.add(connection);
    void connection.ended.then(() => this.connections.delete(connection));
    this.#queue.opened(connection);
  }

  /** Marks the server as unavailable: rejects waiting calls, and new ones at once. */
  unavailable(error: McpError): void {
    if (this.connections.size === 0 || this.#closed) this.#queue.refuse(error);
  }

  /** The server is being started, and calls wait for it. */
  awaited(): void {
    if (!this.#closed) this.#queue.admit();
  }

  /** The connection for calls of somebody who can be asked for `askable`; `caller` tells clients of a gateway apart. */
  connection(askable: ClientCapabilities, caller: unknown, signal?: AbortSignal): FoundConnection {
    const own = this.standing(signal);
    if (own instanceof RemoteConnection) return this.#shared(own, askable, caller);
    return own.then((stands) => this.#shared(stands, askable, caller));
  }

  #shared(own: RemoteConnection, askable: ClientCapabilities, caller: unknown): FoundConnection {
    const { isolation, startsAnew } = this.parts;
    // Where requests say what the caller can be asked for, or one process must serve all, they share.
    if (isolation === "shared" && (!own.asksByRequest || startsAnew)) return own;
    const key = connectionKey(askable);
    if (isolation === "client") return this.#others.of(key, askable, caller);
    return key === keyOfOwn(own.declared, this.parts.options) ? own : this.#others.of(key, askable, undefined);
  }

  /** Lets a client of a gateway answer what the server asks over a connection of its own outside of a call. */
  answersOutside(caller: object, call: PassedCall): void {
    this.#others.answering(caller, call);
  }

  /** Closes the connections that a client of a gateway had for itself: all, or those without a running call. */
  left(caller: unknown, which: "all" | "idle" = "all"): void {
    this.#others.leave(caller, which);
  }

  /** Sends a request for a client of a gateway, over `connection` first. */
  request(request: OutgoingRequest, connection: RemoteConnection): Promise<Record<string, unknown> | InterimResult> {
    const { method, params, call, forwarded } = request;
    const options = this.timed(request.options);
    const { signal } = options;
    const repeatable = CORE_TABLE.get(method)?.idempotent === true;
    if (!repeatable && !this.gate.isLimited && !connection.hasEnded) return this.#passNow(request, connection, options);
    let first = true;
    const pick = () => {
      // It may have ended while the call waited for its turn.
      if (!first || connection.hasEnded) return this.connection(forwarded.capabilities ?? {}, call.caller, signal);
      first = false;
      return connection;
    };
    return this.run({ caller: call.caller, signal, repeatable, pick }, (over) =>
      over.pass(method, params, call, options, forwarded),
    );
  }

  /** Sends a call that need not wait, as nearly every tool call; it costs no promise but that of the answer. */
  #passNow(
    { method, params, call, forwarded }: OutgoingRequest,
    connection: RemoteConnection,
    options: CallOptions,
  ): Promise<Record<string, unknown> | InterimResult> {
    const { gate, circuit } = this;
    let entered = false;
    let admission = 0;
    let sent: Promise<Record<string, unknown> | InterimResult>;
    try {
      // Throws for a server that is stopped; without limits nobody waits.
      void gate.enter(options.signal);
      entered = true;
      admission = circuit?.admit() ?? 0;
      sent = connection.pass(method, params, call, options, forwarded);
    } catch (error) {
      if (entered) gate.leave();
      return Promise.reject(error);
    }
    return sent.then(
      (result) => {
        this.#answered(connection, admission);
        gate.leave();
        return result;
      },
      (error: unknown) => {
        this.#failed(connection, admission, error);
        gate.leave();
        throw error;
      },
    );
  }

  /** The options of a call with the deadline of the server, during which it may be silent unless somebody said otherwise. */
  timed(options: CallOptions): CallOptions {
    const { callMs, options: ofConnection } = this.parts;
    if (callMs === undefined) return options;
    const { totalMs = callMs, idleMs } = options.timeouts ?? {};
    const silent = idleMs ?? ofConnection.timeouts?.idleMs ?? Math.max(totalMs, DEFAULT_TIMEOUTS.idleMs);
    return { ...options, timeouts: { totalMs, idleMs: silent } };
  }

  /** Runs a call within the limits of the server. */
  async run<T>(options: RunOptions, send: (connection: RemoteConnection) => Promise<T>): Promise<T> {
    const { signal, caller } = options;
    const turn = this.gate.enter(signal, caller);
    if (turn !== undefined) await turn;
    try {
      return await this.#picked(options, send);
    } catch (error) {
      if (!options.repeatable || !isLost(error)) throw error;
      // Another connection may stand, or will.
      return await this.#picked(options, send);
    } finally {
      this.gate.leave();
    }
  }

  async #picked<T>({ pick }: RunOptions, send: (connection: RemoteConnection) => Promise<T>): Promise<T> {
    const connection = pick();
    return this.#once(connection instanceof RemoteConnection ? connection : await connection, send);
  }

  /** The least busy connection of the server's own, or a promise of the next one. */
  standing(signal?: AbortSignal): FoundConnection {
    const known = this.#closed ? undefined : this.leastBusy;
    if (known !== undefined) return known;
    return this.#queue.wait(signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.unavailable(new McpError("connection_closed", "it was stopped"));
    this.gate.close();
    await this.#others.close();
  }

  /** Sends a call that the circuit admits. */
  async #once<T>(connection: RemoteConnection, send: (connection: RemoteConnection) => Promise<T>): Promise<T> {
    const admission = this.circuit?.admit() ?? 0;
    let result: T;
    try {
      result = await send(connection);
    } catch (error) {
      this.#failed(connection, admission, error);
      throw error;
    }
    this.#answered(connection, admission);
    return result;
  }

  #answered(connection: RemoteConnection, admission: CircuitPass): void {
    connection.answeredAt = this.parts.platform.monotonic();
    this.circuit?.succeeded(admission);
  }

  #failed(connection: RemoteConnection, admission: CircuitPass, error: unknown): void {
    if (McpError.is(error) && error.remote) this.#answered(connection, admission);
    else if (isServerFailure(error)) this.circuit?.failed(admission);
    else this.circuit?.abandoned(admission);
  }
}

interface Kept {
  readonly opened: Promise<RemoteConnection>;
  connection: RemoteConnection | undefined;
  usedAt: number;
}

/** Connections to one server for callers who cannot share its own: one for each key, and for each caller if one is given. */
class CallerConnections {
  readonly #parts: RemoteServerParts;
  readonly #shared: (connection: RemoteConnection) => void;
  readonly #kept = new Map<unknown, Map<string, Kept>>();
  /** Answers questions outside of calls, by the caller that a connection is for. */
  readonly #answering = new WeakMap<object, PassedCall>();
  #sweep: Timer | undefined;

  /** `shared` is called with every connection that is for no caller alone, when it stands. */
  constructor(parts: RemoteServerParts, shared: (connection: RemoteConnection) => void) {
    this.#parts = parts;
    this.#shared = shared;
  }

  /** The connection of `caller` for `key`, opened by the first who needs it and again after it is lost. */
  of(key: string, capabilities: ClientCapabilities, caller: unknown): FoundConnection {
    const now = this.#parts.platform.monotonic();
    const mine = this.#kept.get(caller) ?? new Map<string, Kept>();
    const known = mine.get(key);
    if (known !== undefined && known.connection?.hasEnded !== true) {
      known.usedAt = now;
      return known.connection ?? known.opened;
    }
    this.#makeRoom();
    const { name, target, lock } = this.#parts;
    // A caller that is no object has no entry.
    const application = this.#answering.get(caller as object) ?? this.#parts.application;
    const options = optionsFor(this.#parts.options, capabilities);
    const opened = RemoteConnection.open({ name, target, options, capabilities, application, lock });
    const kept: Kept = { opened, connection: undefined, usedAt: now };
    mine.set(key, kept);
    this.#kept.set(caller, mine);
    const forget = () => {
      if (mine.get(key) === kept) mine.delete(key);
      if (mine.size === 0) this.#kept.delete(caller);
    };
    opened.then((connection) => {
      kept.connection = connection;
      if (caller === undefined) this.#shared(connection);
      void connection.ended.then(forget);
    }, forget);
    this.#sweepLater();
    return opened;
  }

  /** Notes what answers questions over the caller's connections that are about no call. */
  answering(caller: object, call: PassedCall): void {
    this.#answering.set(caller, call);
  }

  /** Closes the connections of a caller that is gone. */
  leave(caller: unknown, which: "all" | "idle"): void {
    for (const { opened, connection } of this.#kept.get(caller)?.values() ?? []) {
      if (which === "all" || connection === undefined || connection.running === 0) closeQuietly(opened);
    }
  }

  async close(): Promise<void> {
    this.#sweep?.cancel();
    await Promise.all(this.#all().map(({ opened }) => closeQuietly(opened)));
  }

  #all(): Kept[] {
    return [...this.#kept.values()].flatMap((mine) => [...mine.values()]);
  }

  #makeRoom(): void {
    const all = this.#all();
    if (all.length < MAX_CONNECTIONS) return;
    const idle = all.filter(({ connection }) => connection !== undefined && connection.running === 0);
    const [oldest] = idle.sort((one, other) => one.usedAt - other.usedAt);
    if (oldest === undefined) {
      const message = `the server "${this.#parts.name}" already has ${MAX_CONNECTIONS} connections`;
      throw new McpError("limit_exceeded", message, {
        data: { limit: "connections", value: MAX_CONNECTIONS },
        fix: "Try again when other clients have finished.",
      });
    }
    void closeQuietly(oldest.opened);
  }

  #sweepLater(): void {
    const { platform } = this.#parts;
    this.#sweep ??= platform.timer(IDLE_MS, () => {
      this.#sweep = undefined;
      const old = platform.monotonic() - IDLE_MS;
      for (const { connection, usedAt } of this.#all()) {
        if (connection?.running === 0 && usedAt <= old) void connection.close();
      }
      if (this.#kept.size > 0) this.#sweepLater();
    });
  }
}

/** What tells apart the connections that callers can share: what a server is told of them when the connection is opened. */
function connectionKey({ extensions, ...askable }: ClientCapabilities): string {
  const ids = Object.keys(extensions ?? {}).filter((id) => id !== TASKS.id);
  return JSON.stringify([askable, ids.sort()]);
}

/** The key of callers that may share a server's own connection; undefined where only the application answers over it. */
function keyOfOwn(declared: ClientCapabilities | undefined, options: ClientOptions): string | undefined {
  const { onElicit, onSample, roots, extensions = [] } = options;
  const answers = onElicit !== undefined || onSample !== undefined || roots !== undefined;
  if (declared === undefined && answers) return undefined;
  return connectionKey({ ...declared, extensions: Object.fromEntries(extensions.map(({ id }) => [id, {}])) });
}

/** The options without what only the application has: callers answer for themselves, and have extensions of their own. */
function optionsFor(options: ClientOptions, { extensions: declared = {} }: ClientCapabilities): ClientOptions {
  const { onElicit: _elicit, onSample: _sample, roots: _roots, extensions = [], ...rest } = options;
  // Tasks are what this side follows for callers, in whatever form they take them.
  return { ...rest, extensions: extensions.filter(({ id }) => id === TASKS.id || Object.hasOwn(declared, id)) };
}

/** Closes a connection, unless it was never opened, which its caller was told. */
function closeQuietly(opened: Promise<RemoteConnection>): Promise<void> {
  return opened.then((connection) => connection.close()).catch(() => {});
}

/** Whether a call was lost with its connection. */
function isLost(error: unknown): boolean {
  return McpError.is(error) && (error.kind === "connection_closed" || error.kind === "session_lost");
}
