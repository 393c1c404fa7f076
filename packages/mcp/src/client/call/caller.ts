import { printableMessage } from "../../encoding/printable.js";
import type { ClientEra, Outcome } from "../../era/era.js";
import { RpcError } from "../../jsonrpc/error.js";
import { type Id, isId, isObject, type Params } from "../../jsonrpc/message.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import { callHook } from "../../platform/call-hook.js";
import { onAbort } from "../../platform/on-abort.js";
import { checkOptions } from "../../protocol/check-options.js";
import { fromWire, McpError } from "../../protocol/error.js";
import type { ProgressNotificationParams } from "../../protocol/lifecycle.js";
import type { Outgoing } from "../../transport/transport.js";
import { type Answerer, withSafePages } from "../answers/answerer.js";
import type { ClientConnection } from "../connection/connection.js";
import type { CurrentConnection } from "../connection/current-connection.js";
import type { RequestObservers } from "../connection/request-observers.js";
import type { CachedCalls } from "../contract/cache.js";
import type { ClientExtensions } from "../contract/extension.js";
import { type ClientMiddleware, throughClientMiddleware } from "../contract/middleware.js";
import type { CallOptions } from "../contract/options.js";
import { CallDeadlines } from "./call-deadlines.js";
import {
  abandoned,
  cannotContinue,
  closing,
  expired,
  isTimeoutOrCancel,
  metaOf,
  notOffered,
  type PendingCall,
  unsendable,
} from "./pending-call.js";
import { cancelled, rejected } from "./read-result.js";
import { type CallExtras, InterimResult, type Requester } from "./requester.js";
import { waitBeforeResend } from "./resend.js";
import { answerRound } from "./rounds.js";

type Result = Record<string, unknown>;

const NO_OPTIONS: CallOptions = Object.freeze({});
const NO_EXTRAS: CallExtras = Object.freeze({});
/**
 * Maximum number of abandoned requests that are stored, in case their results arrive later. Beyond that, the oldest is
 * dropped, and its late result is ignored.
 */
const MAX_GIVEN_UP = 1000;

/** A call that was abandoned while a request of it was in flight. */
interface GivenUpCall {
  readonly method: string;
  readonly era: ClientEra;
  readonly reason: McpError;
}

/** Sends all requests of a client and processes their answers. */
export class Caller implements Requester {
  readonly strict: boolean;
  readonly middleware: ClientMiddleware[] = [];
  readonly deadlines: CallDeadlines<PendingCall>;
  readonly observers: RequestObservers | undefined;
  readonly #connection: ClientConnection;
  readonly #answerer: Answerer;
  readonly #cache: CachedCalls | undefined;
  readonly #extensions: ClientExtensions;
  readonly #pending = new Map<Id, PendingCall>();
  readonly #givenUp = new BoundedMap<Id, GivenUpCall>(MAX_GIVEN_UP);
  #draining = false;

  constructor(
    connection: ClientConnection,
    answerer: Answerer,
    cache: CachedCalls | undefined,
    extensions: ClientExtensions,
    observers: RequestObservers | undefined,
  ) {
    this.#connection = connection;
    this.#extensions = extensions;
    this.#answerer = answerer;
    this.#cache = cache;
    this.observers = observers;
    this.strict = connection.options.strict === true;
    this.deadlines = new CallDeadlines(connection.platform, {
      expire: (call, which) => this.#stop(call, expired(call, which)),
      abandon: (call) => this.#interrupt(call, abandoned(call)),
    });
  }

  /** Sends a request, answers the server's questions meanwhile, and returns the complete result. */
  call(
    method: string,
    params?: Params,
    options: CallOptions = NO_OPTIONS,
    extras: CallExtras = NO_EXTRAS,
  ): Promise<Result> {
    try {
      // The library builds the options of forwarded calls, so they need no check.
      if (options !== NO_OPTIONS && extras.forwarded === undefined) checkCallOptions(options);
      if (this.#draining) throw closing(method);
      if (this.middleware.length === 0) return this.#prepare(method, params, options, extras);
      return throughClientMiddleware(this.middleware, method, params, options, (changedParams, changedOptions) =>
        this.#prepare(method, changedParams, changedOptions, extras),
      );
    } catch (error) {
      // Errors such as an unknown option, or a call on a client that is being closed.
      return rejected(error, method, params);
    }
  }

  /** Sends a notification. */
  async notify(method: string, params?: Params): Promise<void> {
    await this.#connection.ready();
    const { transport, era } = this.#connection.established;
    await transport.notify(era.notification(method, params));
  }

  /**
   * Routes a progress notification to its call. Progress that does not increase only restarts the idle deadline.
   *
   * Spec: Progress, "Progress Flow", https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress#progress-flow
   */
  progress(params: Params | undefined): void {
    const token = params?.["progressToken"];
    const call = isId(token) ? this.#pending.get(token) : undefined;
    if (call === undefined || !isObject(params) || typeof params["progress"] !== "number") return;
    // Safe: the required members were checked, and the others are optional.
    const known = params as unknown as ProgressNotificationParams;
    call.lastActivity = call.lastSign = this.#connection.platform.monotonic();
    if (known.progress <= call.lastProgress) return;
    call.lastProgress = known.progress;
    const { onProgress } = call.options;
    if (onProgress !== undefined)
      callHook(
        (message) => this.warn(message),
        "onProgress",
        () => onProgress(known),
      );
  }

  /**
   * Restarts the idle deadline of a call after a message about it. A message without an id counts only if one call is
   * in flight.
   */
  noteActivity(about: Id | undefined): void {
    const only = this.#pending.size === 1 ? this.#pending.values().next().value : undefined;
    const call = about === undefined ? only : this.#pending.get(about);
    if (call !== undefined) call.lastActivity = call.lastSign = this.#connection.platform.monotonic();
  }

  /**
   * Handles the result of an abandoned call. An extension can release what the server created for the call, such as a
   * task.
   */
  handleLateResult(id: Id, result: unknown): void {
    const call = this.#givenUp.get(id);
    if (call === undefined) return;
    this.#givenUp.delete(id);
    const { method, era, reason } = call;
    (async () => {
      const outcome = era.decode(method, result);
      if (outcome.kind !== "extension") return;
      const signal = AbortSignal.abort(reason);
      const about = { method, params: undefined, options: NO_OPTIONS, signal, liftDeadline() {} };
      await this.#extensions.complete({ ...about, resultType: outcome.type, result: outcome.result });
    })().catch(() => {});
  }

  /**
   * Pauses the idle deadline of a call that waits for a user, for example for a login, until the returned function is
   * called.
   */
  userWait(about: Id | undefined): () => void {
    const call = about === undefined ? undefined : this.#pending.get(about);
    // While there is no connection, all calls wait for it, so the deadlines of all calls are paused.
    if (call === undefined) return this.#connection.current === undefined ? this.deadlines.holdAll() : () => {};
    const [release, released] = [this.deadlines.hold([call]), call.extras.onUserWait?.()];
    return () => {
      release();
      released?.();
    };
  }

  warn(message: string): void {
    const { options, platform } = this.#connection;
    if (options.onWarning === undefined) platform.warn(message);
    else callHook(platform, "onWarning", () => options.onWarning?.(printableMessage(message)));
  }

  /** Rejects new calls and waits up to `ms` for those in flight. */
  drain(ms: number): Promise<void> {
    this.#draining = true;
    return this.deadlines.drain(ms, this.#connection.closing.signal);
  }

  /**
   * Ends a call before it is answered. Rejects the call at once, and ends it at the server as the era of the server
   * requires.
   *
   * Spec: Cancellation, "Transport-Specific Cancellation",
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#transport-specific-cancellation
   */
  #stop(call: PendingCall, reason: McpError): void {
    const { id, connection } = call;
    // Needed even with a request in flight: its result may have just arrived and start another round.
    this.#interrupt(call, reason);
    if (id === undefined || connection === undefined) return;
    const { transport, era } = connection;
    this.#givenUp.set(id, { method: call.out.method, era, reason });
    const notice = call.row?.cancellable === false ? undefined : era.cancel(id, reason.message);
    // Ignore a failure: if the connection is closed, the server need not be notified.
    if (notice !== undefined) (async () => transport.notify(notice))().catch(() => {});
    transport.abandon(id, reason);
  }

  /** Rejects the current wait of a call, or its next one. */
  #interrupt(call: PendingCall, reason: McpError): void {
    call.stopped ??= reason;
    call.interrupt?.(reason);
  }

  /** Waits for `work`, or until the call is stopped. */
  #untilStopped<T>(call: PendingCall, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      call.interrupt = reject;
      if (call.stopped !== undefined) reject(call.stopped);
      work().then(resolve, reject);
    }).finally(() => {
      call.interrupt = undefined;
    });
  }

  /** Waits for `work` with the idle deadline paused. The signal is aborted if the call ends before the work. */
  async #whilePaused<T>(call: PendingCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ended = new AbortController();
    call.paused++;
    try {
      return await this.#untilStopped(call, () => work(ended.signal));
    } catch (error) {
      ended.abort(error);
      throw error;
    } finally {
      call.paused--;
    }
  }

  /** Lets an extension change the parameters, then starts the call. */
  #prepare(method: string, params: Params | undefined, options: CallOptions, extras: CallExtras): Promise<Result> {
    const change = this.#extensions.outgoing.get(method);
    if (change === undefined) return this.#start(method, params, options, extras);
    const failed = (error: unknown) => rejected(error, method, params);
    return change(params, options).then((changed) => this.#start(method, changed, options, extras), failed);
  }

  #start(method: string, params: Params | undefined, options: CallOptions, extras: CallExtras): Promise<Result> {
    const connection = this.#connection;
    const row = connection.methods.get(method);
    const now = connection.platform.monotonic();
    if (row?.cacheable === true && options.cache !== false) {
      const cached = this.#cache?.find(method, params, now);
      if (cached !== undefined && connection.state !== "closed") return Promise.resolve(cached);
    }
    const { signal, timeouts } = options;
    if (signal?.aborted === true) return rejected(cancelled(method, signal), method, params);
    const { forwarded } = extras;
    const endless = row?.deadlineExempt === true;
    const traced = options.trace !== undefined || connection.options.trace !== undefined;
    const call: PendingCall = {
      out: {
        method,
        params,
        progressToken: undefined,
        logLevel: forwarded?.logLevel ?? connection.logLevel,
        inputs: forwarded?.inputs,
        capabilities: forwarded?.capabilities,
        mirrored: extras.mirrored,
        meta: traced ? metaOf(options, connection.options, (message) => this.warn(message)) : options.meta,
      },
      row,
      options,
      extras,
      started: now,
      lastActivity: now,
      idle: endless ? Number.POSITIVE_INFINITY : (timeouts?.idleMs ?? connection.timeouts.idleMs),
      total: endless ? Number.POSITIVE_INFINITY : (timeouts?.totalMs ?? connection.timeouts.totalMs),
      paused: 0,
      id: undefined,
      firstId: undefined,
      connection: undefined,
      generation: 0,
      resent: false,
      rounds: 0,
      emptyRounds: 0,
      questions: 0,
      lastProgress: Number.NEGATIVE_INFINITY,
      lastSign: undefined,
      stopped: undefined,
      interrupt: undefined,
      unwatch: undefined,
    };
    const { deadlines } = this;
    const due = now + Math.min(call.idle, call.total);
    if (due < deadlines.wakesAt || deadlines.openHolds.size > 0) deadlines.add(call);
    // The timer fires before this call is due, and then checks all waits, so the timer need not be set again.
    else if (due !== Number.POSITIVE_INFINITY) deadlines.waiting.add(call);
    if (signal !== undefined) call.unwatch = onAbort(signal, () => this.#stop(call, cancelled(method, signal)));
    return this.#send(call);
  }

  /** Sends the next request of the call as soon as there is a connection. Never throws. */
  #send(call: PendingCall): Promise<Result> {
    const connection = this.#connection;
    try {
      const current = call.extras.recovering === true ? connection.last : connection.current;
      if (current === undefined) {
        return this.#untilStopped(call, () => connection.ready() ?? Promise.resolve()).then(
          () => this.#send(call),
          (error) => this.#fail(call, error),
        );
      }
      if (call.stopped !== undefined) throw call.stopped;
      const { row, out } = call;
      if (call.rounds > 0 && call.connection?.era.revision !== current.era.revision) throw cannotContinue(out.method);
      if (row?.capability !== undefined && !current.offered.has(row.capability)) {
        throw notOffered(row.method, row.capability);
      }
      connection.lastId++;
      const id = connection.lastId;
      call.id = id;
      call.connection = current;
      call.lastActivity = connection.platform.monotonic();
      call.lastProgress = Number.NEGATIVE_INFINITY;
      call.generation = this.#cache?.generation ?? 0;
      out.progressToken = id;
      const { transport, era } = current;
      const observed = this.observers?.startCall(call, id, current);
      const message: Outgoing & { id: Id } = observed?.encode(id, out, era) ?? era.encode(id, out);
      if (call.resent) message.resent = true;
      this.#pending.set(id, call);
      call.extras.onSent?.(id);
      return (observed?.send(out.params, transport, message) ?? transport.request(message)).then(
        (result) => this.#arrived(call, id, current, result),
        (error) => this.#lost(call, id, error),
      );
    } catch (error) {
      return this.#fail(call, error instanceof TypeError ? unsendable(call.out.method, error) : error);
    }
  }

  #arrived(call: PendingCall, id: Id, { era }: CurrentConnection, result: unknown): Result | Promise<Result> {
    this.#pending.delete(id);
    call.id = undefined;
    if (!this.#connection.proved) this.#connection.noteAnswer();
    let outcome: Outcome;
    try {
      outcome = era.decode(call.out.method, result);
    } catch (error) {
      return this.#fail(call, error);
    }
    if (outcome.kind === "input" && call.extras.forwarded === undefined) return this.#ask(call, outcome);
    if (outcome.kind === "extension") return this.#complete(call, outcome);
    this.deadlines.waiting.delete(call);
    call.unwatch?.();
    // Safe: only forwarded calls get interim results, and their owner checks for them.
    if (outcome.kind === "input") return new InterimResult(outcome.questions, outcome.state) as unknown as Result;
    if (call.row?.cacheable === true) this.#saveToCache(call, outcome.result, era.hasCacheHints);
    return outcome.result;
  }

  #saveToCache(call: PendingCall, result: Result, hinted: boolean): void {
    // Do not cache results that depend on answers to questions, or that were requested before a change.
    if (this.#cache === undefined || call.rounds > 0 || call.generation !== this.#cache.generation) return;
    const now = this.#connection.platform.monotonic();
    this.#cache.save(call.out.method, call.out.params, result, now, hinted);
  }

  /** Answers a round of questions and sends the call again. */
  async #ask(call: PendingCall, outcome: Outcome & { kind: "input" }): Promise<Result> {
    try {
      if (call.stopped !== undefined) throw call.stopped;
      call.out.inputs = await this.#whilePaused(call, (signal) =>
        answerRound(this.#connection, this.#answerer, call, outcome, signal),
      );
      // The idle deadline restarts now. The timer is set again only if it would fire after this deadline, which is
      // rare.
      call.lastActivity = this.#connection.platform.monotonic();
      if (call.lastActivity + call.idle < this.deadlines.wakesAt) this.deadlines.renew(call);
    } catch (error) {
      return this.#fail(call, error);
    }
    return this.#send(call);
  }

  /**
   * Lets an extension turn its result type into the complete result. The total deadline applies until the extension
   * lifts it.
   */
  async #complete(call: PendingCall, { type, result }: Outcome & { kind: "extension" }): Promise<Result> {
    const { out, options } = call;
    const liftDeadline = () => {
      if (options.timeouts?.totalMs === undefined) call.total = Number.POSITIVE_INFINITY;
    };
    try {
      return await this.#whilePaused(call, (signal) =>
        this.#extensions.complete({ ...out, resultType: type, result, options, signal, liftDeadline }),
      );
    } catch (error) {
      return this.#fail(call, error);
    } finally {
      this.deadlines.waiting.delete(call);
      call.unwatch?.();
    }
  }

  /** Handles a request that ended without a result: sends it again if that is safe, otherwise fails the call. */
  #lost(call: PendingCall, id: Id, reason: unknown): Promise<Result> {
    this.#pending.delete(id);
    call.id = undefined;
    const error = reason instanceof RpcError ? withSafePages(fromWire(reason)) : McpError.from(reason);
    // The server may have rejected an outdated cursor. The other cached pages are then outdated, too.
    if (call.row?.cacheable === true && error.kind === "invalid_params") this.#cache?.forget(call.out.method);
    try {
      const again = waitBeforeResend(this.#connection, call, error, reason);
      if (again === undefined) return this.#fail(call, error);
      call.resent = true;
      return this.#untilStopped(call, () => again).then(
        () => this.#send(call),
        // Report the error of the wait only if the caller or a deadline ended it. Otherwise the original error says
        // more.
        (late) => this.#fail(call, isTimeoutOrCancel(late) ? late : error),
      );
    } catch {
      return this.#fail(call, error);
    }
  }

  #fail(call: PendingCall, error: unknown): Promise<never> {
    this.deadlines.end(call);
    call.unwatch?.();
    return rejected(error, call.out.method, call.out.params);
  }
}

/** Throws for unknown call options. */
export function checkCallOptions(options: CallOptions): void {
  checkOptions("the call", options, "signal onProgress timeouts meta trace resend cache");
  checkOptions("`timeouts`", options.timeouts, "idleMs totalMs");
}
