import type { RequestEnded, RequestFollower, RequestStarted } from "../client/contract/observer.js";
import type { TraceContext } from "../protocol/trace-context.js";
import { addSpanAttributes, clientFailure, type Failure, operationAttributes } from "./attributes.js";
import { contentAttributes } from "./content.js";
import type { ApiContext } from "./open-telemetry-api.js";
import { type Begun, CLIENT, type Recorder } from "./recorder.js";

type Ended = Pick<RequestEnded, "durationMs" | "outcome" | "error">;

/** One request as the span of the side that sends it, and as a duration. */
export class ClientSpan implements RequestFollower {
  readonly #recorder: Recorder;
  readonly #request: RequestStarted;
  readonly #begun: Begun | undefined;
  readonly trace: TraceContext | undefined;
  readonly content?: NonNullable<RequestFollower["content"]>;

  /** `call` is the context of the call that the request belongs to, for where the ambient context is lost. */
  constructor(recorder: Recorder, request: RequestStarted, hasContent: boolean, call?: ApiContext) {
    this.#recorder = recorder;
    this.#request = request;
    const { api, carrier } = recorder;
    const ambient = api.context.active();
    const given = () => call ?? (request.trace === undefined ? ambient : carrier.received(ambient, request.trace));
    const parent = api.trace.getSpanContext(ambient) === undefined ? given() : ambient;
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

  ended(ended: Ended): void {
    const failure = failureOf(ended);
    const exists = ended.outcome === "ok" || ended.outcome === "input_required";
    this.#recorder.end(this.#begun, this.#request, failure, exists);
    this.#recorder.record("client", ended.durationMs, this.#request, failure, this.#begun?.context);
  }

  #record(params: object | undefined, result: unknown): void {
    this.#begun?.span.setAttributes(contentAttributes(this.#request.method, params, result));
  }
}

function failureOf({ outcome, error }: Ended): Failure | undefined {
  if (outcome === "tool_error") return { type: "tool_error", code: undefined, message: undefined };
  return outcome === "error" ? clientFailure(error) : undefined;
}
