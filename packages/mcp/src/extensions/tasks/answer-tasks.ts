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
import { hasEnded, plainTask } from "./stored/task-record.js";
import type { TaskSettings } from "./task-options.js";

/**
 * Maximum number of questions that may be answered as tasks at the same time. Limited, because a user could not follow
 * more. Further questions are refused.
 */
const MAX_OPEN = 100;
/**
 * Maximum number of stored tasks, including ended ones. At the limit, tasks whose outcome the server has read are
 * evicted. If there are none, new questions are refused.
 */
const MAX_STORED = 1000;
/** Maximum number of tasks on one page of `tasks/list`. */
const PAGE_SIZE = 100;

interface AnswerTask {
  readonly id: string;
  /**
   * The dialect of the revision in which the question was asked. Stored, because the connection may be closed before
   * the task ends.
   */
  readonly dialect: TaskDialect;
  readonly createdAt: number;
  readonly ttlMs: number;
  updatedAt: number;
  status: TaskStatus;
  statusMessage: string | undefined;
  outcome: { readonly result: object } | { readonly error: McpError } | undefined;
  /** True if the server has read the outcome. */
  read: boolean;
  readonly controller: AbortController;
  /** Called when the task ends. */
  readonly waiters: Set<() => void>;
}

/**
 * Answers questions of the server as tasks: the server receives a task at once, and requests the answer later.
 *
 * Spec: Tasks, https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export class AnswerTasks {
  readonly handlers: Readonly<Record<string, ServerRequestHandler>> = {
    "tasks/get": (params) => this.#encode(this.#find(params)),
    "tasks/result": (params, { signal }) => this.#result(this.#find(params), signal),
    "tasks/list": (params) => this.#list(params),
    "tasks/cancel": (params) => this.#cancel(this.#find(params)),
  };
  readonly #client: ExtendedClient;
  readonly #settings: TaskSettings;
  /** The oldest task comes first. */
  readonly #tasks = new Map<string, AnswerTask>();
  #closed = false;

  constructor(client: ExtendedClient, settings: TaskSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  capabilities(revision: Revision): ClientCapabilities {
    return taskDialect(revision).answerCapabilities((method) => this.#client.canAnswer(method));
  }

  /** Answers a question with a task if the server requests one, and with the answer itself otherwise. */
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
    this.#evict();
    const open = [...this.#tasks.values()].filter((task) => !hasEnded(task)).length;
    if (this.#closed) throw new McpError("connection_closed", "the client is closed");
    if (open >= MAX_OPEN) throw tooMany(MAX_OPEN, "questions already wait for an answer");
    if (this.#tasks.size >= MAX_STORED) throw tooMany(MAX_STORED, "answers already wait to be read");
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
      waiters: new Set(),
    };
    this.#tasks.set(task.id, task);
    return task;
  }

  async #run(task: AnswerTask, answer: (signal: AbortSignal) => Promise<object>): Promise<void> {
    try {
      // The application may return values that are not JSON. Fail here, before the task is completed.
      const result = JSON.parse(JSON.stringify(await answer(task.controller.signal))) as object;
      this.#end(task, "completed", { result });
    } catch (thrown) {
      const error = McpError.from(thrown);
      this.#end(task, "failed", { error }, publicText(error));
    }
  }

  /** Ends a task. Only the first call has an effect. */
  #end(task: AnswerTask, status: TaskStatus, outcome: AnswerTask["outcome"], statusMessage?: string): void {
    if (hasEnded(task)) return;
    Object.assign(task, { status, outcome, statusMessage, updatedAt: this.#client.platform.now() });
    if (status === "cancelled") task.controller.abort(new McpError("cancelled", statusMessage ?? "cancelled"));
    for (const wake of task.waiters) wake();
    // The notification is optional, so a failure to send it is ignored.
    if (!this.#closed) this.#client.notify("notifications/tasks/status", this.#encode(task)).catch(() => {});
  }

  #encode(task: AnswerTask): Params {
    // Safe: a task consists of JSON values.
    return task.dialect.encode(taskOf(task, this.#settings)) as Params;
  }

  async #result(task: AnswerTask, signal: AbortSignal): Promise<object> {
    if (!hasEnded(task)) {
      await new Promise<void>((resolve, reject) => {
        task.waiters.add(resolve);
        signal.addEventListener("abort", () => task.waiters.delete(resolve) && reject(signal.reason), { once: true });
      });
    }
    task.read = true;
    const { outcome, status } = task;
    if (outcome === undefined) throw new McpError("invalid_params", `the task is ${status} and has no result`);
    if ("error" in outcome) throw outcome.error;
    return relatedTo(task.id, outcome.result);
  }

  #list({ cursor }: Record<string, unknown>): object {
    this.#evict();
    const tasks = [...this.#tasks.values()];
    const start = cursor === undefined ? 0 : tasks.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== undefined && start === 0) throw new McpError("invalid_params", "the cursor is unknown");
    const page = tasks.slice(start, start + PAGE_SIZE);
    const last = start + PAGE_SIZE < tasks.length ? page.at(-1) : undefined;
    return withNextCursor({ tasks: page.map((task) => this.#encode(task)) }, last?.id);
  }

  #cancel(task: AnswerTask): object {
    if (hasEnded(task)) throw new McpError("invalid_params", `the task is already ${task.status}`);
    this.#end(task, "cancelled", undefined, "the server cancelled the task");
    return task.dialect.cancelResult(taskOf(task, this.#settings));
  }

  #find({ taskId }: Record<string, unknown>): AnswerTask {
    this.#evict();
    // Safe: a value that is not a string matches no key of the map.
    const task = this.#tasks.get(taskId as string);
    if (task !== undefined) return task;
    throw new McpError("invalid_params", "the task does not exist or has expired");
  }

  /** Removes expired tasks and, if too many are stored, tasks whose outcome the server has read. */
  #evict(): void {
    const now = this.#client.platform.now();
    for (const task of this.#tasks.values()) {
      const expired = task.createdAt + task.ttlMs <= now;
      if (!expired && !(task.read && this.#tasks.size >= MAX_STORED)) continue;
      this.#tasks.delete(task.id);
      this.#end(task, "cancelled", undefined, "the task has expired");
    }
  }
}

function taskOf(task: AnswerTask, { pollIntervalMs }: TaskSettings): DetailedTask {
  // Safe: the result is only encoded for revision 2025-11-25, whose tasks have no members that depend on the status.
  return plainTask({ ...task, pollIntervalMs }) as DetailedTask;
}

function tooMany(limit: number, what: string): McpError {
  return new McpError("limit_exceeded", `${limit} ${what}`, { fix: "Ask fewer questions at a time." });
}
