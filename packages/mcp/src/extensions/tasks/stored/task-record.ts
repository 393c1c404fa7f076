import type { Question } from "../../../era/era.js";
import type { StoredCall } from "../../../era/select/stored-call.js";
import { relatedTo } from "../../../era/task-shape.js";
import type { ErrorObject } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import type { InputRequests } from "../../../protocol/features/input.js";
import { type DetailedTask, isFinalStatus, type Task, type TaskStatus } from "../../../protocol/features/tasks.js";
import type { StepRecord } from "../../../server/call/asker.js";

/** A step that has begun and has no outcome yet: its process may have ended in the middle of it. */
interface BegunStep {
  begun: true;
}

/** What the client said to a question: its answer, or that it cannot or will not answer. */
export type TaskAnswer = { readonly value: unknown } | { readonly error: ErrorObject };

/** Which run of the handler may write: a later run has a higher token, and then the earlier one is refused. */
export interface TaskLease {
  readonly node: string;
  readonly token: number;
}

/** All that is stored of a task, as one JSON value that is only ever replaced as a whole. */
export interface TaskRecord {
  readonly id: string;
  /** The key of the principal that created it; null for a caller without authorization. */
  readonly owner: string | null;
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly status: TaskStatus;
  readonly statusMessage?: string | undefined;
  /** The progress that `statusMessage` was reported with. */
  readonly progress?: number | undefined;
  /** How often the handler may still begin again. */
  readonly retry: number;
  /** How often in a row the process that ran it ended before the task got any further. */
  readonly stalls?: number | undefined;
  readonly lease: TaskLease;
  /** What to run again; gone when the task is over, like the next three. */
  readonly call?: StoredCall | undefined;
  /** Open questions by name. */
  readonly questions: Readonly<Record<string, Question>>;
  readonly answers: Readonly<Record<string, TaskAnswer>>;
  readonly steps: Readonly<Record<string, StepRecord | BegunStep>>;
  readonly outcome?: { readonly result: object } | { readonly error: ErrorObject } | undefined;
}

/** Processes in a row that a task may see the end of without getting any further: it may be what ends them. */
const MAX_STALLS = 10;

/** Whether the task is over. */
export function isOver({ status }: Pick<TaskRecord, "status">): boolean {
  return isFinalStatus(status);
}

/** What every task shows, whatever its status. */
export function plainTask(record: TaskFacts): Task {
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

type TaskFacts = Pick<
  TaskRecord,
  "id" | "status" | "statusMessage" | "createdAt" | "updatedAt" | "ttlMs" | "pollIntervalMs"
>;

/** The task as clients see it, in the newest form. */
export function taskOf(record: TaskRecord): DetailedTask {
  const { status, questions, outcome } = record;
  const task = plainTask(record);
  // The status decides which members a task has, which the compiler cannot follow.
  if (status === "input_required") return { ...task, inputRequests: questions as InputRequests } as DetailedTask;
  return { ...task, ...(status === "cancelled" ? {} : outcome) } as DetailedTask;
}

/** The result of `tasks/result` for a task that is over. Throws its error. */
export function endResult({ id, status, outcome }: TaskRecord): object {
  if (outcome !== undefined && "result" in outcome) return relatedTo(id, outcome.result);
  if (outcome !== undefined) {
    const { code, message, data } = outcome.error;
    throw new McpError("internal_error", message, { code, data });
  }
  throw new McpError("invalid_params", `the task is ${status} and has no result`);
}

/** The record with questions added, which the client has to answer. */
export function withQuestions(record: TaskRecord, asked: Readonly<Record<string, Question>>): TaskRecord {
  return { ...record, status: "input_required", questions: { ...record.questions, ...asked } };
}

/** The record with the answers to questions that are open; other answers are ignored. */
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

/** The record with a step that has begun, or with its outcome. */
export function withStep(record: TaskRecord, key: string, step: StepRecord | BegunStep): TaskRecord {
  const stalls = "begun" in step ? record.stalls : 0;
  return { ...record, stalls, steps: { ...record.steps, [key]: step } };
}

/** The record of a task whose handler gave a result; for one that is an error, with a short text for people who look at the task. */
export function withResult(record: TaskRecord, result: Record<string, unknown>): TaskRecord {
  return ended(record, "completed", { result }, failureText(result));
}

function failureText(result: Record<string, unknown>): string | undefined {
  if (result["isError"] !== true) return undefined;
  const [first] = Array.isArray(result["content"]) ? (result["content"] as { text?: unknown }[]) : [];
  return typeof first?.text === "string" ? first.text.slice(0, 500) : "the tool failed";
}

/** The record of a task that is over. */
export function ended(
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
 * What another run of the handler begins with after its process ended, or why there must be none: work that may have been
 * done is never done again unless the tool allows it.
 */
export function resumed(record: TaskRecord, lease: TaskLease): TaskRecord | { reason: string } {
  const { begun, done } = stepsOf(record);
  const isAsking = Object.keys(record.questions).length > 0;
  // A task that waits for a person does nothing that could end a process.
  const stalls = isAsking ? 0 : (record.stalls ?? 0) + 1;
  if (stalls > MAX_STALLS) {
    return {
      reason: `was given up: ${MAX_STALLS} processes that ran it ended one after the other before it got any further`,
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
  // What has not only begun has an outcome.
  const done = entries.filter(([, step]) => !("begun" in step)) as [string, StepRecord][];
  return { begun, done };
}
