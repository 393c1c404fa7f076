import type { ExtendedClient } from "../../../client/contract/extension.js";
import type { Question } from "../../../era/era.js";
import { McpError } from "../../../protocol/error.js";
import type { InputRequests } from "../../../protocol/features/input.js";

/**
 * Maximum number of questions that one task may ask. Limited, because each question may open a dialog or cause a paid
 * model call. Beyond that, waiting for the task fails with `too_many_questions`.
 */
const MAX_QUESTIONS = 64;

/** The answers of the application so far, shared by all waits for the task. */
export interface QuestionAnswers {
  /** Keys of the questions whose answers were sent or are being sent. These questions are not asked again. */
  readonly sent: Set<string>;
  /**
   * Answers that may not have reached the server, by question key. They are sent again instead of asking the
   * application again.
   */
  readonly unconfirmed: Map<string, object>;
}

/**
 * Answers the questions of one task while a caller waits for it. Sends each answer as soon as the application returns
 * it.
 */
export class TaskQuestions {
  readonly #client: ExtendedClient;
  readonly #send: (answers: Record<string, object>) => Promise<unknown>;
  readonly #wake: () => void;
  readonly #answers: QuestionAnswers;
  /** Questions that the application is answering, by key. */
  readonly #open = new Map<string, AbortController>();
  /** Errors of questions that could not be answered, by key. */
  readonly #failures = new Map<string, McpError>();
  /** Number of further questions that the task may ask. */
  #left: number;

  /**
   * `answers` outlives this object. `wake` is called when a question has failed, so that the caller calls `update`
   * again.
   */
  constructor(
    client: ExtendedClient,
    answers: QuestionAnswers,
    send: (answers: Record<string, object>) => Promise<unknown>,
    wake: () => void,
  ) {
    this.#client = client;
    this.#answers = answers;
    this.#send = send;
    this.#wake = wake;
    this.#left = MAX_QUESTIONS - answers.sent.size;
  }

  /**
   * Passes new questions to the application, and withdraws questions that the task no longer asks. Returns an error if
   * this client lacks the capability to answer a question that another client may still answer. Throws if the
   * application failed to answer, or if the task asked too many questions.
   *
   * Spec: Tasks extension, "Input Required", https://modelcontextprotocol.io/extensions/tasks/overview
   */
  update(asked: InputRequests): McpError | undefined {
    for (const key of this.#failures.keys()) if (!Object.hasOwn(asked, key)) this.#failures.delete(key);
    for (const [key, unwanted] of this.#open) if (!Object.hasOwn(asked, key)) this.#withdraw(key, unwanted);
    let unable: McpError | undefined;
    for (const failure of this.#failures.values()) {
      if (failure.kind !== "capability_missing") throw failure;
      unable = failure;
    }
    const isNew = (key: string) => !(this.#answers.sent.has(key) || this.#open.has(key) || this.#failures.has(key));
    const fresh = Object.entries(asked).filter(([key]) => isNew(key));
    this.#left -= fresh.length;
    if (this.#left < 0) {
      throw new McpError("too_many_questions", `the task asked more than ${MAX_QUESTIONS} questions`, {
        data: { limit: MAX_QUESTIONS },
        fix: "Let the tool ask fewer questions.",
      });
    }
    // Safe: `readTask` has checked the methods, and `client.answer` checks the rest.
    for (const [key, question] of fresh) void this.#ask(key, question as Question);
    return unable;
  }

  /** Withdraws all open questions. Called when the task has ended, or when no caller waits for the task any more. */
  close(): void {
    for (const [key, unwanted] of this.#open) this.#withdraw(key, unwanted);
  }

  #withdraw(key: string, unwanted: AbortController): void {
    this.#open.delete(key);
    unwanted.abort(new McpError("cancelled", "the task no longer waits for this answer"));
  }

  async #ask(key: string, question: Question): Promise<void> {
    const unwanted = new AbortController();
    const { sent, unconfirmed } = this.#answers;
    this.#open.set(key, unwanted);
    try {
      const answer = unconfirmed.get(key) ?? (await this.#client.answer(question, unwanted.signal));
      if (unwanted.signal.aborted) return;
      this.#open.delete(key);
      sent.add(key);
      unconfirmed.set(key, answer);
      await this.#send({ [key]: answer });
      unconfirmed.delete(key);
    } catch (error) {
      if (unwanted.signal.aborted) return;
      this.#open.delete(key);
      // The next wait for the task may try again: it sends the application's answer again. If there is no answer, or if
      // the server refused the answer, the next wait asks the application again.
      sent.delete(key);
      if (McpError.is(error) && error.kind === "invalid_params") unconfirmed.delete(key);
      this.#failures.set(key, McpError.from(error));
      this.#wake();
    }
  }
}

const METHODS = ["elicitation/create", "sampling/createMessage", "roots/list"] as const;

/** Returns the reason why this client cannot answer questions of any kind, or undefined if it can answer some. */
export function unableToAnswer(client: ExtendedClient): McpError | undefined {
  if (METHODS.some((method) => client.canAnswer(method))) return undefined;
  return new McpError("capability_missing", "the task waits for an answer that this client cannot give", {
    fix: "Pass `onElicit` to `connect`, or iterate the handle to follow the task without its result.",
  });
}
