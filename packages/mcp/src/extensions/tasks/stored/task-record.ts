import type { Question } from "../../../era/era.js";
import type { StoredCall } from "../../../era/select/stored-call.js";
import { relatedTo } from "../../../era/task-shape.js";
import type { ErrorObject } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import type { InputRequests } from "../../../protocol/features/input.js";
import { type DetailedTask, isFinalStatus, type Task, type TaskStatus } from "../../../protocol/features/tasks.js";
import type { StepRecord } from "../../../server/call/asker.js";

/** A step that has begun and has no outcome yet. Its process may have ended during the step. */
interface StartedStep {
  begun: true;
}

/** The client's answer to a question, or the error with which the question failed. */
export type TaskAnswer = { readonly value: unknown } | { readonly error: ErrorObject };

/**
 * Identifies the run of the handler that may write. A later run has a higher token, and writes by earlier runs are
 * refused.
 */
export interface TaskLease {
  readonly node: string;
  readonly token: number;
}

/** The stored form of a task: one JSON value that is only replaced as a whole. */
export interface TaskRecord {
  readonly id: string;
  /** The key of the principal that created the task. Null for a caller without authorization. */
  readonly owner: string | null;
  /** `createdAt` and `updatedAt` are in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly status: TaskStatus;
  readonly statusMessage?: string | undefined;
  /** The progress that was reported with `statusMessage`. */
  readonly progress?: number | undefined;
  /** Number of times that the handler may still be restarted. */
  readonly retry: number;
  /** Number of consecutive processes that ended while they ran the task and before the task made progress. */
  readonly stalls?: number | undefined;
  readonly lease: TaskLease;
  /**
   * The call to run again. When the task ends, the call is removed, and `questions`, `answers` and `steps` are emptied.
   */
  readonly call?: StoredCall | undefined;
  /** Open questions by name. */
  readonly questions: Readonly<Record<string, Question>>;
  readonly answers: Readonly<Record<string, TaskAnswer>>;
  readonly steps: Readonly<Record<string, StepRecord | StartedStep>>;
  readonly outcome?: { readonly result: object } | { readonly error: ErrorObject } | undefined;
}

/**
 * Maximum number of consecutive processes that may end without progress of the task. Beyond that, the task fails,
 * because it may itself crash the processes.
 */
const MAX_STALLS = 10;

/** True if the task has ended. */
export function hasEnded({ status }: Pick<TaskRecord, "status">): boolean {
  return isFinalStatus(status);
}

/** The members of a task that do not depend on its status. */
export function plainTask(record: TaskSummary): Task {
  const { id, status, statusMessage, createdAt, updatedAt, ttlMs, pollIntervalMs } = record;
  return {
    taskId: id,
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  };
}

type TaskSummary = Pick<
  TaskRecord,
  "id" | "status" | "statusMessage" | "createdAt" | "updatedAt" | "ttlMs" | "pollIntervalMs"
>;

/** Returns the task as clients see it, in the form of the newest revision. */
export function taskOf(record: TaskRecord): DetailedTask {
  const { status, questions, outcome } = record;
  const task = plainTask(record);
  // Safe: the status determines the members of a task, which the compiler cannot infer.
  if (status === "input_required") return { ...task, inputRequests: questions as InputRequests } as DetailedTask;
  return { ...task, ...(status === "cancelled" ? {} : outcome) } as DetailedTask;
}

/**
 * Returns the result of `tasks/result` for a task that has ended. Throws the error of a failed task, and
 * `invalid_params` for a cancelled task.
 */
export function endResult({ id, status, outcome }: TaskRecord): object {
  if (outcome !== undefined && "result" in outcome) return relatedTo(id, outcome.result);
  if (outcome !== undefined) {
    const { code, message, data } = outcome.error;
    throw new McpError("internal_error", message, { code, data });
  }
  throw new McpError("invalid_params", `the task is ${status} and has no result`);
}

/** Adds open questions to the record. */
export function withQuestions(record: TaskRecord, asked: Readonly<Record<string, Question>>): TaskRecord {
  return { ...record, status: "input_required", questions: { ...record.questions, ...asked } };
}

/**
 * Adds answers to the record, and removes the questions that they answer. Ignores answers to questions that are not
 * open.
 */
export function withAnswers(record: TaskRecord, given: Readonly<Record<string, TaskAnswer>>): TaskRecord {
  const known = Object.entries(given).filter(([name]) => Object.hasOwn(record.questions, name));
  if (known.length === 0) return record;
  const questions = Object.fromEntries(
    Object.entries(record.questions).filter(([name]) => !Object.hasOwn(given, name)),
  );
  const answers = { ...record.answers, ...Object.fromEntries(known) };
  const status = Object.keys(questions).length > 0 ? "input_required" : "working";
  return { ...record, status, questions, answers, stalls: 0 };
}

/** Adds a step that has begun, or its outcome, to the record. */
export function withStep(record: TaskRecord, key: string, step: StepRecord | StartedStep): TaskRecord {
  const stalls = "begun" in step ? record.stalls : 0;
  return { ...record, stalls, steps: { ...record.steps, [key]: step } };
}

/** Ends a task with the result of its handler. For an error result, sets a short status message. */
export function withResult(record: TaskRecord, result: Record<string, unknown>): TaskRecord {
  return endedRecord(record, "completed", { result }, failureText(result));
}

function failureText(result: Record<string, unknown>): string | undefined {
  if (result["isError"] !== true) return undefined;
  const [first] = Array.isArray(result["content"]) ? (result["content"] as { text?: unknown }[]) : [];
  return typeof first?.text === "string" ? first.text.slice(0, 500) : "the tool failed";
}

/** Ends a task. Removes its call, questions, answers and steps. */
export function endedRecord(
  { call: _call, ...record }: TaskRecord,
  status: "completed" | "failed" | "cancelled",
  outcome: TaskRecord["outcome"],
  statusMessage?: string,
): TaskRecord {
  return {
    ...record,
    status,
    statusMessage,
    questions: {},
    answers: {},
    steps: {},
    outcome,
  };
}

/**
 * Returns the record for another run of the handler after its process ended, or the reason why the task cannot be
 * resumed. Work that may have been done is not repeated unless the tool allows retries.
 */
export function resumedRecord(record: TaskRecord, lease: TaskLease): TaskRecord | { reason: string } {
  const { begun, done } = stepsOf(record);
  const isAsking = Object.keys(record.questions).length > 0;
  // A task that waits for a person cannot have crashed the process, so the end of the process does not count as a
  // stall.
  const stalls = isAsking ? 0 : (record.stalls ?? 0) + 1;
  if (stalls > MAX_STALLS) {
    return {
      reason: `was abandoned: ${MAX_STALLS} processes in a row ended while they ran it, without any progress`,
    };
  }
  const wasAsked = isAsking || Object.keys(record.answers).length > 0;
  if (begun.length === 0 && (done.length > 0 || wasAsked)) return { ...record, lease, stalls };
  if (record.retry > 0) {
    return { ...record, lease, stalls, retry: record.retry - 1, steps: Object.fromEntries(done) };
  }
  const [name] = begun;
  const where = name === undefined ? "before its first step was done" : `during step "${name}"`;
  const advice = "set `task: { retry: n }` if its steps are safe to repeat";
  return { reason: `was interrupted ${where} and is not marked as safe to retry; ${advice}` };
}

function stepsOf({ steps }: TaskRecord): { begun: string[]; done: [string, StepRecord][] } {
  const entries = Object.entries(steps);
  const begun = entries.filter(([, step]) => "begun" in step).map(([name]) => name);
  // Safe: every other step has an outcome.
  const done = entries.filter(([, step]) => !("begun" in step)) as [string, StepRecord][];
  return { begun, done };
}
