import { toBase64Url } from "../../encoding/base64.js";
import { canonicalJson } from "../../encoding/canonical-json.js";
import type { AskedQuestion, Question } from "../../era/era.js";
import type { Platform } from "../../platform/platform.js";
import { type ErrorKind, McpError } from "../../protocol/error.js";
import type { ContentBlock } from "../../protocol/features/content.js";
import type { InputOutcome } from "./input-required.js";

/** A question in the form of the client's revision. */
export interface PreparedQuestion extends AskedQuestion {
  readonly key: string | undefined;
}

/** What a call has been answered, and what its steps gave, so far. */
export interface RecordedAnswers {
  readonly answers: Record<string, unknown>;
  readonly steps: Record<string, StepRecord>;
  /** The names of its questions and the keys of its steps so far, for what goes on with the same run of the handler. */
  readonly names: QuestionNames;
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

/** Names the questions of one run of a handler, the same in every run: by their own keys, or by what they ask. */
export class QuestionNames {
  readonly #platform: Platform;
  readonly #counts = new Map<string, number>();
  readonly #keys = new Set<string>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** The name of the next question. Throws when its key was used before. */
  next(question: Question, key: string | undefined): string {
    if (key !== undefined) {
      if (this.#keys.has(key)) {
        throw new McpError("misuse", `the question key "${key}" was used twice in one call`, {
          fix: "Use a different key for each question.",
        });
      }
      this.#keys.add(key);
      return key;
    }
    const text = canonicalJson([question.method, question.params ?? {}]);
    const digest = toBase64Url(this.#platform.sha256(new TextEncoder().encode(text)).subarray(0, 16));
    const count = this.#counts.get(digest) ?? 0;
    this.#counts.set(digest, count + 1);
    return count === 0 ? digest : `${digest}.${count}`;
  }
}
