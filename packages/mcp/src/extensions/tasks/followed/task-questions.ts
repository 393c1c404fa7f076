import type { ExtendedClient } from "../../../client/contract/extension.js";
import type { Question } from "../../../era/era.js";
import { McpError } from "../../../protocol/error.js";
import type { InputRequests } from "../../../protocol/features/input.js";

/** Questions of one task; each may be a dialog or a paid model call. */
const MAX_QUESTIONS = 64;

/** What the application has answered so far, whoever waited for the task. */
export interface GivenAnswers {
  /** The keys whose answers are sent, or on their way: none of them is asked again. */
  readonly sent: Set<string>;
  /** Answers that may not have arrived, which are sent again instead of asking again. */
  readonly kept: Map<string, object>;
}

/** Answers the questions of one task while someone waits for it, each as soon as the application has its answer. */
export class TaskQuestions {
  readonly #client: ExtendedClient;
  readonly #send: (answers: Record<string, object>) => Promise<unknown>;
  readonly #wake: () => void;
  readonly #given: GivenAnswers;
  /** What the application is asked now, by key. */
  readonly #open = new Map<string, AbortController>();
  /** Why the question of a key has no answer. */
  readonly #failures = new Map<string, McpError>();
  /** How many more may be asked. */
  #left: number;

  /** `given` outlives this. `wake` is called when `update` has something new to say. */
  constructor(
    client: ExtendedClient,
    given: GivenAnswers,
    send: (answers: Record<string, object>) => Promise<unknown>,
    wake: () => void,
  ) {
    this.#client = client;
    this.#given = given;
    this.#send = send;
    this.#wake = wake;
    this.#left = MAX_QUESTIONS - given.sent.size;
  }

  /**
   * Asks the application what is new, and withdraws what the task no longer asks: another client has answered it, or nobody will.
   * Returns why this client cannot answer, if others still may. Throws when the application failed to answer.
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
    const isNew = (key: string) => !(this.#given.sent.has(key) || this.#open.has(key) || this.#failures.has(key));
    const fresh = Object.entries(asked).filter(([key]) => isNew(key));
    this.#left -= fresh.length;
    if (this.#left < 0) {
      throw new McpError("too_many_questions", `the task asked more than ${MAX_QUESTIONS} questions`, {
        data: { limit: MAX_QUESTIONS },
        fix: "Let the tool ask less.",
      });
    }
    // `readTask` has checked the methods, and `answer` checks the rest.
    for (const [key, question] of fresh) void this.#ask(key, question as Question);
    return unable;
  }

  /** The task is over, or nobody waits for it any more. */
  close(): void {
    for (const [key, unwanted] of this.#open) this.#withdraw(key, unwanted);
  }

  #withdraw(key: string, unwanted: AbortController): void {
    this.#open.delete(key);
    unwanted.abort(new McpError("cancelled", "the task no longer waits for this answer"));
  }

  async #ask(key: string, question: Question): Promise<void> {
    const unwanted = new AbortController();
    const { sent, kept } = this.#given;
    this.#open.set(key, unwanted);
    try {
      const answer = kept.get(key) ?? (await this.#client.answer(question, unwanted.signal));
      if (unwanted.signal.aborted) return;
      this.#open.delete(key);
      sent.add(key);
      kept.set(key, answer);
      await this.#send({ [key]: answer });
      kept.delete(key);
    } catch (error) {
      if (unwanted.signal.aborted) return;
      this.#open.delete(key);
      // Who waits for the task next may try again; only an answer that was refused is asked for anew.
      sent.delete(key);
      if (McpError.is(error) && error.kind === "invalid_params") kept.delete(key);
      this.#failures.set(key, McpError.from(error));
      this.#wake();
    }
  }
}

const METHODS = ["elicitation/create", "sampling/createMessage", "roots/list"] as const;

/** Why a client cannot answer any question, if that is so. */
export function unableToAnswer(client: ExtendedClient): McpError | undefined {
  if (METHODS.some((method) => client.canAnswer(method))) return undefined;
  return new McpError("capability_missing", "the task waits for an answer that this client cannot give", {
    fix: "Give `onElicit` to `connect`, or iterate the handle to follow the task without its result.",
  });
}
