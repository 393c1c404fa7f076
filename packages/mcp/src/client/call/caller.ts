import type { Outcome, OutgoingCall } from "../../era/era.js";
import { RpcError } from "../../jsonrpc/error.js";
import { type Id, isId, isObject, type Params } from "../../jsonrpc/message.js";
import { fromWire, McpError } from "../../protocol/error.js";
import type { ProgressNotificationParams } from "../../protocol/lifecycle.js";
import type { MethodRow } from "../../protocol/methods.js";
import { featuresOf } from "../../protocol/revisions.js";
import { readTrace, traceMeta } from "../../protocol/trace-context.js";
import type { Answerer } from "../answers/answerer.js";
import type { Link } from "../connection/connection.js";
import { type ClientMiddleware, throughMiddleware } from "../middleware.js";
import type { CallOptions } from "../options.js";
import { onAbort } from "./abort-watch.js";
import type { CachedCalls } from "./cache.js";
import { Deadlines } from "./deadlines.js";
import { Offers } from "./offers.js";
import { PendingCall } from "./pending-call.js";
import { afterLoss } from "./resend.js";
import { Rounds } from "./rounds.js";

export type Result = Record<string, unknown>;

/** More than the user says about a call: what a feature adds on the way. */
export interface CallExtras {
  paramHeaders?: Record<string, string>;
  /** The call is known to be safe to repeat, whatever its method says. */
  idempotent?: boolean;
  /** Sent while the connection recovers, as a part of that. */
  recovering?: boolean;
  /** Told the id of each request that stands for the call. */
  onSent?(id: Id): void;
}

/** All that a feature needs: it sends requests, and says what it had to mend. */
export interface Requester {
  readonly strict: boolean;
  call(method: string, params?: Params, options?: CallOptions, extras?: CallExtras): Promise<Result>;
  warn(message: string): void;
}

const NOTHING: CallOptions & CallExtras = Object.freeze({});

/** The one path out and back: every request of the client goes through `call`. */
export class Caller implements Requester {
  readonly strict: boolean;
  readonly middleware: ClientMiddleware[] = [];
  readonly deadlines: Deadlines;
  readonly #link: Link;
  readonly #cache: CachedCalls | undefined;
  readonly #offers: Offers;
  readonly #rounds: Rounds;
  readonly #pending = new Map<Id, PendingCall>();

  constructor(link: Link, answerer: Answerer, cache: CachedCalls | undefined) {
    this.#link = link;
    this.#offers = new Offers(link);
    this.#rounds = new Rounds(link, answerer);
    this.#cache = cache;
    this.strict = link.options.strict === true;
    this.deadlines = new Deadlines(link.platform);
  }

  /** Requests that wait for their answer. */
  get inFlight(): number {
    return this.#pending.size;
  }

  /** Sends a request, answers what the server asks meanwhile, and gives the complete result. */
  call(method: string, params?: Params, options: CallOptions = NOTHING, extras: CallExtras = NOTHING): Promise<Result> {
    if (this.middleware.length === 0) return this.#start(method, params, options, extras);
    return throughMiddleware(this.middleware, method, params, options, (given, said) =>
      this.#start(method, given, said, extras),
    );
  }

  /** Sends a notification. */
  async notify(method: string, params?: Params): Promise<void> {
    await this.#link.ready();
    await this.#link.transport.notify(this.#link.established.era.notice(method, params));
  }

  /** Routes progress to the call that it belongs to; false when nobody waits for it. */
  progress(params: Params | undefined): boolean {
    const token = params?.["progressToken"];
    const pending = isId(token) ? this.#pending.get(token) : undefined;
    if (pending === undefined || !isObject(params) || typeof params["progress"] !== "number") return false;
    try {
      // The two required members were checked; the rest is optional.
      pending.progress(params as unknown as ProgressNotificationParams, this.#link.platform.now());
    } catch (error) {
      this.warn(`\`onProgress\` threw: ${error instanceof Error ? error.message : String(error)}`);
    }
    return true;
  }

  /** Something was said about a call: it lives. Without a name it can only be the one call in flight. */
  heard(about: Id | undefined): void {
    const call = about === undefined ? this.#only() : this.#pending.get(about);
    call?.sign(this.#link.platform.now());
  }

  warn(message: string): void {
    const { options, platform } = this.#link;
    if (options.onWarning === undefined) platform.warn(message);
    else options.onWarning(message);
  }

  stop(): void {
    this.deadlines.stop();
  }

  #only(): PendingCall | undefined {
    return this.#pending.size === 1 ? this.#pending.values().next().value : undefined;
  }

  #start(method: string, params: Params | undefined, options: CallOptions, extras: CallExtras): Promise<Result> {
    const row = this.#link.methods.get(method);
    if (row?.cacheable === true && options.cache !== false) {
      const kept = this.#cache?.find(method, params, this.#link.platform.now());
      if (kept !== undefined && this.#link.state !== "closed") return Promise.resolve(kept);
    }
    return this.#run(method, row, params, options, extras);
  }

  #run(
    method: string,
    row: MethodRow | undefined,
    params: Params | undefined,
    options: CallOptions,
    extras: CallExtras,
  ): Promise<Result> {
    const { signal } = options;
    if (signal?.aborted === true) return Promise.reject(cancelled(method, signal));
    const call = new PendingCall(
      this.#outgoing(method, params, options, extras),
      row,
      options,
      extras,
      this.#link.platform.now(),
      this.#link.timeouts,
      this.#stop,
    );
    this.#enter(call);
    try {
      const wait = extras.recovering === true ? undefined : this.#link.ready();
      if (wait === undefined) return this.#send(call);
      return call.during(wait).then(
        () => this.#send(call),
        (error) => this.#fail(call, error),
      );
    } catch (error) {
      return this.#fail(call, error);
    }
  }

  #outgoing(method: string, params: Params | undefined, options: CallOptions, extras: CallExtras): OutgoingCall {
    const out: OutgoingCall = { method, params };
    if (this.#link.logLevel !== undefined) out.logLevel = this.#link.logLevel;
    if (extras.paramHeaders !== undefined) out.paramHeaders = extras.paramHeaders;
    // Reading it again leaves out what is malformed: tracing never breaks a call.
    const trace = readTrace(options.trace ?? this.#link.options.trace?.());
    if (trace !== undefined) out.meta = { ...traceMeta(trace), ...options.meta };
    else if (options.meta !== undefined) out.meta = options.meta;
    return out;
  }

  /** Sends what stands for the call now. Never throws. */
  #send(call: PendingCall): Promise<Result> {
    const link = this.#link;
    try {
      if (call.stopped !== undefined) throw call.stopped;
      this.#offers.require(call.row);
      const id = link.nextId();
      call.sent(id, link.epoch, link.platform.now());
      call.generation = this.#cache?.generation ?? 0;
      call.out.progressToken = id;
      const message = link.established.era.encode(id, call.out);
      this.#pending.set(id, call);
      call.extras.onSent?.(id);
      return link.transport.request(message).then(
        (result) => this.#arrived(call, id, result),
        (error) => this.#lost(call, id, error),
      );
    } catch (error) {
      return this.#fail(call, error instanceof TypeError ? unsendable(call, error) : error);
    }
  }

  #arrived(call: PendingCall, id: Id, result: unknown): Result | Promise<Result> {
    this.#pending.delete(id);
    call.id = undefined;
    this.#link.alive();
    let outcome: Outcome;
    try {
      outcome = this.#link.established.era.decode(call.out.method, result);
    } catch (error) {
      return this.#fail(call, error);
    }
    if (outcome.kind === "input") return this.#ask(call, outcome);
    this.#leave(call);
    if (call.row?.cacheable === true) this.#keep(call, outcome.result);
    return outcome.result;
  }

  #keep(call: PendingCall, result: Result): void {
    // Results that came after answers, or from before a change, are good for their caller only.
    if (this.#cache === undefined || call.rounds > 0 || call.generation !== this.#cache.generation) return;
    if (!featuresOf(this.#link.established.era.revision).cacheHints) return;
    this.#cache.keep(call.out.method, call.out.params, result, this.#link.platform.now());
  }

  /** Answers a round of questions and sends the call again. */
  async #ask(call: PendingCall, outcome: Outcome & { kind: "input" }): Promise<Result> {
    try {
      call.paused = true;
      call.out.inputs = await this.#rounds.answer(call, outcome);
      call.paused = false;
      this.deadlines.renew(call);
      const wait = this.#link.ready();
      if (wait !== undefined) await call.during(wait);
    } catch (error) {
      return this.#fail(call, error);
    }
    return this.#send(call);
  }

  /** The request ended without a result: the call fails, or is sent once more when that is safe. */
  #lost(call: PendingCall, id: Id, reason: unknown): Promise<Result> {
    this.#pending.delete(id);
    call.id = undefined;
    const error = reason instanceof RpcError ? fromWire(reason) : McpError.from(reason);
    // A cursor that the server no longer takes: the other pages are of the same lost past.
    if (call.row?.cacheable === true && error.kind === "invalid_params") this.#cache?.forget(call.out.method);
    try {
      const again = afterLoss(this.#link, call, error);
      if (again === undefined) return this.#fail(call, error);
      call.replayed = true;
      return call.during(again).then(
        () => this.#send(call),
        // What ended the wait says more than the loss only when it was the caller or a deadline.
        (late) => this.#fail(call, isOwnEnd(late) ? late : error),
      );
    } catch {
      return this.#fail(call, error);
    }
  }

  #enter(call: PendingCall): void {
    if (call.total !== Number.POSITIVE_INFINITY || call.idle !== Number.POSITIVE_INFINITY) this.deadlines.add(call);
    const { signal } = call.options;
    if (signal === undefined) return;
    call.unwatch = onAbort(signal, () => this.#stop(call, cancelled(call.out.method, signal)));
  }

  #leave(call: PendingCall): void {
    this.deadlines.remove(call);
    call.unwatch?.();
  }

  #fail(call: PendingCall, error: unknown): Promise<never> {
    this.#leave(call);
    return Promise.reject(McpError.from(error));
  }

  /** Ends a call before its answer: here at once, and at the server as its era says it. */
  readonly #stop = (call: PendingCall, reason: McpError): void => {
    const { id } = call;
    if (id === undefined) return call.interrupt(reason);
    const { transport, established } = this.#link;
    const notice = call.row?.cancellable === false ? undefined : established.era.cancel(id, reason.message);
    if (notice !== undefined) {
      try {
        Promise.resolve(transport.notify(notice)).catch(() => {});
      } catch {
        // A pipe that ended cannot be told, and needs not be.
      }
    }
    transport.abandon(id, reason);
  };
}

function cancelled(method: string, signal: AbortSignal): McpError {
  return new McpError("cancelled", `${method} was cancelled by its caller`, {
    cause: signal.reason,
    fix: "Nothing is to be changed when the cancellation was meant.",
  });
}

function unsendable({ out }: PendingCall, cause: TypeError): McpError {
  return new McpError("invalid_params", `the parameters of ${out.method} cannot be written as JSON: ${cause.message}`, {
    cause,
    fix: "Pass plain data: no cycles, no BigInt.",
  });
}

function isOwnEnd(error: unknown): boolean {
  return McpError.is(error) && (error.kind === "timeout" || error.kind === "cancelled");
}
