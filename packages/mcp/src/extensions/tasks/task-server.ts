import { isThenable, type MaybePromise, whenReady } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { cacheText } from "../../era/result-text.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ListToolsResult, Tool } from "../../protocol/features/tools.js";
import { withNextCursor } from "../../protocol/message.js";
import type { FoundOffer } from "../../server/contract/source.js";
import type { TaskSupport } from "../../server/contract/tool.js";
import type { ExtendedServer, ExtensionCall, PreparedCall, ServedExtension } from "../seam/extended-server.js";
import { AskerByTask } from "./ask-by-task.js";
import { endedRecord, endResult, hasEnded, type TaskRecord, taskOf, withAnswers } from "./stored/task-record.js";
import { asStorageUnavailable, TASK_ID, TooManyTasks } from "./stored/task-store.js";
import { askThrough, onStartTask } from "./task-call.js";
import { type TaskRules, type TaskSettings, taskRules } from "./task-options.js";
import { TaskResults } from "./task-results.js";
import { TaskRunner } from "./task-runner.js";

/** Maximum number of tasks on one page of `tasks/list`, if the server sets no page size. */
const PAGE_SIZE = 100;

/** Serves the tasks of one server. */
export function serveTasks(server: ExtendedServer, settings: TaskSettings): ServedExtension {
  const tasks = new TaskServer(server, settings);
  return {
    handlers: {
      "tasks/get": (params, call) => tasks.answer(tasks.get(params, call)),
      "tasks/update": (params, call) => tasks.answer(tasks.update(params, call)),
      "tasks/cancel": (params, call) => tasks.answer(tasks.cancel(params, call)),
      "tasks/list": (params, call) => tasks.answer(tasks.list(params, call)),
      "tasks/result": (params, call) => tasks.answer(tasks.result(params, call)),
    },
    around: {
      "tools/call": (call, next) => tasks.call(call, next),
      "tools/list": (call, next) => tasks.listTools(call, next),
    },
    capabilities: (revision) => taskDialect(revision).capabilities,
    toolOptions: {
      task({ name, definition }) {
        taskRules(name, definition.task);
        return {};
      },
    },
    listenValues: { taskIds: (ids, call) => tasks.listenable(ids, call) },
    close: () => tasks.close(),
  };
}

class TaskServer {
  readonly #server: ExtendedServer;
  readonly #runner: TaskRunner;
  readonly #results: TaskResults;
  readonly #asksByTask: boolean;
  readonly #rules = new WeakMap<FoundOffer, { readonly rules: TaskRules | undefined }>();
  /**
   * Names of the tools for which the server already warned that `ctx.startTask` has no effect. At most one entry per
   * tool.
   */
  readonly #warned = new Set<string>();
  readonly #listsWithSupport = new WeakMap<object, object>();

  constructor(server: ExtendedServer, settings: TaskSettings) {
    this.#server = server;
    this.#runner = new TaskRunner(server, settings);
    this.#results = new TaskResults(server, this.#runner, settings.askByTask);
    this.#asksByTask = settings.askByTask;
  }

  /** Returns the task rules of a tool, or undefined if the tool never runs as a task. */
  #rulesOf(name: string, tool: FoundOffer): TaskRules | undefined {
    let known = this.#rules.get(tool);
    if (known === undefined) {
      known = { rules: taskRules(name, tool.task ?? listedSupport(tool)) };
      this.#rules.set(tool, known);
    }
    return known.rules;
  }

  /**
   * Implements `ctx.startTask` in tools whose calls never become tasks. Warns once per tool, and resolves with false.
   */
  #refuseStartTask(tool: string): Promise<boolean> {
    if (!this.#warned.has(tool)) {
      this.#warned.add(tool);
      const task = '`task: { support: "optional", begin: "handler" }`';
      this.#server.platform.warn(
        `the tool "${tool}" called \`ctx.startTask\`, but its calls cannot become tasks: add ${task}`,
      );
    }
    return Promise.resolve(false);
  }

  call(call: PreparedCall, next: () => object | Promise<object>): object | Promise<object> {
    const { request } = call;
    const { name } = request.params;
    if (this.#server.sharesStorage) this.#runner.open();
    if (typeof name !== "string") return next();
    const found = this.#server.find("tools", name, call);
    return whenReady(found, (tool) => (tool === undefined ? next() : this.#call(name, tool, call, next)));
  }

  #call(name: string, tool: FoundOffer, call: PreparedCall, next: () => MaybePromise<object>): MaybePromise<object> {
    const { request } = call;
    const rules = this.#rulesOf(name, tool);
    const dialect = taskDialect(request.revision);
    const wanted = dialect.requestedTask(request);
    if (rules !== undefined && wanted !== undefined) {
      return this.#runner.begin(call, rules, wanted).catch((error: unknown) => {
        if (error instanceof TooManyTasks) call.reply = error.limited;
        throw error;
      });
    }
    if (rules === undefined) onStartTask(call, () => this.#refuseStartTask(name));
    if (rules?.support === "required") throw dialect.taskRequiredError(name);
    // Spec: Tasks, "Tool-Level Negotiation": a tool without task support refuses to run as a task.
    if (wanted !== undefined && dialect.callsRequest) {
      throw new McpError("method_not_found", `the tool "${name}" does not run as a task; leave \`params.task\` out`);
    }
    if (this.#asksByTask && dialect.callsRequest) askThrough(call, new AskerByTask(this.#server, call));
    return next();
  }

  listTools(call: ExtensionCall, next: () => object | Promise<object>): object | Promise<object> {
    const listed = next();
    if (!taskDialect(call.request.revision).callsRequest) return listed;
    return whenReady(listed, (result) => this.#withSupport(result, call));
  }

  /**
   * Returns the list with the task support of each tool. Creates this copy once per list, so that its text is cached.
   */
  #withSupport(result: object, call: ExtensionCall): MaybePromise<object> {
    const known = this.#listsWithSupport.get(result);
    if (known !== undefined) return known;
    const { tools, ...rest } = result as ListToolsResult;
    const found = tools.map(({ name }) => this.#server.find("tools", name, call));
    const made = (offers: readonly (FoundOffer | undefined)[]) => {
      const supporting = tools.map((tool, index) => {
        const offer = offers[index];
        const taskSupport = offer && this.#rulesOf(tool.name, offer)?.support;
        return taskSupport === undefined ? tool : { ...tool, execution: { taskSupport } };
      });
      const list = cacheText({ tools: supporting, ...rest });
      this.#listsWithSupport.set(result, list);
      return list;
    };
    return found.some(isThenable) ? Promise.all(found).then(made) : made(found as (FoundOffer | undefined)[]);
  }

  /** Answers a request about a task. If the storage is unavailable, throws an error that tells the client to retry. */
  async answer(answer: Promise<object>): Promise<object> {
    try {
      return await answer;
    } catch (error) {
      const shown = asStorageUnavailable(error);
      if (shown !== error) this.#server.platform.warn(`a request about a task failed: ${thrownMessage(error)}`);
      throw shown;
    }
  }

  async get(params: Params, call: ExtensionCall): Promise<object> {
    const dialect = taskDialect(call.request.revision);
    const record = await this.#ownedTask(params, call);
    if (dialect.pushes) this.#results.onGet(record, call);
    return dialect.encode(taskOf(record));
  }

  async update(params: Params, call: ExtensionCall): Promise<object> {
    const { id } = await this.#ownedTask(params, call);
    const { inputResponses } = params;
    if (!isObject(inputResponses)) throw new McpError("invalid_params", "`params.inputResponses` is not an object");
    for (const [key, answer] of Object.entries(inputResponses)) {
      if (!isObject(answer)) throw new McpError("invalid_params", `the answer "${key}" is not an object`);
    }
    const given = Object.entries(inputResponses).map(([name, value]) => [name, { value }] as const);
    await this.#runner.open().update(id, (record) => withAnswers(record, Object.fromEntries(given)));
    return {};
  }

  async cancel(params: Params, call: ExtensionCall): Promise<object> {
    const { id } = await this.#ownedTask(params, call);
    const dialect = taskDialect(call.request.revision);
    const record = await this.#runner.open().update(id, (found) => {
      if (!hasEnded(found)) return endedRecord(found, "cancelled", undefined, "the client cancelled the task");
      if (!dialect.refusesLateCancel) return found;
      throw new McpError("invalid_params", `the task is already ${found.status}`);
    });
    if (record === undefined) throw unknownTask();
    return dialect.cancelResult(taskOf(record));
  }

  async list(params: Params, { request, exchange }: ExtensionCall): Promise<object> {
    const owner = (exchange.principal ?? exchange.peer?.principal)?.key;
    const ids = owner === undefined ? this.#runner.createdBy(exchange.peer) : await this.#runner.open().owned(owner);
    const dialect = taskDialect(request.revision);
    const signs = `cursor tasks ${owner ?? ""}`;
    const pageStart = params["cursor"] === undefined ? 0 : this.#start(ids, signs, params["cursor"]);
    const end = pageStart + (this.#server.pageSize ?? PAGE_SIZE);
    const page = await Promise.all(ids.slice(pageStart, end).map((id) => this.#runner.open().read(id)));
    const tasks = page.filter((record) => record !== undefined && record.owner === (owner ?? null));
    const last = ids[end - 1];
    const shown = tasks.map((record) => dialect.encode(taskOf(record as TaskRecord)));
    const hasMore = end < ids.length && last !== undefined;
    return withNextCursor({ tasks: shown }, hasMore ? this.#server.secrets.sign(signs, last) : undefined);
  }

  /**
   * Returns the index of the first task on the page that a cursor requests. A cursor contains the id of the last task
   * on the previous page. It is valid only for the same owner, and only while that task is listed.
   */
  #start(ids: readonly string[], signs: string, cursor: unknown): number {
    const after = typeof cursor === "string" ? this.#server.secrets.verify(signs, cursor) : undefined;
    const start = after === undefined ? 0 : ids.indexOf(after) + 1;
    if (start > 0) return start;
    throw new McpError("invalid_params", "the cursor of the task list is unknown or has expired");
  }

  async result(params: Params, call: ExtensionCall): Promise<object> {
    const record = await this.#ownedTask(params, call);
    return hasEnded(record) ? endResult(record) : this.#results.wait(record, call);
  }

  /** Filters `ids`: returns the ids of the tasks that the caller may subscribe to. */
  async listenable(ids: readonly string[], call: ExtensionCall): Promise<string[]> {
    taskDialect(call.request.revision).checkCaller(call.request);
    const found = await Promise.all(ids.map((id) => this.#find(id)));
    return found.flatMap((record) => (record !== undefined && isOwner(record, call) ? [record.id] : []));
  }

  close(): Promise<void> {
    return this.#runner.close();
  }

  /** Finds the task that a request names. Reports tasks of other callers as unknown. */
  async #ownedTask(params: Params, call: ExtensionCall): Promise<TaskRecord> {
    taskDialect(call.request.revision).checkCaller(call.request);
    const { taskId } = params;
    if (typeof taskId !== "string") {
      throw new McpError("invalid_params", `\`params.taskId\` of ${call.request.method} must be a string`);
    }
    const record = await this.#find(taskId);
    if (record === undefined || !isOwner(record, call)) throw unknownTask();
    return record;
  }

  /**
   * Reads a task. Malformed ids are not passed to the storage, because callers must not choose arbitrary storage keys.
   */
  async #find(id: string): Promise<TaskRecord | undefined> {
    return TASK_ID.test(id) ? this.#runner.open().read(id) : undefined;
  }
}

/** Returns the task support that the tool's entry in the tool list declares. */
function listedSupport({ item }: FoundOffer): TaskSupport | undefined {
  const support = (item as Tool | undefined)?.execution?.taskSupport;
  return support === "optional" || support === "required" ? support : undefined;
}

function isOwner({ owner }: TaskRecord, { exchange }: ExtensionCall): boolean {
  return owner === ((exchange.principal ?? exchange.peer?.principal)?.key ?? null);
}

function unknownTask(): McpError {
  return new McpError("invalid_params", "the task does not exist or has expired", {
    data: { reason: "unknown_task" },
    fix: "Use the id of a task of the same caller within its `ttlMs`.",
  });
}
