import { isThenable } from "../../encoding/maybe-promise.js";
import type { Id } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import type { Middleware } from "../middleware.js";
import type { CallEnded, CallStarted, Observer } from "../observer.js";
import { nameOf } from "./call-failure.js";
import type { ServerCall } from "./server-call.js";

/** What every call of a server passes through: preparation, middleware, observers. */
export class Pipeline {
  readonly middleware: Middleware[] = [];
  /** Replaced and never changed in place, so that an observer may remove itself while it is being called. */
  observers: readonly Observer[] = [];
  /** Must resolve before a call is served; a rejection is the answer. Absent for servers with nothing to prepare. */
  gate: (() => Promise<void>) | undefined;
  /** Serves a call, or refuses it in the name of a limit. Absent for servers without `quotas`. */
  limits: ((call: ServerCall, next: () => object | Promise<object>) => object | Promise<object>) | undefined;
  /** Must resolve before a handshake is answered; a rejection refuses it. */
  sessionOpening: ((call: ServerCall) => Promise<void>) | undefined;
  /** Called once by `close`. */
  readonly closers: (() => void | Promise<void>)[] = [];
  /** Said once, because careless clients send many. */
  warnedOfEarlyRequests = false;
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Runs a call and notifies the observers of its start and end. */
  observed<A extends { text: string }>(call: ServerCall, answer: () => A | Promise<A>): A | Promise<A> {
    const started = startedOf(call);
    this.#notify("started", started);
    const since = this.#platform.monotonic();
    const end = (answered: A): A => {
      const { outcome = "ok", error, failure } = call.end ?? {};
      const durationMs = this.#platform.monotonic() - since;
      const ended: CallEnded = { ...started, durationMs, outcome, error, failure, length: answered.text.length };
      this.#notify("ended", ended);
      return answered;
    };
    const answering = answer();
    return isThenable(answering) ? answering.then(end) : end(answering);
  }

  /** Notifies the observers of a request that was refused before it became a call. */
  refused(method: string, requestId: Id | undefined, error: unknown): void {
    this.#notify("refused", { method, requestId, error });
  }

  #notify<K extends keyof Observer>(event: K, what: Parameters<NonNullable<Observer[K]>>[0]): void {
    for (const observer of this.observers) {
      // The type ties each event to what is told of it, which the compiler loses for a key that may be any of them.
      callHook(this.#platform, `observer.${event}`, () => observer[event]?.(what as never));
    }
  }
}

function startedOf(call: ServerCall): CallStarted {
  const { request, ctx } = call;
  return {
    method: request.method,
    name: nameOf(call),
    requestId: request.id,
    protocolVersion: request.revision,
    http: call.exchange.http !== undefined,
    auth: ctx.auth,
    trace: ctx.trace,
  };
}
