import type { ClientEra, EncodedMessage, OutgoingCall } from "../../era/era.js";
import type { ProbedTransport } from "../../era/negotiate/negotiation.js";
import { type Id, isObject, type Params, type RequestMessage } from "../../jsonrpc/message.js";
import { callHook, runWithin } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import type { MethodRow } from "../../protocol/methods.js";
import { readTrace, traceMeta } from "../../protocol/trace-context.js";
import type { Transport } from "../../transport/transport.js";
import type { StateChange } from "../contract/events.js";
import type {
  AnswerEnded,
  AnswerFollower,
  AnswerStarted,
  ClientObserver,
  RequestEnded,
  RequestFollower,
  RequestStarted,
} from "../contract/observer.js";
import type { ClientOptions } from "../contract/options.js";
import type { CurrentConnection } from "./current-connection.js";

/** Creates the dispatcher of a client's observers. Undefined if there are none. */
export function observersOf(platform: Platform, given: ClientOptions["observe"] = []): RequestObservers | undefined {
  const observers = [given].flat();
  return observers.length === 0 ? undefined : new RequestObservers(platform, observers);
}

/** A call whose requests are observed. */
interface ObservedCall {
  readonly out: OutgoingCall;
  readonly row: MethodRow | undefined;
  readonly resent: boolean;
  /** The id of its first request. */
  firstId: Id | undefined;
}

export class RequestObservers {
  readonly #platform: Platform;
  readonly #observers: readonly ClientObserver[];
  #readySince: number | undefined;

  constructor(platform: Platform, observers: readonly ClientObserver[]) {
    this.#platform = platform;
    this.#observers = observers;
  }

  /** Reports a request that is about to be sent. */
  start(started: RequestStarted): ObservedRequest {
    const followers: RequestFollower[] = [];
    for (const observer of this.#observers) {
      callHook(this.#platform, "observer.request", () => {
        const follower = observer.request?.(started);
        if (follower !== undefined) followers.push(follower);
        return follower;
      });
    }
    return new ObservedRequest(this.#platform, started, followers);
  }

  /** Reports the current request of a call. */
  startCall(call: ObservedCall, id: Id, { transport, era }: CurrentConnection): ObservedRequest {
    const { out, row, resent } = call;
    call.firstId ??= id;
    const name = out.params?.[row?.nameField ?? "uri"];
    const trace = out.meta === undefined ? undefined : readTrace(out.meta);
    return this.start({
      ...requestOf(out.method, id, transport),
      name: typeof name === "string" ? name : undefined,
      callId: call.firstId,
      protocolVersion: era.revision,
      attempt: resent ? 2 : 1,
      trace,
    });
  }

  /** Wraps a transport for the handshake, so that the requests of the handshake are observed, too. */
  handshake(transport: Transport): ProbedTransport {
    return {
      kind: transport.kind,
      target: transport.target,
      request: (message) => {
        const observed = this.start(requestOf(message.method, message.id, transport));
        const meta = observed.meta;
        const sent = meta === undefined ? message : { ...message, text: withMeta(message.text, meta) };
        return observed.send(undefined, transport, sent);
      },
      notify: (notification) => transport.notify(notification),
      established: (facts) => transport.established?.(facts),
    };
  }

  /**
   * Answers a request of the server. `respond` returns the text of the answer, or an empty string if the server
   * withdrew the request.
   */
  async answer(
    { id, method, params }: RequestMessage,
    { transport, era }: CurrentConnection,
    respond: () => Promise<string>,
  ): Promise<string> {
    const { sessionId, network, target } = transport;
    const trace = readTrace(params?.["_meta"]);
    const about = { method, requestId: id, protocolVersion: era.revision };
    const started: AnswerStarted = { ...about, sessionId, network, trace, target };
    const followers: AnswerFollower[] = [];
    for (const observer of this.#observers) {
      callHook(this.#platform, "observer.answer", () => {
        const follower = observer.answer?.(started);
        if (follower !== undefined) followers.push(follower);
        return follower;
      });
    }
    if (followers.length === 0) return respond();
    const since = this.#platform.monotonic();
    const text = await runWithin(this.#platform, followers, respond);
    const ended: AnswerEnded = { ...started, durationMs: this.#platform.monotonic() - since, ...endOf(text) };
    for (const follower of followers) callHook(this.#platform, "ended", () => follower.ended?.(ended));
    return text;
  }

  /** Reports a change of the connection's state. */
  state(change: StateChange, transport: Transport | undefined, protocolVersion: string | undefined): void {
    const now = this.#platform.monotonic();
    const sessionMs = this.#readySince === undefined ? undefined : now - this.#readySince;
    this.#readySince = change.state === "ready" ? now : undefined;
    const { target = "", network } = transport ?? {};
    const event = { ...change, target, network, protocolVersion, sessionMs };
    for (const observer of this.#observers) {
      callHook(this.#platform, "observer.state", () => observer.state?.(event));
    }
  }

  /** Reports an invalid message of the server. */
  fault(error: Error): void {
    for (const observer of this.#observers) {
      callHook(this.#platform, "observer.fault", () => observer.fault?.(error));
    }
  }
}

/** One request with its followers. */
class ObservedRequest {
  readonly #platform: Platform;
  readonly #started: RequestStarted;
  readonly #followers: readonly RequestFollower[];

  constructor(platform: Platform, started: RequestStarted, followers: readonly RequestFollower[]) {
    this.#platform = platform;
    this.#started = started;
    this.#followers = followers;
  }

  /** The members of `_meta` that carry the trace context of a follower. */
  get meta(): Record<string, string> | undefined {
    for (const { trace } of this.#followers) if (trace !== undefined) return traceMeta(trace);
    return undefined;
  }

  /**
   * Encodes the message of the call with the trace context in `meta`. A message that cannot be encoded ends the
   * request.
   */
  encode(id: Id, out: OutgoingCall, era: ClientEra): EncodedMessage & { id: Id } {
    const { meta } = this;
    try {
      return era.encode(id, meta === undefined ? out : { ...out, meta: { ...out.meta, ...meta } });
    } catch (error) {
      this.#end(this.#platform.monotonic(), "error", error, out.params, undefined);
      throw error;
    }
  }

  /** Sends the request and reports its end. */
  send(
    params: Params | undefined,
    transport: Pick<Transport, "request">,
    message: Parameters<Transport["request"]>[0],
  ): Promise<unknown> {
    const since = this.#platform.monotonic();
    return runWithin(this.#platform, this.#followers, () => transport.request(message)).then(
      (result) => {
        this.#end(since, outcomeOf(result), undefined, params, result);
        return result;
      },
      (error: unknown) => {
        this.#end(since, "error", error, params, undefined);
        throw error;
      },
    );
  }

  #end(
    since: number,
    outcome: RequestEnded["outcome"],
    error: unknown,
    params: Params | undefined,
    result: unknown,
  ): void {
    const ended: RequestEnded = { ...this.#started, durationMs: this.#platform.monotonic() - since, outcome, error };
    for (const follower of this.#followers) {
      callHook(this.#platform, "content", () => follower.content?.(params, result));
      callHook(this.#platform, "ended", () => follower.ended?.(ended));
    }
  }
}

/** The properties of a request that are known during the handshake. */
function requestOf(method: string, requestId: Id, { sessionId, network, target }: Transport): RequestStarted {
  const unknown = { name: undefined, protocolVersion: undefined, trace: undefined };
  return { method, requestId, callId: requestId, attempt: 1, sessionId, network, target, ...unknown };
}

/** The outcome of an answer, from its text. */
function endOf(text: string): Pick<AnswerEnded, "outcome" | "error"> {
  if (text === "") return { outcome: "cancelled", error: undefined };
  // Safe: this library encoded the text.
  const { error } = JSON.parse(text) as { error?: AnswerEnded["error"] };
  return { outcome: error === undefined ? "ok" : "error", error };
}

function outcomeOf(result: unknown): RequestEnded["outcome"] {
  if (!isObject(result)) return "ok";
  if (result["isError"] === true) return "tool_error";
  return result["resultType"] === "input_required" ? "input_required" : "ok";
}

/** Adds members to `_meta` of an encoded message. Only for the handshake. */
function withMeta(text: string, meta: Record<string, string>): string {
  // Safe: this library encoded the text.
  const message = JSON.parse(text) as { params?: { _meta?: object } };
  return JSON.stringify({
    ...message,
    params: { ...message.params, _meta: { ...message.params?._meta, ...meta } },
  });
}
