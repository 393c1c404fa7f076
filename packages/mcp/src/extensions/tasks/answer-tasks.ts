import { publicText } from "../../client/answers/server-requests.js";
import type { ConnectedExtension, ExtendedClient } from "../../client/contract/extension.js";
import type { ServerRequestHandler } from "../../client/contract/options.js";
import { randomName } from "../../encoding/base64.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { type RequestedTask, relatedTo, type TaskDialect } from "../../era/task-shape.js";
import type { Params } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { DetailedTask, TaskStatus } from "../../protocol/features/tasks.js";
import { withNextCursor } from "../../protocol/message.js";
import type { Revision } from "../../protocol/revisions.js";
import { isOver, plainTask } from "./stored/task-record.js";
import type { TaskSettings } from "./task-options.js";

/** Questions that are answered as tasks at the same time; the user could not follow more. */
const MAX_OPEN = 100;
/** Tasks that are kept, those whose outcome nobody has read yet included. */
const MAX_KEPT = 1000;
/** Tasks on a page of the list. */
const PAGE_SIZE = 100;

interface AnswerTask {
  readonly id: string;
  /** Of the revision it was asked in, because the connection may be lost when it ends. */
  readonly dialect: TaskDialect;
  readonly createdAt: number;
  readonly ttlMs: number;
  updatedAt: number;
  status: TaskStatus;
  statusMessage: string | undefined;
  outcome: { readonly result: object } | { readonly error: McpError } | undefined;
  /** Whether the server has the outcome. */
  read: boolean;
  readonly controller: AbortController;
  /** Called when the task is over. */
  readonly waiting: Set<() => void>;
}

/**
 * Questions of the server that this client answers as tasks: the server gets a task at once, and asks for the answer later.
 *
 * Spec: Tasks, https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export class AnswerTasks {
  readonly handlers: Readonly<Record<string, ServerRequestHandler>> = {
    "tasks/get": (params) => this.#shown(this.#find(params)),
    "tasks/result": (params, { signal }) => this.#result(this.#find(params), signal),
    "tasks/list": (params) => this.#list(params),
    "tasks/cancel": (params) => this.#cancel(this.#find(params)),
  };
  readonly #client: ExtendedClient;
  readonly #settings: TaskSettings;
  /** Oldest first. */
  readonly #tasks = new Map<string, AnswerTask>();
  #closed = false;

  constructor(client: ExtendedClient, settings: TaskSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  capabilities(revision: Revision): ClientCapabilities {
    return taskDialect(revision).answerCapabilities((method) => this.#client.canAnswer(method));
  }

  /** Answers a question with a task, if the server wants one, and with its answer otherwise. */
  readonly answering: NonNullable<ConnectedExtension<unknown>["answering"]> = async (question, answer) => {
    const dialect = taskDialect(this.#client.era.revision);
    const wanted = dialect.requestedAnswerTask(question);
    if (wanted === undefined) return answer();
    const task = this.#create(wanted, dialect);
    void this.#run(task, answer);
    return dialect.createdResult(taskOf(task, this.#settings));
  };

  close(): void {
    this.#closed = true;
    for (const task of this.#tasks.values()) this.#end(task, "cancelled", undefined, "the client was closed");
  }

  #create(wanted: RequestedTask, dialect: TaskDialect): AnswerTask {
    const { platform } = this.#client;
    const { ttlMs, maxTtlMs } = this.#settings;
    this.#forget();
    const open = [...this.#tasks.values()].filter((task) => !isOver(task)).length;
    if (this.#closed) throw new McpError("connection_closed", "the client is closed");
    if (open >= MAX_OPEN) throw tooMany(MAX_OPEN, "questions wait for an answer");
    if (this.#tasks.size >= MAX_KEPT) throw tooMany(MAX_KEPT, "answers wait to be read");
    const now = platform.now();
    const task: AnswerTask = {
      id: randomName(platform, 24),
      dialect,
      createdAt: now,
      ttlMs: Math.min(Math.ceil(wanted.ttlMs ?? ttlMs), maxTtlMs),
      updatedAt: now,
      status: "working",
      statusMessage: undefined,
      outcome: undefined,
      read: false,
      controller: new AbortController(),
      waiting: new Set(),
    };
    this.#tasks.set(task.id, task);
    return task;
  }

  async #run(task: AnswerTask, answer: (signal: AbortSignal) => Promise<object>): Promise<void> {
    try {
      // What the application gave may not be JSON, and that is known before the task is completed.
      const result = JSON.parse(JSON.stringify(await answer(task.controller.signal))) as object;
      this.#end(task, "completed", { result });
    } catch (thrown) {
      const error = McpError.from(thrown);
      this.#end(task, "failed", { error }, publicText(error));
    }
  }

  /** The first end counts. */
  #end(task: AnswerTask, status: TaskStatus, outcome: AnswerTask["outcome"], statusMessage?: string): void {
    if (isOver(task)) return;
    Object.assign(task, { status, outcome, statusMessage, updatedAt: this.#client.platform.now() });
    if (status === "cancelled") task.controller.abort(new McpError("cancelled", statusMessage ?? "cancelled"));
    for (const wake of task.waiting) wake();
    // Nobody may depend on the notification, so it may be lost.
    if (!this.#closed) this.#client.notify("notifications/tasks/status", this.#shown(task)).catch(() => {});
  }

  #shown(task: AnswerTask): Params {
    // A task is a record of JSON values.
    return task.dialect.encode(taskOf(task, this.#settings)) as Params;
  }

  async #result(task: AnswerTask, signal: AbortSignal): Promise<object> {
    if (!isOver(task)) {
      await new Promise<void>((resolve, reject) => {
        task.waiting.add(resolve);
        signal.addEventListener("abort", () => task.waiting.delete(resolve) && reject(signal.reason), { once: true });
      });
    }
    task.read = true;
    const { outcome, status } = task;
    if (outcome === undefined) throw new McpError("invalid_params", `the task is ${status} and has no result`);
    if ("error" in outcome) throw outcome.error;
    return relatedTo(task.id, outcome.result);
  }

  #list({ cursor }: Record<string, unknown>): object {
    this.#forget();
    const tasks = [...this.#tasks.values()];
    const start = cursor === undefined ? 0 : tasks.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== undefined && start === 0) throw new McpError("invalid_params", "there is no such cursor");
    const page = tasks.slice(start, start + PAGE_SIZE);
    const last = start + PAGE_SIZE < tasks.length ? page.at(-1) : undefined;
    return withNextCursor({ tasks: page.map((task) => this.#shown(task)) }, last?.id);
  }

  #cancel(task: AnswerTask): object {
    if (isOver(task)) throw new McpError("invalid_params", `the task is ${task.status} already`);
    this.#end(task, "cancelled", undefined, "the server cancelled the task");
    return task.dialect.cancelResult(taskOf(task, this.#settings));
  }

  #find({ taskId }: Record<string, unknown>): AnswerTask {
    this.#forget();
    // A foreign value finds nothing in the map.
    const task = this.#tasks.get(taskId as string);
    if (task !== undefined) return task;
    throw new McpError("invalid_params", "there is no such task, or it has expired");
  }

  /** Forgets what has expired and, when there is too much, what the server has read. */
  #forget(): void {
    const now = this.#client.platform.now();
    for (const task of this.#tasks.values()) {
      const expired = task.createdAt + task.ttlMs <= now;
      if (!expired && !(task.read && this.#tasks.size >= MAX_KEPT)) continue;
      this.#tasks.delete(task.id);
      this.#end(task, "cancelled", undefined, "the task has expired");
    }
  }
}

function taskOf(task: AnswerTask, { pollIntervalMs }: TaskSettings): DetailedTask {
  // Only the older form is made of it, which has none of the members that depend on the status.
  return plainTask({ ...task, pollIntervalMs }) as DetailedTask;
}

function tooMany(limit: number, what: string): McpError {
  return new McpError("limit_exceeded", `${limit} ${what} already`, { fix: "Ask for less at a time." });
}
