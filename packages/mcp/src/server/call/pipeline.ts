import { isThenable } from "../../encoding/maybe-promise.js";
import type { Call } from "../../era/era.js";
import type { NotificationMiddleware } from "../../era/notification-middleware.js";
import type { Id } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import type { NetworkFacts } from "../../transport/network-facts.js";
import type { Endpoint, Peer } from "../../transport/transport.js";
import type { CallEnd, CallEnded, CallFollower, CallStarted, Observer, SenderRefused } from "../contract/observer.js";
import { sessionInfo } from "../contract/session-info.js";
import { nameOf } from "./call-failure.js";
import type { Middleware } from "./middleware.js";
import type { ServerCall } from "./server-call.js";

/** What every call of a server passes through: preparation, middleware, observers. */
export class Pipeline {
  readonly middleware: Middleware[] = [];
  /** Around notifications; read when the endpoint is made. */
  readonly notifications: NotificationMiddleware[] = [];
  /** Replaced and never changed in place, so that an observer may remove itself while it is being called. */
  observers: readonly Observer[] = [];
  /** Must resolve before a call is served; a rejection is the answer. Absent for servers with nothing to prepare. */
  gate: (() => Promise<void>) | undefined;
  /** Serves a call, or refuses it in the name of a limit. Absent for servers without `quotas`. */
  limits: ((call: ServerCall, next: () => object | Promise<object>) => object | Promise<object>) | undefined;
  /** What transports ask before they open sessions and streams. Absent for servers without such quotas. */
  places: Pick<Endpoint, "sessionPlaces" | "takeStream"> | undefined;
  /** Must resolve before a handshake is answered; a rejection refuses it. */
  sessionOpening: ((call: ServerCall) => Promise<void>) | undefined;
  /** True if a handler object has to end with a session or with the server. */
  endsObjects = false;
  /** Called once by `close`. */
  readonly closers: (() => void | Promise<void>)[] = [];
  /** Said once, because careless clients send many. */
  warnedOfEarlyRequests = false;
  readonly #platform: Platform;
  /** Only while there are observers. */
  readonly #openedAt = new WeakMap<Peer, number>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Adds an observer; returns a function that removes it. */
  observe(observer: Observer, server: object): () => void {
    observer.attached?.(server);
    this.observers = [...this.observers, observer];
    return () => {
      this.observers = this.observers.filter((known) => known !== observer);
    };
  }

  /** Runs a call and notifies the observers of its start and end. */
  observed<A extends { text: string }>(call: ServerCall, answer: () => A | Promise<A>): A | Promise<A> {
    const started = startedOf(call);
    const followers: CallFollower[] = [];
    let answering: A | Promise<A> | undefined;
    let run = () => {
      answering ??= answer();
    };
    for (const observer of this.observers) {
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
    const end = (answered: A): A => {
      const ended = endedOf(started, this.#platform.monotonic() - since, call.end, answered.text.length);
      for (const follower of followers) callHook(this.#platform, "ended", () => follower.ended?.(ended));
      this.#notify("ended", ended);
      return answered;
    };
    run();
    // Whoever follows has run it.
    const given = answering as A | Promise<A>;
    return isThenable(given) ? given.then(end) : end(given);
  }

  /** Runs `inner` within what a follower provides, and in any case. */
  #within(follower: CallFollower, inner: () => void): () => void {
    return () => {
      callHook(this.#platform, "within", () => follower.within?.(inner));
      inner();
    };
  }

  opened(peer: Peer): void {
    if (this.observers.length === 0) return;
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

  /** Notifies the observers of a sender that may not call. */
  senderRefused({ status, reason }: SenderRefused): void {
    this.#notify("senderRefused", { status, reason });
  }

  #notify<K extends keyof Observer>(event: K, what: Parameters<NonNullable<Observer[K]>>[0]): void {
    for (const observer of this.observers) {
      // The type ties each event to what is told of it, which the compiler loses for a key that may be any of them.
      callHook(this.#platform, `observer.${event}`, () => observer[event]?.(what as never));
    }
  }
}

/** The URI of requests that name a resource without a header for it. */
function uriOf({ params: { uri } }: Call): string | undefined {
  return typeof uri === "string" ? uri : undefined;
}

const OVER_HTTP: NetworkFacts = { transport: "tcp", protocol: "http" };

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

/** Written out, because a spread of so many members takes as long as a third of a call. */
function endedOf(started: CallStarted, durationMs: number, end: CallEnd | undefined, length: number): CallEnded {
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
    outcome: end?.outcome ?? "ok",
    error: end?.error,
    failure: end?.failure,
    length,
  };
}
