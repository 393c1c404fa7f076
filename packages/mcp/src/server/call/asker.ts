import type { AskedQuestion, Question } from "../../era/era.js";
import type { ErrorKind } from "../../protocol/error.js";
import type { ContentBlock } from "../../protocol/features/content.js";

/** A question in the form of the client's revision. */
export interface PreparedQuestion extends AskedQuestion {
  readonly key: string | undefined;
}

/** What a call has been answered, and what its steps gave, so far. */
export interface RecordedAnswers {
  readonly answers: Record<string, unknown>;
  readonly steps: Record<string, StepRecord>;
  /** The names of its questions and the keys of its steps so far, for what goes on with the same run of the handler. */
  readonly names: Map<string, number>;
  readonly stepKeys: Set<string>;
}

/** Sends the questions of one call to the client and returns the answers. */
export interface Asker {
  /** Resolves with the client's raw answer. Rejects with an internal signal when the answer comes in a later round. */
  ask(prepared: PreparedQuestion): Promise<unknown>;
  step(key: string, work: () => unknown): Promise<unknown>;
  /** What need not be asked and done again, once the steps that run now are over; absent where nothing is recorded. */
  recorded?(): Promise<RecordedAnswers>;
  /** How often the handler has run again within this call. Absent where it runs again in another round. */
  readonly repeats?: number;
  /** Prepares for one more such run. */
  repeat?(): void;
  /** The interim result, after a question has interrupted the handler. */
  conclude(handler: Promise<unknown>): Promise<InputOutcome>;
}

/** The outcome of a step: its value as JSON, or its failure. */
export type StepRecord = { value?: unknown } | { failure: StepFailure };

/** An error that a step threw, as JSON: enough to throw one of the same kind in a later round. */
export interface StepFailure {
  name: string;
  message: string;
  mcp?: { kind: ErrorKind; code: number; data?: unknown };
  tool?: { content?: readonly ContentBlock[] | undefined };
}

/** The outcome of a call that must ask the client first. Private, so that a copy made by middleware holds nothing of it. */
export class InputOutcome {
  readonly #questions: Record<string, Question>;
  readonly #state: string | undefined;

  constructor(questions: Record<string, Question>, state: string | undefined) {
    this.#questions = questions;
    this.#state = state;
  }

  get questions(): Record<string, Question> {
    return this.#questions;
  }

  get state(): string | undefined {
    return this.#state;
  }
}
