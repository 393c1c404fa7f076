import type { ClientOptions } from "../client/contract/options.js";
import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import type { ElicitResult } from "../protocol/features/elicitation.js";
import type { ListRootsResult } from "../protocol/features/roots.js";
import type { CreateMessageResult } from "../protocol/features/sampling.js";
import type { RecordedCall } from "./recorded-calls.js";
import type { RecordedExchange } from "./recorded-exchanges.js";

/** Answers questions of the server as the recorded client did. */
export class ReplayedAnswers {
  readonly #roots: ListRootsResult["roots"];
  #left: RecordedCall["answers"][number][] = [];

  constructor(exchanges: readonly RecordedExchange[]) {
    this.#roots = recordedRoots(exchanges);
  }

  /** The questions of this call come next. */
  begin({ answers }: RecordedCall): void {
    this.#left = [...answers];
  }

  /** What declares the same as the recorded client did, and answers as it did. */
  options({
    elicitation,
    sampling,
    roots,
  }: Readonly<Record<string, unknown>>): Pick<ClientOptions, "onElicit" | "elicitUrls" | "onSample" | "roots"> {
    const elicitUrls = isObject(elicitation) && "url" in elicitation;
    // What was recorded as an answer of a client was one of the form that the protocol has.
    return {
      ...(elicitation === undefined
        ? {}
        : { onElicit: () => this.#next("elicitation/create") as unknown as ElicitResult, elicitUrls }),
      ...(sampling === undefined
        ? {}
        : { onSample: () => this.#next("sampling/createMessage") as unknown as CreateMessageResult }),
      ...(roots === undefined ? {} : { roots: this.#roots }),
    };
  }

  #next(method: string): Record<string, unknown> {
    const at = this.#left.findIndex((answer) => answer.method === method);
    const [found] = at < 0 ? [] : this.#left.splice(at, 1);
    if (found !== undefined) return found.result;
    throw new McpError("declined", `the recording has no further answer to ${method}`);
  }
}

/** The folders that the recorded client told; servers also ask for them between calls. */
function recordedRoots(exchanges: readonly RecordedExchange[]): ListRootsResult["roots"] {
  const steps = exchanges.flatMap((exchange) => [...exchange.steps, ...exchange.after]);
  const question = steps.find(
    (step) => step.kind === "question" && step.method === "roots/list" && isObject(step.answer),
  );
  const result = question?.kind === "question" ? question.answer?.["result"] : undefined;
  const roots: unknown = isObject(result) ? result["roots"] : undefined;
  // As above: the form was the protocol's when it was recorded.
  return Array.isArray(roots) ? (roots as ListRootsResult["roots"]) : [];
}
