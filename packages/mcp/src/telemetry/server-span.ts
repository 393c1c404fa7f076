import { INTERNAL_ERROR } from "../jsonrpc/error.js";
import { McpError } from "../protocol/error.js";
import { CORE_METHODS } from "../protocol/methods.js";
import { notFoundCodeOf, type Revision } from "../protocol/revisions.js";
import type {
  CallEnded,
  CallFollower,
  CallRefused,
  CallStarted,
  QuestionFollower,
  QuestionStarted,
} from "../server/contract/observer.js";
import { addSpanAttributes, type Failure, operationAttributes, serverFailure } from "./attributes.js";
import { ClientSpan } from "./client-span.js";
import { isAbout } from "./is-about.js";
import { OTHER } from "./known-names.js";
import type { ApiContext, ApiSpanContext } from "./open-telemetry-api.js";
import { type Begun, type Recorder, SERVER } from "./recorder.js";

/** In the context of a call: the trace that it was received with. */
const RECEIVED = Symbol("parley.received");

/** One call to a server as a span, and as a duration. */
export class ServerSpan implements CallFollower {
  readonly #recorder: Recorder;
  readonly #call: CallStarted;
  readonly #begun: Begun | undefined;
  readonly #context: ApiContext;

  constructor(recorder: Recorder, call: CallStarted) {
    this.#recorder = recorder;
    this.#call = call;
    const { parent, linked } = parentOf(recorder, call);
    const attributes = operationAttributes(call, undefined);
    addSpanAttributes(attributes, call);
    if (call.remoteAddress !== undefined) attributes["client.address"] = call.remoteAddress;
    this.#begun = recorder.begin(SERVER, call, attributes, parent, linked);
    this.#context = this.#begun?.context ?? parent;
  }

  within(run: () => void): void {
    this.#recorder.api.context.with(this.#context, run);
  }

  ended(ended: CallEnded): void {
    const failure = failureOf(ended);
    this.#recorder.end(this.#begun, this.#call, failure, isAbout(ended));
    this.#recorder.record("server", ended.durationMs, ended, failure, this.#begun?.context);
  }

  question({ method, requestId }: QuestionStarted): QuestionFollower {
    const { protocolVersion, sessionId, network } = this.#call;
    const request = { method, requestId, protocolVersion, sessionId, network, name: undefined };
    const asked = { ...request, callId: requestId, attempt: 1, trace: undefined, target: "" };
    return new ClientSpan(this.#recorder, asked, false, this.#context);
  }
}

/** A request that was refused before it became a call: a span without length, under a name that its sender did not choose. */
export function refusedSpan(recorder: Recorder, { method, requestId, error }: CallRefused): void {
  const subject = { method: knownMethod(method), name: undefined, protocolVersion: undefined, network: undefined };
  const attributes = operationAttributes(subject, undefined);
  if (requestId !== undefined) attributes["jsonrpc.request.id"] = String(requestId).slice(0, 128);
  const failure = serverFailure(error, McpError.from(error).code, false);
  recorder.end(recorder.begin(SERVER, subject, attributes, recorder.api.context.active()), subject, failure, false);
  recorder.record("server", 0, subject, failure);
}

/** A method of the protocol, or what stands for all others, which peers choose. */
export function knownMethod(method: string): string {
  return CORE_METHODS.some((row) => row.method === method) ? method : OTHER;
}

/**
 * The caller's trace, with a link to the span that is active here, such as that of the HTTP request. What is active is the parent
 * if the caller sent no trace, or if this call is a part of one that has the caller's trace already.
 */
export function parentOf(
  recorder: Recorder,
  { trace }: Pick<CallStarted, "trace">,
): { parent: ApiContext; linked?: ApiSpanContext } {
  const ambient = recorder.api.context.active();
  if (trace === undefined || ambient.getValue(RECEIVED) === (trace.traceparent ?? trace.baggage)) {
    return { parent: ambient };
  }
  const parent = recorder.carrier.received(ambient, trace).setValue(RECEIVED, trace.traceparent ?? trace.baggage);
  const linked = recorder.api.trace.getSpanContext(ambient);
  const isOther = linked !== undefined && trace.spanId !== undefined && linked.spanId !== trace.spanId;
  return isOther ? { parent, linked } : { parent };
}

function failureOf({ outcome, error, failure, protocolVersion }: CallEnded): Failure | undefined {
  if (outcome === "tool_error") return { type: "tool_error", code: undefined, message: undefined };
  if (outcome !== "error") return undefined;
  return serverFailure(error, codeOf(error, protocolVersion), failure === "aborted");
}

/** The code that the caller gets. */
function codeOf(error: unknown, protocolVersion: string): number {
  if (!McpError.is(error)) return INTERNAL_ERROR;
  // Calls have a revision that the server speaks.
  return error.kind === "resource_not_found" ? notFoundCodeOf(protocolVersion as Revision) : error.code;
}
