import type { CallExtras, InterimResult } from "../../client/call/requester.js";
import type { Client } from "../../client/client.js";
import type { LocalServer, Target } from "../../client/connect.js";
import type { CallOptions, ClientOptions } from "../../client/options.js";
import type { Params } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import { CallGate, type CallLimits } from "./call-gate.js";
import { CallerConnections } from "./caller-connections.js";
import { CircuitBreaker, isServerFailure } from "./circuit-breaker.js";
import { type PassedCall, RemoteConnection } from "./remote-connection.js";

/** What a host knows of one of its servers before it is connected. */
export interface RemoteServerParts {
  readonly name: string;
  readonly target: Target | LocalServer;
  readonly options: ClientOptions;
  readonly platform: Platform;
  readonly limits: CallLimits;
  /** Connections that share the calls. */
  readonly connections: number;
  /** Whether a further connection starts the server once more. */
  readonly startsAnew: boolean;
  readonly isolation: "shared" | "client";
  /** What shared connections declare that callers can be asked for; undefined where only the application answers. */
  readonly asked: ClientCapabilities | undefined;
  /** Whether annotations of the server's tools decide what is sent again. */
  readonly trusted: boolean;
  /** Milliseconds that a call waits for a server that is starting or being restarted. */
  readonly waitMs: number;
}

/** A call to be sent to a server of the host. */
export interface OutgoingRequest {
  readonly method: string;
  readonly params: Params;
  readonly call: PassedCall;
  readonly options: CallOptions;
  readonly extras: CallExtras;
}

/** One server of a host: its connections, and the calls that it gets. */
export class RemoteServer {
  readonly name: string;
  readonly parts: RemoteServerParts;
  readonly gate: CallGate;
  readonly circuit: CircuitBreaker;
  /** Why there is no connection now, if it is known. */
  lastError: McpError | undefined;
  readonly #own = new Set<RemoteConnection>();
  readonly #others: CallerConnections;
  /** Those that wait for a connection. */
  #waiting: ((connection: RemoteConnection | McpError) => void)[] = [];
  #answered: (() => void) | undefined;

  constructor(parts: RemoteServerParts) {
    const { name, platform } = parts;
    this.name = name;
    this.parts = parts;
    this.gate = new CallGate({ platform, server: name }, parts.limits);
    this.circuit = new CircuitBreaker({ platform, server: name });
    this.#others = new CallerConnections(parts);
  }

  /** Called with every answer of the server. */
  set onAnswered(act: () => void) {
    this.#answered = act;
  }

  /** The client of a connection that stands, for the application's own use. */
  get client(): Client | undefined {
    return this.#leastBusy()?.client;
  }

  /** Opens one of the server's own connections; its owner calls `adopt` when it can be used. */
  open(signal: AbortSignal): Promise<RemoteConnection> {
    const { name, target, options, asked } = this.parts;
    return RemoteConnection.open({ name, target, options: { ...options, signal }, capabilities: asked });
  }

  adopt(connection: RemoteConnection): void {
    this.lastError = undefined;
    this.#own.add(connection);
    void connection.ended().then(() => this.#own.delete(connection));
    for (const settle of this.#waiting.splice(0)) settle(connection);
  }

  /** The server will not be there soon: who waits for it is told why. */
  failed(error: McpError): void {
    this.lastError = error;
    for (const settle of this.#waiting.splice(0)) settle(unavailable(this.name, error));
  }

  /** The connection for calls of somebody who can be asked for `askable`; `caller` tells clients of a gateway apart. */
  async connection(askable: ClientCapabilities, caller: unknown, signal?: AbortSignal): Promise<RemoteConnection> {
    const own = this.#leastBusy() ?? (await this.#standing(signal));
    const { isolation, startsAnew, asked } = this.parts;
    if (isolation === "client") return this.#others.of(JSON.stringify(askable), askable, caller);
    // Where requests say what the caller can be asked for, or one process must serve all, they share.
    if (!own.asksByRequest || startsAnew) return own;
    const key = JSON.stringify(askable);
    return key === JSON.stringify(asked ?? {}) ? own : this.#others.of(key, askable, undefined);
  }

  /** Sends a request within the limits of the server. A request that was lost with its connection is sent once more if that is safe. */
  async request(
    { method, params, call, options, extras }: OutgoingRequest,
    connection: RemoteConnection,
  ): Promise<Record<string, unknown> | InterimResult> {
    const admission = this.circuit.admit();
    let entered = false;
    try {
      const turn = this.gate.enter(options.signal, keyOf(call.caller));
      if (turn !== undefined) await turn;
      entered = true;
      const result = await connection.pass(method, params, call, options, this.#extras(extras));
      this.circuit.succeeded(admission);
      this.#answered?.();
      return result;
    } catch (error) {
      if (isServerFailure(error)) this.circuit.failed(admission);
      else if (McpError.is(error) && error.remote) this.circuit.succeeded(admission);
      else this.circuit.abandoned(admission);
      throw error;
    } finally {
      if (entered) this.gate.leave();
    }
  }

  /** Whether a call that was lost with its connection may be sent again. */
  mayRepeat(method: string, error: unknown): boolean {
    if (!McpError.is(error) || (error.kind !== "connection_closed" && error.kind !== "session_lost")) return false;
    return CORE_TABLE.get(method)?.idempotent === true;
  }

  async close(): Promise<void> {
    this.failed(new McpError("connection_closed", `the server "${this.name}" was stopped`));
    this.gate.close();
    await this.#others.close();
  }

  /** What an untrusted server says of its own tools decides nothing. */
  #extras(extras: CallExtras): CallExtras {
    return this.parts.trusted ? extras : { ...extras, idempotent: false };
  }

  #leastBusy(): RemoteConnection | undefined {
    let best: RemoteConnection | undefined;
    for (const connection of this.#own) if (best === undefined || connection.running < best.running) best = connection;
    return best;
  }

  #standing(signal: AbortSignal | undefined): Promise<RemoteConnection> {
    if (this.lastError !== undefined) throw unavailable(this.name, this.lastError);
    const { platform, waitMs } = this.parts;
    return new Promise((resolve, reject) => {
      const settle = (outcome: RemoteConnection | McpError) => {
        timer.cancel();
        signal?.removeEventListener("abort", cancelled);
        this.#waiting = this.#waiting.filter((one) => one !== settle);
        if (outcome instanceof RemoteConnection) resolve(outcome);
        else reject(outcome);
      };
      const cancelled = () => settle(new McpError("cancelled", "the call was cancelled", { cause: signal?.reason }));
      const late = () => settle(notInTime(this.name, waitMs));
      const timer = platform.timer(waitMs, late, true);
      this.#waiting.push(settle);
      signal?.addEventListener("abort", cancelled);
      if (signal?.aborted === true) cancelled();
    });
  }
}

function keyOf(caller: unknown): string {
  return typeof caller === "string" ? caller : "";
}

function unavailable(name: string, cause: McpError): McpError {
  return new McpError("connection_closed", `the server "${name}" is not available: ${cause.message}`, {
    cause,
    fix: cause.fix,
  });
}

function notInTime(name: string, ms: number): McpError {
  return new McpError("timeout", `the server "${name}" was not ready within ${ms} ms`, {
    data: { limit: "waitMs", ms },
    fix: "Try again later, or look at the status of the server; `startMs` is how long it may take to start.",
  });
}
