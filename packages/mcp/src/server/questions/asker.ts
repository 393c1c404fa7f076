import type { AskedQuestion } from "../../era/era.js";

/** A question ready to be asked, in the form that the client knows. */
export interface PreparedQuestion extends AskedQuestion {
  readonly key: string | undefined;
}

/** Carries questions of one call to the client and back. */
export interface Asker {
  /** Resolves with the client's raw answer. Rejects with an internal signal when the answer comes in a later round. */
  ask(prepared: PreparedQuestion): Promise<unknown>;
  step(key: string, work: () => unknown): Promise<unknown>;
  /** The interim result, once a question interrupted the handler. */
  conclude(handler: Promise<unknown>): Promise<object>;
}
