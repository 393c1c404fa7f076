import type { AnswerEnded, AnswerFollower, AnswerStarted } from "../client/contract/observer.js";
import { addSpanAttributes, operationAttributes, type Subject, serverFailure } from "./attributes.js";
import type { ApiContext } from "./open-telemetry-api.js";
import { type Begun, type Recorder, SERVER } from "./recorder.js";
import { knownMethod, parentOf } from "./server-span.js";

/** One request of a server as a span of the client that answers it, and as a duration. */
export class AnswerSpan implements AnswerFollower {
  readonly #recorder: Recorder;
  readonly #subject: Subject;
  readonly #begun: Begun | undefined;
  readonly #context: ApiContext;

  constructor(recorder: Recorder, started: AnswerStarted) {
    this.#recorder = recorder;
    const { protocolVersion, requestId, sessionId } = started;
    const { transport, protocol } = started.network ?? {};
    // The address is that of the side that asks, which is not the one that serves here.
    const network = { transport, protocol };
    const subject = { method: knownMethod(started.method), name: undefined, protocolVersion, network };
    const { parent, linked } = parentOf(recorder, started);
    const attributes = operationAttributes(subject, undefined);
    addSpanAttributes(attributes, { ...subject, requestId, sessionId });
    this.#subject = subject;
    this.#begun = recorder.begin(SERVER, subject, attributes, parent, linked);
    this.#context = this.#begun?.context ?? parent;
  }

  within(run: () => void): void {
    this.#recorder.api.context.with(this.#context, run);
  }

  ended({ outcome, error, durationMs }: AnswerEnded): void {
    const failure = outcome === "ok" ? undefined : serverFailure(undefined, error?.code ?? 0, outcome === "cancelled");
    this.#recorder.end(this.#begun, this.#subject, failure, true);
    this.#recorder.record("server", durationMs, this.#subject, failure, this.#begun?.context);
  }
}
