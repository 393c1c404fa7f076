import type { ForwardedCall, InterimResult } from "../../client/call/requester.js";
import type { LocalServer, Target } from "../../client/connect.js";
import { type CallOptions, type ClientOptions, DEFAULT_TIMEOUTS } from "../../client/contract/options.js";
import type { Params } from "../../jsonrpc/message.js";
import type { DriftPolicy } from "../../lock/drift-policy.js";
import type { Platform } from "../../platform/platform.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import { CallGate, type CallLimits } from "./call-gate.js";
import { CallerConnections, connectionKey, keyOfOwn } from "./caller-connections.js";
import { CircuitBreaker, type CircuitOptions, isServerFailure } from "./circuit-breaker.js";
import { type PassedCall, RemoteConnection } from "./remote-connection.js";
import { isLost, notInTime, tooManyWait, unavailable } from "./unavailable.js";

/** Calls of one server that wait at once for a connection of it. */
const MOST_WAITING = 10_000;

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

/** What a call needs beside what is sent. */
interface RunOptions {
  readonly caller: unknown;
  readonly signal: AbortSignal | undefined;
  /** Whether it may be sent once more after it was lost with its connection. */
  readonly repeatable: boolean;
  /** Gives the connection to send it over. */
  pick(): FoundConnection;
}

/** One server of a host: its connections, and the calls that it gets within its limits. */
export class RemoteServer {
  readonly name: string;
  readonly parts: RemoteServerParts;
  readonly gate: CallGate;
  readonly circuit: CircuitBreaker | undefined;
  /** Called with every answer of the server, and the connection that it came over. */
  onAnswered: ((connection: RemoteConnection) => void) | undefined;
  /** Called with every further connection that several callers share, when it stands. */
  onShared: ((connection: RemoteConnection) => void) | undefined;
  readonly #own = new Set<RemoteConnection>();
  readonly #others: CallerConnections;
  /** Those that wait for a connection. */
  readonly #waiting = new Set<(outcome: RemoteConnection | McpError) => void>();
  /** What tells callers apart in the queue. */
  readonly #keys = new WeakMap<object, string>();
  #lastKey = 0;
  /** Why nobody needs to wait for a connection. */
  #unavailable: McpError | undefined;
  #closed = false;

  constructor(parts: RemoteServerParts) {
    const { name, platform, circuit } = parts;
    this.name = name;
    this.parts = parts;
    this.gate = new CallGate({ platform, server: name }, parts.limits);
    this.circuit = circuit === false ? undefined : new CircuitBreaker({ platform, server: name }, circuit);
    this.#others = new CallerConnections(parts, (connection) => this.onShared?.(connection));
  }

  /** The server's own connections that stand. */
  get connections(): ReadonlySet<RemoteConnection> {
    return this.#own;
  }

  /** The connection with the fewest calls, if one stands. */
  get leastBusy(): RemoteConnection | undefined {
    let best: RemoteConnection | undefined;
    for (const connection of this.#own) {
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
    this.#unavailable = undefined;
    // It has just answered: what was lost with the connections before it says nothing about this one.
    if (this.#own.size === 0) this.circuit?.reset();
    this.#own.add(connection);
    void connection.ended().then(() => this.#own.delete(connection));
    for (const settle of this.#waiting) settle(connection);
  }

  /** The server will not be there soon: who waits for it is told why, and nobody waits from now on. */
  unavailable(error: McpError): void {
    if (this.#own.size > 0 && !this.#closed) return;
    this.#unavailable = error;
    for (const settle of this.#waiting) settle(unavailable(this.name, error));
  }

  /** The server is being started, and calls wait for it. */
  awaited(): void {
    if (!this.#closed) this.#unavailable = undefined;
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

  /** Closes the connections that a client of a gateway had for itself. */
  left(caller: unknown): void {
    this.#others.leave(caller);
  }

  /** Sends a request for a client of a gateway, over `connection` first. */
  request(
    { method, params, call, options, forwarded }: OutgoingRequest,
    connection: RemoteConnection,
  ): Promise<Record<string, unknown> | InterimResult> {
    const { signal } = options;
    const { caller } = call;
    const timed = this.timed(options);
    const send = (over: RemoteConnection) => over.pass(method, params, call, timed, forwarded);
    const repeatable = CORE_TABLE.get(method)?.idempotent === true;
    // The path of nearly every tool call: it costs no promise but that of the answer.
    if (!repeatable && !this.gate.isLimited && !connection.hasEnded) return this.#atOnce(connection, send, signal);
    let first = true;
    const pick = () => {
      // It may have ended while the call waited for its turn.
      if (!first || connection.hasEnded) return this.connection(forwarded.capabilities ?? {}, caller, signal);
      first = false;
      return connection;
    };
    return this.run({ caller, signal, repeatable, pick }, send);
  }

  /** Sends a call that nothing keeps waiting. */
  #atOnce<T>(
    connection: RemoteConnection,
    send: (connection: RemoteConnection) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const { gate } = this;
    try {
      // Throws for a server that is stopped; without limits nobody waits.
      void gate.enter(signal);
    } catch (error) {
      return Promise.reject(error);
    }
    try {
      return this.#once(connection, send, gate);
    } catch (error) {
      gate.leave();
      return Promise.reject(error);
    }
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
    const turn = this.gate.enter(signal, this.#keyOf(caller));
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
    if (this.#unavailable !== undefined) return Promise.reject(unavailable(this.name, this.#unavailable));
    if (this.#waiting.size >= MOST_WAITING) return Promise.reject(tooManyWait(this.name, MOST_WAITING));
    const { platform, waitMs } = this.parts;
    return new Promise((resolve, reject) => {
      const settle = (outcome: RemoteConnection | McpError) => {
        timer.cancel();
        signal?.removeEventListener("abort", cancelled);
        this.#waiting.delete(settle);
        if (outcome instanceof RemoteConnection) resolve(outcome);
        else reject(outcome);
      };
      const cancelled = () => settle(new McpError("cancelled", "the call was cancelled", { cause: signal?.reason }));
      const timer = platform.timer(waitMs, () => settle(notInTime(this.name, waitMs)), true);
      this.#waiting.add(settle);
      signal?.addEventListener("abort", cancelled);
      if (signal?.aborted === true) cancelled();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.unavailable(new McpError("connection_closed", "it was stopped"));
    this.gate.close();
    await this.#others.close();
  }

  /** Sends a call that the circuit admits, and leaves `gate`, if one is given, when it is over. Throws if it is not admitted. */
  #once<T>(
    connection: RemoteConnection,
    send: (connection: RemoteConnection) => Promise<T>,
    gate?: CallGate,
  ): Promise<T> {
    const { circuit } = this;
    const admission = circuit?.admit() ?? 0;
    return send(connection).then(
      (result) => {
        gate?.leave();
        circuit?.succeeded(admission);
        this.onAnswered?.(connection);
        return result;
      },
      (error: unknown) => {
        gate?.leave();
        const answered = McpError.is(error) && error.remote;
        if (answered) this.onAnswered?.(connection);
        if (isServerFailure(error)) circuit?.failed(admission);
        else if (answered) circuit?.succeeded(admission);
        else circuit?.abandoned(admission);
        throw error;
      },
    );
  }

  /** A text for each caller, so that they take turns; those with a text of their own never meet the others. */
  #keyOf(caller: unknown): string {
    if (typeof caller !== "object" || caller === null) return `=${String(caller)}`;
    const key = this.#keys.get(caller) ?? `#${++this.#lastKey}`;
    this.#keys.set(caller, key);
    return key;
  }
}
