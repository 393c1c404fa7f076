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
import { ended, endResult, isOver, type TaskRecord, taskOf, withAnswers } from "./stored/task-record.js";
import { asStorageAway, TASK_ID, TooManyTasks } from "./stored/task-store.js";
import { askThrough, onStartTask } from "./task-call.js";
import { type TaskRules, type TaskSettings, taskRules } from "./task-options.js";
import { TaskResults } from "./task-results.js";
import { TaskRunner } from "./task-runner.js";

/** Tasks on a page of `tasks/list` where the server sets no page size. */
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
  /** Tools that called `ctx.startTask` in vain; each is told once, and there are no more than tools. */
  readonly #warned = new Set<string>();
  readonly #listed = new WeakMap<object, object>();

  constructor(server: ExtendedServer, settings: TaskSettings) {
    this.#server = server;
    this.#runner = new TaskRunner(server, settings);
    this.#results = new TaskResults(server, this.#runner, settings.askByTask);
    this.#asksByTask = settings.askByTask;
  }

  /** The rules of a tool; undefined if it never runs as a task. */
  #rulesOf(name: string, tool: FoundOffer): TaskRules | undefined {
    let known = this.#rules.get(tool);
    if (known === undefined) {
      known = { rules: taskRules(name, tool.task ?? listedSupport(tool)) };
      this.#rules.set(tool, known);
    }
    return known.rules;
  }

  /** What `ctx.startTask` does in a tool whose calls never become tasks. */
  #noTask(tool: string): Promise<boolean> {
    if (!this.#warned.has(tool)) {
      this.#warned.add(tool);
      const task = '`task: { support: "optional", begin: "handler" }`';
      this.#server.platform.warn(`the tool "${tool}" called \`ctx.startTask\`, and has no task: give it ${task}`);
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
    if (rules === undefined) onStartTask(call, () => this.#noTask(name));
    if (rules?.support === "required") throw dialect.taskRequiredError(name);
    // Spec: Tasks, "Tool-Level Negotiation": a tool without task support refuses to run as one.
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

  /** The list with what the revision says of tasks in it; made once for each list, whose text is kept. */
  #withSupport(result: object, call: ExtensionCall): MaybePromise<object> {
    const known = this.#listed.get(result);
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
      this.#listed.set(result, list);
      return list;
    };
    return found.some(isThenable) ? Promise.all(found).then(made) : made(found as (FoundOffer | undefined)[]);
  }

  /** The answer to a request about a task, or an error from which the client knows that the storage is away for now. */
  async answer(answer: Promise<object>): Promise<object> {
    try {
      return await answer;
    } catch (error) {
      const shown = asStorageAway(error);
      if (shown !== error) this.#server.platform.warn(`a request about a task failed: ${thrownMessage(error)}`);
      throw shown;
    }
  }

  async get(params: Params, call: ExtensionCall): Promise<object> {
    const dialect = taskDialect(call.request.revision);
    const record = await this.#owned(params, call);
    if (dialect.pushes) this.#results.looked(record, call);
    return dialect.encode(taskOf(record));
  }

  async update(params: Params, call: ExtensionCall): Promise<object> {
    const { id } = await this.#owned(params, call);
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
    const { id } = await this.#owned(params, call);
    const dialect = taskDialect(call.request.revision);
    const record = await this.#runner.open().update(id, (found) => {
      if (!isOver(found)) return ended(found, "cancelled", undefined, "the client cancelled the task");
      if (!dialect.refusesLateCancel) return found;
      throw new McpError("invalid_params", `the task is ${found.status} already`);
    });
    if (record === undefined) throw unknownTask();
    return dialect.cancelResult(taskOf(record));
  }

  async list(params: Params, { request, exchange }: ExtensionCall): Promise<object> {
    const owner = (exchange.principal ?? exchange.peer?.principal)?.key;
    const ids = owner === undefined ? this.#runner.createdBy(exchange.peer) : await this.#runner.open().owned(owner);
    const dialect = taskDialect(request.revision);
    const signs = `cursor tasks ${owner ?? ""}`;
    const start = params["cursor"] === undefined ? 0 : this.#start(ids, signs, params["cursor"]);
    const end = start + (this.#server.pageSize ?? PAGE_SIZE);
    const page = await Promise.all(ids.slice(start, end).map((id) => this.#runner.open().read(id)));
    const tasks = page.filter((record) => record !== undefined && record.owner === (owner ?? null));
    const last = ids[end - 1];
    const shown = tasks.map((record) => dialect.encode(taskOf(record as TaskRecord)));
    const hasMore = end < ids.length && last !== undefined;
    return withNextCursor({ tasks: shown }, hasMore ? this.#server.secrets.sign(signs, last) : undefined);
  }

  /** Where the page of a cursor begins. A cursor is for the list of its owner, as long as its last task is kept. */
  #start(ids: readonly string[], signs: string, cursor: unknown): number {
    const after = typeof cursor === "string" ? this.#server.secrets.verify(signs, cursor) : undefined;
    const start = after === undefined ? 0 : ids.indexOf(after) + 1;
    if (start > 0) return start;
    throw new McpError("invalid_params", "there is no such cursor in the list of tasks, or it has expired");
  }

  async result(params: Params, call: ExtensionCall): Promise<object> {
    const record = await this.#owned(params, call);
    return isOver(record) ? endResult(record) : this.#results.wait(record, call);
  }

  /** The tasks among these that the caller may hear of. */
  async listenable(ids: readonly string[], call: ExtensionCall): Promise<string[]> {
    taskDialect(call.request.revision).checkCaller(call.request);
    const found = await Promise.all(ids.map((id) => this.#find(id)));
    return found.flatMap((record) => (record !== undefined && isOwner(record, call) ? [record.id] : []));
  }

  close(): Promise<void> {
    return this.#runner.close();
  }

  /** The task that a request is about. Tasks of others do not exist for the caller. */
  async #owned(params: Params, call: ExtensionCall): Promise<TaskRecord> {
    taskDialect(call.request.revision).checkCaller(call.request);
    const { taskId } = params;
    if (typeof taskId !== "string") {
      throw new McpError("invalid_params", `\`params.taskId\` of ${call.request.method} must be a string`);
    }
    const record = await this.#find(taskId);
    if (record === undefined || !isOwner(record, call)) throw unknownTask();
    return record;
  }

  /** Only what could be an id reaches the storage, whose keys are not for callers to choose. */
  async #find(id: string): Promise<TaskRecord | undefined> {
    return TASK_ID.test(id) ? this.#runner.open().read(id) : undefined;
  }
}

/** The support that the entry of a tool in the list names. */
function listedSupport({ item }: FoundOffer): TaskSupport | undefined {
  const support = (item as Tool | undefined)?.execution?.taskSupport;
  return support === "optional" || support === "required" ? support : undefined;
}

function isOwner({ owner }: TaskRecord, { exchange }: ExtensionCall): boolean {
  return owner === ((exchange.principal ?? exchange.peer?.principal)?.key ?? null);
}

function unknownTask(): McpError {
  return new McpError("invalid_params", "there is no such task, or it has expired", {
    data: { reason: "unknown_task" },
    fix: "Use the id of a task of the same caller within its `ttlMs`.",
  });
}
