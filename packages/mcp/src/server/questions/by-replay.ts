import { neverUnhandled } from "../../encoding/maybe-promise.js";
import type { Question } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { atMost } from "../../platform/pause.js";
import type { Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import {
  type Asker,
  type PreparedQuestion,
  QuestionNames,
  type RecordedAnswers,
  type StepRecord,
} from "../call/asker.js";
import { requireCapabilities } from "../call/can-ask.js";
import { InputOutcome, InputRequired, isInputRequired } from "../call/input-required.js";
import type { ServerCall } from "../call/server-call.js";
import { claimStep, malformedAnswer, normalise, traced } from "./by-request.js";
import { openState, type QuestionState, recordFailure, reviveFailure, sealState } from "./state.js";

/** How long to wait for the handler to ask the questions that the request answers, before new questions are sent. */
const CLAIM_MS = 250;
/** How long to wait for an interrupted handler to finish, before the questions are sent without it. */
const UNWIND_MS = 1000;
/** Questions after the interruption that are rejected; later ones never settle, which stops a loop that keeps asking. */
const LATE_LIMIT = 64;

/**
 * Asks by interim results: the handler runs again from the top in each round and gets the answers so far.
 * Questions without an answer are collected during one turn of the event loop. Then all of them reject together, and the
 * outcome of the call is the interim result, whatever the handler does.
 *
 * Spec: Multi Round-Trip Requests, "Basic Workflow",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#basic-workflow
 */
export class Replay implements Asker {
  readonly #call: ServerCall;
  readonly #round: number;
  readonly #answers: Map<string, unknown>;
  readonly #steps: Map<string, StepRecord>;
  /** Answers in this request whose questions the handler has not asked yet. */
  readonly #unclaimed: Set<string>;
  readonly #broughtAnswers: boolean;
  readonly #names: QuestionNames;
  readonly #stepKeys = new Set<string>();
  readonly #noted = new Map<string, Question>();
  readonly #waiters: ((signal: InputRequired) => void)[] = [];
  readonly #stepsInFlight = new Map<string, Promise<unknown>>();
  readonly #signal = new InputRequired();
  #claimed = 0;
  #considering = false;
  /** Runs while answers of this request are still unclaimed. */
  #claiming: Timer | undefined;
  #interrupted = false;
  #late = 0;
  #fatal: McpError | undefined;

  constructor(call: ServerCall, state: QuestionState | undefined, responses: Record<string, unknown>) {
    this.#call = call;
    this.#names = new QuestionNames(call.facts.platform);
    call.facts.platform.guardRejections?.(isInputRequired);
    if (state !== undefined) call.resume(state.id, undefined);
    this.#round = state?.round ?? 0;
    this.#answers = new Map(Object.entries(state?.answers ?? {}));
    this.#steps = new Map(Object.entries(state?.steps ?? {}));
    const accepted = Object.entries(responses).filter(([key]) => state === undefined || state.asked.includes(key));
    for (const [key, answer] of accepted) this.#answers.set(key, answer);
    // Without state the server cannot know which questions it asked, so it waits for none of them.
    this.#unclaimed = new Set(state === undefined ? [] : accepted.map(([key]) => key));
    this.#broughtAnswers = this.#unclaimed.size > 0;
  }

  ask(prepared: PreparedQuestion): Promise<unknown> {
    return neverUnhandled(this.#ask(prepared));
  }

  async #ask({ question, needs, key }: PreparedQuestion): Promise<unknown> {
    const name = this.#names.next(question, key);
    if (this.#answers.has(name)) {
      this.#claim(name);
      return this.#answers.get(name);
    }
    requireCapabilities(this.#call, needs);
    if (this.#interrupted) return this.#lateSignal();
    this.#checkLimits();
    this.#noted.set(name, question);
    return new Promise((_resolve, reject) => {
      this.#waiters.push(reject);
      this.#consider();
    });
  }

  step(key: string, work: () => unknown): Promise<unknown> {
    return neverUnhandled(this.#step(key, work));
  }

  async #step(key: string, work: () => unknown): Promise<unknown> {
    claimStep(this.#stepKeys, key);
    const record = this.#steps.get(key);
    if (record !== undefined) {
      if (!("failure" in record)) return record.value;
      throw reviveFailure(record.failure);
    }
    if (this.#interrupted) return this.#lateSignal();
    const running = this.#runStep(key, work);
    this.#stepsInFlight.set(key, running);
    return neverUnhandled(running).finally(() => this.#stepsInFlight.delete(key));
  }

  async #runStep(key: string, work: () => unknown): Promise<unknown> {
    try {
      const value = normalise(await work());
      this.#steps.set(key, value === undefined ? {} : { value });
      return value;
    } catch (error) {
      if (isInputRequired(error)) {
        this.#fatal = new McpError("misuse", `the step "${key}" asks a question`, {
          fix: "Ask outside `ctx.step`, and use the answer inside.",
        });
        throw this.#fatal;
      }
      this.#steps.set(key, { failure: recordFailure(error) });
      throw error;
    }
  }

  async recorded(): Promise<RecordedAnswers> {
    await Promise.allSettled(this.#stepsInFlight.values());
    const [answers, steps] = [Object.fromEntries(this.#answers), Object.fromEntries(this.#steps)];
    return { answers, steps, names: this.#names, stepKeys: this.#stepKeys };
  }

  /** The interim result after an interruption. Waits for steps as long as the call may last, for the handler not for long. */
  async conclude(handler: Promise<unknown>): Promise<InputOutcome> {
    if (this.#stepsInFlight.size > 0) await this.#stepsToEnd();
    await atMost(this.#call.facts.platform, UNWIND_MS, Promise.allSettled([handler]));
    if (this.#fatal !== undefined) throw this.#fatal;
    const state = await sealState(this.#call, {
      id: this.#call.callId,
      round: this.#round + 1,
      answers: Object.fromEntries(this.#answers),
      steps: Object.fromEntries(this.#steps),
      asked: [...this.#noted.keys()],
    });
    this.#call.abort(this.#signal);
    // Added only now, because the trace differs from round to round and must not change the question's key.
    const questions = [...this.#noted].map(([key, question]) => [key, traced(this.#call, question)] as const);
    return new InputOutcome(Object.fromEntries(questions), state);
  }

  /** A step without a record would run again in the next round, so the call fails instead. */
  async #stepsToEnd(): Promise<void> {
    const { facts, root } = this.#call;
    const deadline = root.admission?.deadline;
    const limit = deadline === undefined ? "answerMs" : "timeoutMs";
    const ms = Math.ceil(deadline?.left ?? facts.limits.answerMs);
    await atMost(facts.platform, ms, Promise.allSettled(this.#stepsInFlight.values()));
    for (const step of this.#stepsInFlight.keys()) {
      const late = new McpError("timeout", `the step "${step}" did not finish within ${ms} ms`, {
        data: { limit, ms, step },
        fix: `Do less in one step, or raise ${deadline === undefined ? "`limits.answerMs` of the server" : "`timeoutMs` of the tool"}.`,
      });
      this.#call.abort(late);
      throw late;
    }
  }

  #claim(name: string): void {
    this.#claimed++;
    if (this.#unclaimed.delete(name) && this.#unclaimed.size === 0 && this.#noted.size > 0) this.#deferInterrupt();
  }

  #checkLimits(): void {
    const { questions, rounds } = this.#call.facts.limits;
    if (this.#noted.size >= questions) throw tooMany(`more than ${questions} questions at once`);
    if (this.#round >= rounds) throw tooMany(`more than ${rounds} rounds of questions`);
  }

  #consider(): void {
    if (this.#considering) return;
    this.#considering = true;
    if (this.#unclaimed.size === 0) this.#deferInterrupt();
    else this.#claiming = this.#call.facts.platform.timer(CLAIM_MS, () => this.#interrupt());
  }

  #deferInterrupt(): void {
    this.#call.facts.platform.defer(() => this.#interrupt());
  }

  #interrupt(): void {
    if (this.#interrupted) return;
    this.#interrupted = true;
    this.#claiming?.cancel();
    if (this.#broughtAnswers && this.#claimed === 0) {
      this.#fatal = new McpError("question_changed", "the handler did not ask the questions that the client answered");
    }
    this.#call.interruption?.interrupt();
    for (const interrupt of this.#waiters.splice(0)) interrupt(this.#signal);
  }

  #lateSignal(): Promise<never> {
    if (++this.#late > LATE_LIMIT) return new Promise(() => {});
    return new Promise((_resolve, reject) => {
      this.#call.facts.platform.defer(() => reject(this.#signal));
    });
  }
}

/**
 * Creates the replay of a call whose request has answers. Throws `invalid_params` for malformed answers.
 *
 * Spec: Multi Round-Trip Requests, "Error Handling",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#error-handling
 */
export async function openReplay(call: ServerCall): Promise<Replay> {
  const { responses, state } = call.request.inputs ?? {};
  if (responses !== undefined && !isObject(responses)) {
    throw new McpError("invalid_params", "`inputResponses` is not an object");
  }
  for (const answer of Object.values(responses ?? {})) if (!isObject(answer)) throw malformedAnswer("a question");
  return new Replay(call, state === undefined ? undefined : await openState(call, state), responses ?? {});
}

function tooMany(what: string): McpError {
  return new McpError("too_many_questions", `a call asked ${what}`);
}
