import { isThenable } from "../../encoding/maybe-promise.js";
import type { Id } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { Middleware } from "../middleware.js";
import type { CallEnded, CallStarted, Observer } from "../observer.js";
import type { ServerCall } from "./server-call.js";
import { messageOf } from "./thrown.js";

/** What every call of a server passes on its way: preparation, middleware, observers. */
export class Pipeline {
  readonly middleware: Middleware[] = [];
  /** Who hears of calls. Replaced, never changed in place, so that telling them is safe at any moment. */
  observers: readonly Observer[] = [];
  /** Must settle before a call is served; a failure is the answer. Absent for servers with nothing to prepare. */
  gate: (() => Promise<void>) | undefined;
  /** Called once by `close`. */
  readonly closers: (() => void | Promise<void>)[] = [];
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Runs a call and tells the observers of its start and its end. */
  observed<A extends { text: string }>(call: ServerCall, answer: () => A | Promise<A>): A | Promise<A> {
    const started = startedOf(call);
    this.#tell((observer) => observer.started?.(started));
    const since = this.#platform.now();
    const end = (given: A): A => {
      const { outcome = "ok", error } = call.end ?? {};
      const durationMs = this.#platform.now() - since;
      const ended: CallEnded = { ...started, durationMs, outcome, error, length: given.text.length };
      this.#tell((observer) => observer.ended?.(ended));
      return given;
    };
    const given = answer();
    return isThenable(given) ? given.then(end) : end(given);
  }

  /** Tells observers of a request that never became a call. */
  refused(method: string, requestId: Id | undefined, error: unknown): void {
    this.#tell((observer) => observer.refused?.({ method, requestId, error }));
  }

  #tell(what: (observer: Observer) => void): void {
    for (const observer of this.observers) {
      try {
        what(observer);
      } catch (error) {
        this.#platform.warn(`an observer failed: ${messageOf(error)}`);
      }
    }
  }
}

function startedOf(call: ServerCall): CallStarted {
  const { request, row, ctx } = call;
  const named = row.nameField === undefined ? undefined : request.params[row.nameField];
  return {
    method: request.method,
    name: typeof named === "string" ? named : undefined,
    requestId: request.id,
    protocolVersion: request.revision,
    http: call.exchange.http !== undefined,
    auth: ctx.auth,
    trace: ctx.trace,
  };
}
