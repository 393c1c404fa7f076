import type { AskedQuestion, Question } from "../../era/era.js";
import type { ErrorKind } from "../../protocol/error.js";
import type { ContentBlock } from "../../protocol/features/content.js";

/** A question in the form of the client's revision. */
export interface PreparedQuestion extends AskedQuestion {
  /** The key that the handler chose for the question; undefined if the question is identified by its contents. */
  readonly key: string | undefined;
}

/** The client's answers and the outcomes of steps that a call has collected so far. */
export interface RecordedAnswers {
  /** The client's answers, by the name of the question. */
  readonly answers: Record<string, unknown>;
  /** The outcomes of steps, by their key. */
  readonly steps: Record<string, StepRecord>;
  /**
   * How often each question was asked, by its key or digest. An asker that continues the same run of the handler
   * continues this count.
   */
  readonly names: Map<string, number>;
  /** Keys of the steps that this run of the handler has started. */
  readonly stepKeys: Set<string>;
}

/** Sends the questions of one call to the client and returns the answers. */
export interface Asker {
  /** Resolves with the client's raw answer. Rejects with `InputRequired` if the answer comes in a later round. */
  ask(prepared: PreparedQuestion): Promise<unknown>;
  /**
   * Runs `work` once per call and returns its value after a round trip through JSON. A later round returns the recorded
   * outcome instead. Throws `misuse` if a run uses the key twice.
   */
  step(key: string, work: () => unknown): Promise<unknown>;
  /**
   * Waits for running steps, then returns all answers and outcomes of steps, so that a later run need not repeat them.
   * Absent if this asker records nothing.
   */
  recorded?(): Promise<RecordedAnswers>;
  /**
   * Number of times that the handler has run again within this call. Absent for askers that rerun the handler only in a
   * later round, not within the call.
   */
  readonly repeats?: number;
  /** Prepares the next run of the handler within this call. */
  repeat?(): void;
  /** Returns the interim result after a question has interrupted `handler`. */
  conclude(handler: Promise<unknown>): Promise<InputOutcome>;
}

/** The outcome of a step: its value as JSON, or its failure. */
export type StepRecord = { value?: unknown } | { failure: StepFailure };

/** An error that a step threw, as JSON: enough to throw an error of the same kind in a later round. */
export interface StepFailure {
  name: string;
  message: string;
  mcp?: { kind: ErrorKind; code: number; data?: unknown };
  tool?: { content?: readonly ContentBlock[] | undefined };
}

/**
 * The outcome of a call that must ask the client first. The members are private, so that a copy made by middleware
 * contains none of them.
 */
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
