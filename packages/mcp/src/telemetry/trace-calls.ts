import { platform } from "#platform";
import type {
  AnswerFollower,
  AnswerStarted,
  ClientObserver,
  RequestEnded,
  RequestFollower,
  RequestStarted,
} from "../client/contract/observer.js";
import { type Id, isObject } from "../jsonrpc/message.js";
import { BoundedMap } from "../platform/bounded-map.js";
import { callHook } from "../platform/call-hook.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import type { CallFollower, CallStarted, Observer } from "../server/contract/observer.js";
import type { WireMessage } from "../transport/watched-transport.js";
import { OpenSpan, type TraceSpan } from "./trace-span.js";

/** Traces calls. Pass it to `server.observe` and to `connect` as `observe`. */
export interface CallTracer extends Observer, ClientObserver {
  /** Adds the progress notifications of calls to their traces. Pass it to `connect` as `onMessage`. */
  readonly onMessage: (message: WireMessage) => void;
}

/** Options for `traceCalls`. */
export interface TraceCallsOptions {
  /** The clock and the warnings, for tests. Default: those of the runtime. */
  platform?: Pick<Platform, "monotonic" | "warn"> | undefined;
}

/** Maximum number of calls that are traced at the same time. Beyond that, the oldest trace is dropped. */
const MAX_CALLS = 1_000;

/**
 * Traces calls through the layers of a client and of servers in the same process. Passes each trace to `onTrace` when
 * the call has ended. A server's call is matched to its request by the request id, so use one tracer per connection.
 * When the connection closes, `onTrace` receives the incomplete traces of the unfinished calls.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/observing.md | Observing}
 */
export function traceCalls(onTrace: (trace: TraceSpan) => void, options: TraceCallsOptions = {}): CallTracer {
  const tracer = new Tracer(onTrace, options.platform ?? platform);
  return {
    request: (request) => tracer.request(request),
    answer: (request) => tracer.answer(request),
    state: ({ state }) => {
      if (state === "closed") tracer.flush();
    },
    follow: (call) => tracer.follow(call),
    onMessage: (message) => tracer.message(message),
  };
}

/** A call of the client that has not ended. */
interface TracedCall {
  readonly span: OpenSpan;
  /** The current request of the call, and its transport span. */
  request?: { readonly id: Id; readonly method: string; readonly span: OpenSpan; transport?: OpenSpan } | undefined;
  answers?: OpenSpan | undefined;
}

class Tracer {
  readonly #onTrace: (trace: TraceSpan) => void;
  readonly #platform: Pick<Platform, "monotonic" | "warn">;
  readonly #calls = new BoundedMap<Id, TracedCall>(MAX_CALLS);

  constructor(onTrace: (trace: TraceSpan) => void, given: Pick<Platform, "monotonic" | "warn">) {
    this.#onTrace = onTrace;
    this.#platform = given;
  }

  get #now(): number {
    return this.#platform.monotonic();
  }

  request({ method, name, requestId: id, callId, protocolVersion, attempt, network }: RequestStarted): RequestFollower {
    const call = this.#callOf(callId, named(method, name));
    call.answers?.end(this.#now);
    const again = attempt > 1 ? `, attempt ${attempt}` : "";
    const span = call.span.begin("client", "request", `${id}${again}`, this.#now);
    const era = span.begin("client", "era", protocolVersion ?? "handshake", this.#now);
    call.request = { id, method, span };
    let asked = "";
    return {
      within: (run) => {
        era.end(this.#now);
        const carried = network?.protocol ?? network?.transport ?? "in this process";
        if (call.request !== undefined) call.request.transport = span.begin("client", "transport", carried, this.#now);
        run();
      },
      content: (_params, result) => {
        asked = questionsIn(result);
      },
      ended: (ended) => this.#requestEnded(callId, call, asked, ended),
    };
  }

  #requestEnded(callId: Id, call: TracedCall, asked: string, { outcome, error }: RequestEnded): void {
    const [now, words] = [this.#now, outcomeOf(outcome, error)];
    call.request?.transport?.end(now);
    call.request?.span.end(now, words);
    call.request = undefined;
    if (outcome === "input_required") {
      call.answers = call.span.begin("client", "answers", asked, now);
      return;
    }
    call.span.end(now, words);
    this.#calls.delete(callId);
    this.#emit(call.span);
  }

  answer({ method }: AnswerStarted): AnswerFollower | undefined {
    // A question does not name the call that it belongs to, so it is recorded only while exactly one call is open.
    const [only, ...others] = this.#calls.values();
    if (only === undefined || others.length > 0) return undefined;
    const span = (only.request?.transport ?? only.span).begin("client", "answer", method, this.#now);
    return { ended: ({ outcome }) => span.end(this.#now, outcome) };
  }

  message({ direction, message: { method, params } }: WireMessage): void {
    if (direction !== "received" || method !== "notifications/progress" || !isObject(params)) return;
    for (const { request } of this.#calls.values()) {
      if (request === undefined || request.id !== params["progressToken"]) continue;
      const { progress, total, message } = params;
      const text = `${String(progress)}${total === undefined ? "" : ` of ${String(total)}`}`;
      const span = request.transport ?? request.span;
      span
        .begin("client", "progress", typeof message === "string" ? `${text}: ${message}` : text, this.#now)
        .end(this.#now);
    }
  }

  follow({ method, name, requestId }: CallStarted): CallFollower {
    const asker = [...this.#calls.values()].find(
      ({ request }) => request?.id === requestId && request.method === method,
    );
    const parent = asker?.request?.transport;
    const detail = named(method, name);
    const span =
      parent?.begin("server", "call", detail, this.#now) ?? new OpenSpan("server", "call", detail, this.#now);
    return followCall(span, () => this.#now, parent === undefined ? (ended) => this.#emit(ended) : undefined);
  }

  /** Emits the traces of unfinished calls. */
  flush(): void {
    const open = [...this.#calls.values()];
    this.#calls.clear();
    for (const { span } of open) this.#emit(span);
  }

  #callOf(id: Id, detail: string): TracedCall {
    const known = this.#calls.get(id);
    if (known !== undefined) return known;
    const made: TracedCall = { span: new OpenSpan("client", "call", detail, this.#now) };
    this.#calls.set(id, made);
    return made;
  }

  #emit(span: OpenSpan): void {
    callHook(this.#platform, "onTrace", () => this.#onTrace(span.read()));
  }
}

/** Follows one call to a server. Each layer becomes a child of the innermost open span. */
function followCall(
  span: OpenSpan,
  now: () => number,
  whenEnded: ((span: OpenSpan) => void) | undefined,
): CallFollower {
  const open = [span];
  const innermost = () => {
    while (open.length > 1 && open.at(-1)?.isOpen !== true) open.pop();
    return open.at(-1) ?? span;
  };
  return {
    layer(layer, name) {
      const inner = innermost().begin("server", layer, name ?? "", now());
      open.push(inner);
      return () => inner.end(now());
    },
    question({ method }) {
      const question = innermost().begin("server", "question", method, now());
      return { ended: ({ outcome }) => question.end(now(), outcome) };
    },
    ended({ outcome, error }) {
      span.end(now(), outcomeOf(outcome, error));
      whenEnded?.(span);
    },
  };
}

function named(method: string, name: string | undefined): string {
  return name === undefined ? method : `${method} ${name}`;
}

function outcomeOf(outcome: RequestEnded["outcome"], error: unknown): string {
  return outcome === "error" ? McpError.from(error).kind : outcome;
}

/** Returns the methods of the questions in an interim result, at most ten. */
function questionsIn(result: unknown): string {
  const asked = isObject(result) ? result["inputRequests"] : undefined;
  if (!isObject(asked)) return "";
  const methods = Object.values(asked).flatMap((one) =>
    isObject(one) && typeof one["method"] === "string" ? [one["method"]] : [],
  );
  return methods.slice(0, 10).join(", ");
}
