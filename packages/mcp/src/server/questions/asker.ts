import type { AskedQuestion } from "../../era/era.js";
import type { InputOutcome } from "./input-required.js";

/** A question in the form of the client's revision. */
export interface PreparedQuestion extends AskedQuestion {
  readonly key: string | undefined;
}

/** Sends the questions of one call to the client and returns the answers. */
export interface Asker {
  /** Resolves with the client's raw answer. Rejects with an internal signal when the answer comes in a later round. */
  ask(prepared: PreparedQuestion): Promise<unknown>;
  step(key: string, work: () => unknown): Promise<unknown>;
  /** The interim result, after a question has interrupted the handler. */
  conclude(handler: Promise<unknown>): Promise<InputOutcome>;
}
