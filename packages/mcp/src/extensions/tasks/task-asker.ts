import { neverUnhandled } from "../../encoding/maybe-promise.js";
import type { Call, Question } from "../../era/era.js";
import { RpcError } from "../../jsonrpc/error.js";
import { onAbort } from "../../platform/on-abort.js";
import type { Platform } from "../../platform/platform.js";
import { fromWire, McpError, USER_REJECTED } from "../../protocol/error.js";
import type { Asker, PreparedQuestion, StepRecord } from "../../server/call/asker.js";
import { requireCapabilities } from "../../server/call/can-ask.js";
import { nextName, recordFailure, reviveFailure } from "../../server/questions/by-replay.js";
import { claimStep, normalise } from "../../server/questions/by-request.js";
import type { Exchange } from "../../transport/transport.js";
import { type TaskAnswer, type TaskRecord, withAnswers, withQuestions, withStep } from "./stored/task-record.js";
import type { TaskSlot } from "./task-call.js";

/**
 * Maximum number of questions of one task that may be open at the same time. Limited, because a person could not follow
 * more. Further questions fail with `too_many_questions`.
 */
const MAX_QUESTIONS = 32;

/** The call of a task that asks questions. */
interface AskingCall {
  readonly request: Call;
  readonly exchange: Exchange;
  readonly slot: TaskSlot;
}

/** The run of a task whose questions and steps are stored. */
interface AskingRun {
  readonly signal: AbortSignal;
  /**
   * Stores a change. Rejects if another run holds the lease, if the task has ended, or if this process releases its
   * tasks.
   */
  change(change: (record: TaskRecord) => TaskRecord): Promise<TaskRecord>;
  /** Like `change`, but also works while this process releases its tasks. For the outcomes of steps that are done. */
  storeStepOutcome(change: (record: TaskRecord) => TaskRecord): Promise<TaskRecord>;
}

/**
 * The answers and steps so far, from earlier runs of the handler or from the plain call that became the task. In the
 * second case, `names` counts the questions and `stepKeys` contains the steps that the call has already used.
 */
export interface RunHistory extends Pick<TaskRecord, "answers" | "steps"> {
  readonly names?: Map<string, number>;
  readonly stepKeys?: Set<string>;
}

interface OpenQuestion {
  resolve(answer: TaskAnswer): void;
  reject(error: McpError): void;
}

/**
 * Stores the questions and steps of a task in its record, so that a later run of the handler continues where this one
 * ended.
 */
export class TaskAsker implements Asker {
  readonly #run: AskingRun;
  readonly #asking: AskingCall;
  readonly #platform: Platform;
  readonly #answerMs: number | undefined;
  readonly #names: Map<string, number>;
  readonly #answers: Map<string, TaskAnswer>;
  readonly #steps: Map<string, StepRecord>;
  readonly #stepKeys: Set<string>;
  readonly #openQuestions = new Map<string, OpenQuestion>();
  /** Questions of the current turn of the event loop, which are stored together. */
  #newQuestions: Map<string, Question> | undefined;
  /** Steps whose work is running. */
  readonly #working = new Set<Promise<unknown>>();
  repeats = 0;

  /**
   * `answerMs` is the time that a question may stay open. If undefined, a question stays open as long as the task is
   * stored.
   */
  constructor(
    run: AskingRun,
    asking: AskingCall,
    recorded: RunHistory,
    platform: Platform,
    answerMs: number | undefined,
  ) {
    this.#run = run;
    this.#asking = asking;
    this.#platform = platform;
    this.#answerMs = answerMs;
    this.#names = recorded.names ?? new Map();
    this.#stepKeys = recorded.stepKeys ?? new Set();
    this.#answers = new Map(Object.entries(recorded.answers));
    // Safe: `resumedRecord` ensures that a run never begins with an unfinished step.
    this.#steps = new Map(Object.entries(recorded.steps) as [string, StepRecord][]);
    onAbort(run.signal, () => this.rejectOpenQuestions());
  }

  /** Resolves when the outcome of every running step is stored. */
  async stepsStored(): Promise<void> {
    await Promise.allSettled(this.#working);
  }

  repeat(): void {
    this.repeats++;
    this.#names.clear();
    this.#stepKeys.clear();
  }

  ask(prepared: PreparedQuestion): Promise<unknown> {
    return neverUnhandled(this.#ask(prepared));
  }

  async #ask({ question, needs, key }: PreparedQuestion): Promise<unknown> {
    const name = nextName(this.#names, question, key, this.#platform);
    const known = this.#answers.get(name);
    if (known !== undefined) return readAnswer(known);
    requireCapabilities(this.#asking, needs);
    if (this.#openQuestions.size >= MAX_QUESTIONS) {
      throw new McpError("too_many_questions", `a task asked more than ${MAX_QUESTIONS} questions at once`);
    }
    const answerMs = this.#answerMs;
    const waited = new Promise<TaskAnswer>((resolve, reject) => {
      const timer =
        answerMs === undefined
          ? undefined
          : this.#platform.timer(answerMs, () => this.#expire(name, unanswered(question.method, answerMs)));
      const settling = (act: (value: never) => void) => (value: never) => {
        timer?.cancel();
        act(value);
      };
      this.#openQuestions.set(name, { resolve: settling(resolve), reject: settling(reject) });
      if (this.#run.signal.aborted) return this.rejectOpenQuestions();
      this.#queueQuestion(name, question);
    });
    return readAnswer(await this.#asking.slot.lend(waited));
  }

  /** Collects the questions of one turn, so that the client receives them together. */
  #queueQuestion(name: string, question: Question): void {
    if (this.#newQuestions !== undefined) {
      this.#newQuestions.set(name, question);
      return;
    }
    const noted = new Map([[name, question]]);
    this.#newQuestions = noted;
    this.#platform.defer(() => {
      this.#newQuestions = undefined;
      const failed = (error: unknown) => {
        for (const asked of noted.keys()) this.#settle(asked)?.reject(McpError.from(error));
      };
      // Skip questions that the record already answers: a run that takes over the task stores its open questions again,
      // and answers may have arrived in the meantime.
      const ask = (record: TaskRecord) => {
        const open = [...noted].filter(([asked]) => !Object.hasOwn(record.answers, asked));
        return open.length === 0 ? record : withQuestions(record, Object.fromEntries(open));
      };
      this.#run.change(ask).then((record) => this.deliverAnswers(record), failed);
    });
  }

  /**
   * Ends a question that was not answered in time. Stores the error like an answer, so that every run of the handler
   * receives it.
   */
  #expire(name: string, error: McpError): void {
    const { code, message, data } = error;
    const answer = { error: { code, message, data } };
    this.#run
      .change((record) => withAnswers(record, { [name]: answer }))
      .then((record) => {
        // An answer that arrived at the last moment takes precedence.
        if (record.answers[name] !== answer) this.deliverAnswers(record);
      })
      .catch(() => {})
      .finally(() => this.#settle(name)?.reject(error));
  }

  /** Passes the answers in the record to the handler. */
  deliverAnswers({ answers }: TaskRecord): void {
    for (const name of [...this.#openQuestions.keys()]) {
      const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
      if (answer === undefined) continue;
      this.#answers.set(name, answer);
      this.#settle(name)?.resolve(answer);
    }
  }

  step(key: string, work: () => unknown): Promise<unknown> {
    return neverUnhandled(this.#step(key, work));
  }

  async #step(key: string, work: () => unknown): Promise<unknown> {
    claimStep(this.#stepKeys, key);
    const done = this.#steps.get(key);
    if (done !== undefined) {
      if (!("failure" in done)) return done.value;
      throw reviveFailure(done.failure);
    }
    const performed = this.#perform(key, work);
    this.#working.add(performed);
    try {
      return await performed;
    } finally {
      this.#working.delete(performed);
    }
  }

  async #perform(key: string, work: () => unknown): Promise<unknown> {
    // Store the start first. If this process then ends, the process that takes over knows that the step may have been
    // done.
    await this.#run.change((record) => withStep(record, key, { begun: true }));
    let outcome: StepRecord;
    try {
      const value = normalise(await work());
      outcome = value === undefined ? {} : { value };
    } catch (error) {
      await this.#record(key, { failure: recordFailure(error) });
      throw error;
    }
    await this.#record(key, outcome);
    return outcome.value;
  }

  async #record(key: string, outcome: StepRecord): Promise<void> {
    await this.#run.storeStepOutcome((record) => withStep(record, key, outcome));
    this.#steps.set(key, outcome);
  }

  conclude(): Promise<never> {
    return Promise.reject(askedTooEarly());
  }

  #settle(name: string): OpenQuestion | undefined {
    const waiting = this.#openQuestions.get(name);
    this.#openQuestions.delete(name);
    return waiting;
  }

  /** Rejects all open questions, including those that the handler did not wait for. */
  rejectOpenQuestions(): void {
    for (const name of [...this.#openQuestions.keys()]) {
      this.#settle(name)?.reject(new McpError("cancelled", "the task ended without this answer"));
    }
  }
}

function readAnswer(answer: TaskAnswer): unknown {
  if ("value" in answer) return answer.value;
  const { code, message, data } = answer.error;
  const error = new RpcError(code, message, data);
  // As in a call without a task, a refusal by the user has its own error, and any other error is a failure of the tool.
  throw code === USER_REJECTED ? fromWire(error) : error;
}

/**
 * The error for a handler that did not wait for `ctx.startTask()`, and asked a question before its task was stored.
 */
export function askedTooEarly(): McpError {
  return new McpError("misuse", "the handler asked before its task had begun; write `await ctx.startTask()`", {
    fix: "Wait for `ctx.startTask()` before you ask.",
  });
}

function unanswered(method: string, ms: number): McpError {
  return new McpError("timeout", `the client did not answer ${method} within ${ms} ms`, {
    data: { limit: "answerMs", ms },
    fix: "Raise `answerMs` of the tasks extension.",
  });
}

/** Minimum time between two writes of the status message. */
const STATUS_INTERVAL_MS = 1000;

/** A progress report in its stored form. */
interface StoredProgress {
  readonly statusMessage: string;
  readonly progress: number;
}

/**
 * Stores the message of progress reports as the status message of a task.
 *
 * Spec: Tasks extension, "Notifications": tasks have neither progress nor log notifications.
 */
export class StatusMessage {
  readonly #store: (report: StoredProgress) => Promise<unknown>;
  readonly #pause: (ms: number) => Promise<void>;
  #reached: number;
  #message: string | undefined;
  #stored: string | undefined;
  #isStoring = false;

  /**
   * `reached` is the progress of an earlier run of the handler. `store` rejects if the task has ended, or if another
   * process runs it.
   */
  constructor(
    reached: number | undefined,
    store: (report: StoredProgress) => Promise<unknown>,
    pause: (ms: number) => Promise<void>,
  ) {
    this.#reached = reached ?? Number.NEGATIVE_INFINITY;
    this.#store = store;
    this.#pause = pause;
  }

  /**
   * Accepts the parameters of a progress notification. Returns false for a report that an earlier run already made: a
   * handler that starts again reports from the beginning, and clients must not see progress go back.
   */
  report({ message, progress, total }: Record<string, unknown>): boolean {
    const number = Number(progress);
    if (number <= this.#reached) return false;
    this.#reached = number;
    const reached = `${String(progress)}${total === undefined ? "" : ` of ${String(total)}`}`;
    this.#message = typeof message === "string" ? message : reached;
    if (!this.#isStoring) void this.#storeAll();
    return true;
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    try {
      while (this.#message !== undefined && this.#message !== this.#stored) {
        const statusMessage = this.#message;
        await this.#store({ statusMessage, progress: this.#reached });
        this.#stored = statusMessage;
        await this.#pause(STATUS_INTERVAL_MS);
      }
    } catch {
      // The write failed, for example because the task has ended. No caller waits for the status message.
    } finally {
      this.#isStoring = false;
    }
  }
}
