import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { Call } from "../../era/era.js";
import type { Id } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import type { NetworkInfo, Peer } from "../../transport/transport.js";
import type { CallEnd, CallEnded, CallFollower, CallStarted, Observer, SenderRefused } from "../contract/observer.js";
import { sessionInfo } from "../contract/session-info.js";
import { nameOf } from "./call-failure.js";
import type { Around, Layer } from "./layers.js";
import type { ServerCall } from "./server-call.js";

/** The observers of one server: the outermost layer while there are observers. */
export class Observers implements Layer {
  readonly name = "observers";
  readonly stage = "observed";
  readonly #platform: Platform;
  /** Replaced and never changed in place, so that an observer may remove itself while it is called. */
  #observers: readonly Observer[] = [];
  /** When each peer was opened. Recorded only while there are observers. */
  readonly #openedAt = new WeakMap<Peer, number>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Adds an observer. Returns a function that removes it. */
  add(observer: Observer, server: object): () => void {
    observer.attached?.(server);
    this.#observers = [...this.#observers, observer];
    return () => {
      this.#observers = this.#observers.filter((known) => known !== observer);
    };
  }

  get around(): Around | undefined {
    return this.#observers.length === 0 ? undefined : (call, next) => this.observe(call, () => next(call));
  }

  /** Runs a call and notifies the observers of its start. `call.ended` notifies them of its end. */
  observe(call: ServerCall, next: () => MaybePromise<object>): MaybePromise<object> {
    const started = startedOf(call);
    const followers: CallFollower[] = [];
    let outcome: { readonly result: MaybePromise<object> } | { readonly error: unknown } | undefined;
    let run = () => {
      if (outcome !== undefined) return;
      try {
        outcome = { result: next() };
      } catch (error) {
        outcome = { error };
      }
    };
    for (const observer of this.#observers) {
      if (observer.follow === undefined) continue;
      callHook(this.#platform, "observer.follow", () => {
        const follower = observer.follow?.(started);
        if (follower !== undefined) {
          followers.push(follower);
          run = this.#within(follower, run);
        }
        return follower;
      });
    }
    call.followers = call.followers === undefined ? followers : [...call.followers, ...followers];
    this.#notify("started", started);
    const since = this.#platform.monotonic();
    call.ended = (end, length) => {
      const ended = endedOf(started, this.#platform.monotonic() - since, end, length);
      for (const follower of followers) callHook(this.#platform, "ended", () => follower.ended?.(ended));
      this.#notify("ended", ended);
    };
    run();
    // The compiler does not see that `run` has set `outcome`.
    const given = outcome as { readonly result: MaybePromise<object> } | { readonly error: unknown } | undefined;
    if (given === undefined || "error" in given) throw given?.error;
    return given.result;
  }

  /**
   * Returns a function that runs `inner` inside the follower's `within`, and then calls `inner` once more in case the
   * follower did not. A second call of `inner` does nothing.
   */
  #within(follower: CallFollower, inner: () => void): () => void {
    return () => {
      callHook(this.#platform, "within", () => follower.within?.(inner));
      inner();
    };
  }

  opened(peer: Peer): void {
    if (this.#observers.length === 0) return;
    this.#openedAt.set(peer, this.#platform.monotonic());
    this.#notify("sessionOpened", sessionInfo(peer));
  }

  closed(peer: Peer): void {
    const since = this.#openedAt.get(peer);
    if (since === undefined || !this.#openedAt.delete(peer)) return;
    this.#notify("sessionClosed", { ...sessionInfo(peer), durationMs: this.#platform.monotonic() - since });
  }

  /** Notifies the observers of a request that was refused before it became a call. */
  refused(method: string, requestId: Id | undefined, error: unknown): void {
    this.#notify("refused", { method, requestId, error });
  }

  /** Notifies the observers of a sender that authentication refused. */
  senderRefused({ status, reason }: SenderRefused): void {
    this.#notify("senderRefused", { status, reason });
  }

  #notify<K extends keyof Observer>(event: K, what: Parameters<NonNullable<Observer[K]>>[0]): void {
    for (const observer of this.#observers) {
      // The signature ties each event to its argument, but the compiler cannot follow this for a generic key.
      callHook(this.#platform, `observer.${event}`, () => observer[event]?.(what as never));
    }
  }
}

/** Returns the `uri` in the params of a request, for methods without a name parameter. */
function uriOf({ params: { uri } }: Call): string | undefined {
  return typeof uri === "string" ? uri : undefined;
}

const OVER_HTTP: NetworkInfo = { transport: "tcp", protocol: "http" };

function startedOf(call: ServerCall): CallStarted {
  const { request, ctx, exchange } = call;
  const { http, peer } = exchange;
  return {
    method: request.method,
    name: nameOf(call) ?? uriOf(request),
    requestId: request.id,
    protocolVersion: request.revision,
    http: http !== undefined,
    sessionId: peer?.id,
    network: http === undefined ? peer?.network : OVER_HTTP,
    remoteAddress: http?.remoteAddress,
    auth: ctx.auth,
    trace: ctx.trace,
  };
}

/** Copies the members one by one, because a spread of so many members takes a third of the time of a call. */
function endedOf(started: CallStarted, durationMs: number, end: CallEnd, length: number): CallEnded {
  return {
    method: started.method,
    name: started.name,
    requestId: started.requestId,
    protocolVersion: started.protocolVersion,
    http: started.http,
    sessionId: started.sessionId,
    network: started.network,
    remoteAddress: started.remoteAddress,
    auth: started.auth,
    trace: started.trace,
    durationMs,
    outcome: end.outcome,
    error: end.error,
    failure: end.failure,
    length,
  };
}
