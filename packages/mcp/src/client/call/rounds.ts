import type { Outcome, OutgoingCall, Question } from "../../era/era.js";
import { pause } from "../../platform/pause.js";
import { McpError } from "../../protocol/error.js";
import type { Answerer } from "../answers/answerer.js";
import type { ClientConnection } from "../connection/connection.js";
import type { PendingCall } from "./pending-call.js";

/** Of one call. A model or a person answers each question, so a server must not decide how many there are. */
const MAX_ROUNDS = 10;
const MAX_QUESTIONS = 64;
/** The wait after a round that asked nothing: doubles with each such round in a row. Short, so that `maxRounds` ends the call soon. */
const FIRST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 250;

/** Answers the rounds of questions that a server puts into its results. */
export class Rounds {
  readonly #connection: ClientConnection;
  readonly #answerer: Answerer;

  constructor(connection: ClientConnection, answerer: Answerer) {
    this.#connection = connection;
    this.#answerer = answerer;
  }

  /**
   * What the next request has to carry; the state goes back as it came. Rejects when an answer cannot be given.
   *
   * Spec: Multi Round-Trip Requests, "Client Requirements (Basic Workflow)",
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow
   */
  async answer(
    call: PendingCall,
    { questions, state }: Outcome & { kind: "input" },
  ): Promise<NonNullable<OutgoingCall["inputs"]>> {
    call.rounds++;
    const entries = Object.entries(questions);
    this.#limit(call, entries.length);
    const echoed = state === undefined ? {} : { state };
    if (entries.length === 0) {
      await this.#backOff(call);
      return echoed;
    }
    call.emptyRounds = 0;
    for (const [key, question] of entries) this.#check(call, key, question);
    const answers = await this.#ask(
      call,
      entries.map(([, question]) => question),
    );
    return { responses: Object.fromEntries(entries.map(([key], index) => [key, answers[index]])), ...echoed };
  }

  #limit(call: PendingCall, questions: number): void {
    const { maxRounds = MAX_ROUNDS, maxQuestions = MAX_QUESTIONS } = this.#connection.options;
    call.questions += questions;
    if (call.rounds > maxRounds) {
      throw new McpError("limit_exceeded", `${call.out.method} asked more than ${maxRounds} rounds of questions`, {
        data: { limit: "maxRounds", value: maxRounds },
        fix: "Raise `maxRounds` in `connect`, or look at what the server keeps asking.",
      });
    }
    if (call.questions <= maxQuestions) return;
    throw new McpError("limit_exceeded", `${call.out.method} asked more than ${maxQuestions} questions`, {
      data: { limit: "maxQuestions", value: maxQuestions },
      fix: "Raise `maxQuestions` in `connect`, or look at what the server keeps asking.",
    });
  }

  /** A question that was not declared, or is malformed, makes the whole result invalid. */
  #check(call: PendingCall, key: string, question: Question): void {
    try {
      this.#answerer.check(question);
    } catch (error) {
      const { message } = McpError.from(error);
      throw new McpError("invalid_response", `${call.out.method} asks "${key}" wrongly: ${message}`, {
        cause: error,
        fix: "The server may ask only what this client declares; give the handler to `connect`, or tell its authors.",
      });
    }
  }

  /** Several questions are put to the application at the same time. */
  async #ask(call: PendingCall, questions: readonly Question[]): Promise<object[]> {
    // One for each: applications listen to their signal, and runtimes warn of many listeners on one.
    const asked = questions.map((question) => ({ question, unwanted: new AbortController() }));
    const asking = call.connection ?? this.#connection.established;
    try {
      return await call.during(
        Promise.all(asked.map(({ question, unwanted }) => this.#answerer.answer(question, asking, unwanted))),
      );
    } catch (error) {
      for (const { unwanted } of asked) unwanted.abort(error);
      throw error;
    }
  }

  async #backOff(call: PendingCall): Promise<void> {
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(call.emptyRounds, 10));
    call.emptyRounds++;
    const over = new AbortController();
    await call.during(pause(this.#connection.platform, wait, over.signal, true)).finally(() => over.abort());
  }
}
