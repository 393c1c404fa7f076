import type { RequestEnded, RequestFollower, RequestStarted } from "../client/observer.js";
import type { TraceContext } from "../protocol/trace-context.js";
import { addSpanAttributes, clientFailure, type Failure, operationAttributes } from "./attributes.js";
import { contentAttributes } from "./content.js";
import { type Begun, CLIENT, type Recorder } from "./recorder.js";

/** One request of a client as a span, and as a duration. */
export class ClientSpan implements RequestFollower {
  readonly #recorder: Recorder;
  readonly #request: RequestStarted;
  readonly #begun: Begun | undefined;
  readonly trace: TraceContext | undefined;
  readonly content?: NonNullable<RequestFollower["content"]>;

  constructor(recorder: Recorder, request: RequestStarted, hasContent: boolean) {
    this.#recorder = recorder;
    this.#request = request;
    const { api, carrier } = recorder;
    const ambient = api.context.active();
    const isAlone = request.trace !== undefined && api.trace.getSpanContext(ambient) === undefined;
    const parent = isAlone && request.trace !== undefined ? carrier.received(ambient, request.trace) : ambient;
    const attributes = operationAttributes(request, undefined);
    addSpanAttributes(attributes, request);
    const begun = recorder.begin(CLIENT, request, attributes, parent);
    this.#begun = begun;
    this.trace = begun && carrier.toSend(begun.context, begun.span.spanContext());
    if (hasContent) this.content = (params, result) => this.#record(params, result);
  }

  within(run: () => void): void {
    if (this.#begun === undefined) run();
    else this.#recorder.api.context.with(this.#begun.context, run);
  }

  ended(ended: RequestEnded): void {
    const failure = failureOf(ended);
    const exists = ended.outcome === "ok" || ended.outcome === "input_required";
    this.#recorder.end(this.#begun, this.#request, failure, exists);
    this.#recorder.record("client", ended.durationMs, ended, failure, this.#begun?.context);
  }

  #record(params: object | undefined, result: unknown): void {
    this.#begun?.span.setAttributes(contentAttributes(this.#request.method, params, result));
  }
}

function failureOf({ outcome, error }: RequestEnded): Failure | undefined {
  if (outcome === "tool_error") return { type: "tool_error", code: undefined, message: undefined };
  return outcome === "error" ? clientFailure(error) : undefined;
}
