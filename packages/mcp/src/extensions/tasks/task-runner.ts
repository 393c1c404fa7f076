import { randomName } from "../../encoding/base64.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Call } from "../../era/era.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { McpError, serverClosed } from "../../protocol/error.js";
import { InputOutcome } from "../../server/call/input-required.js";
import { ExtensionResult } from "../../server/call/server-call.js";
import type { ExtendedServer, ExtensionCall } from "../seam/extended-server.js";
import { newRecord } from "./new-record.js";
import { KeptTasks } from "./stored/kept-tasks.js";
import { Creation, startLate } from "./stored/task-creation.js";
import { TaskNodes } from "./stored/task-nodes.js";
import { STORAGE_MS, timelyKeyValue } from "./stored/timely-key-value.js";
import { TakeOver } from "./take-over.js";
import { TaskCall } from "./task-call.js";
import { TaskListeners } from "./task-listeners.js";
import type { TaskSettings } from "./task-options.js";
import {
  differs,
  ended,
  isOver,
  type TaskAnswer,
  type TaskRecord,
  taskOf,
  withAnswers,
  withResult,
} from "./task-record.js";
import type { TaskRules } from "./task-rules.js";
import { type RunContext, TaskRun } from "./task-run.js";
import { TaskStore, TooManyTasks } from "./task-store.js";

/** What tasks need of the storage. */
interface TaskParts {
  readonly store: TaskStore;
  /** The name of this process. */
  readonly node: string;
  /** Absent where no other process could take over. */
  readonly nodes: TaskNodes | undefined;
}

/** The filter of what processes tell each other of themselves; no client can listen to it. */
const NODES_FILTER = "taskNodes";
/** Milliseconds that steps which have begun may take when the server closes. */
const CLOSE_MS = 10_000;

/** Runs the handlers of tasks: begins them, and takes over those of processes that are gone. */
export class TaskRunner implements RunContext {
  readonly listeners = new TaskListeners();
  readonly #server: ExtendedServer;
  readonly #settings: TaskSettings;
  readonly #runs = new Map<string, TaskRun>();
  readonly #kept: KeptTasks;
  #parts: TaskParts | undefined;
  #hearing: Promise<(() => void) | undefined> | undefined;
  #closed = false;

  constructor(server: ExtendedServer, settings: TaskSettings) {
    this.#server = server;
    this.#settings = settings;
    this.#kept = new KeptTasks(server.platform, settings.limits.kept);
  }

  get answerMs(): number | undefined {
    return this.#settings.answerMs;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get store(): TaskStore {
    return this.#open().store;
  }

  /** Begins to look for tasks of processes that are gone. */
  watch(): void {
    const nodes = this.#closed ? undefined : this.#open().nodes;
    if (nodes === undefined) return;
    nodes.watch();
    this.#listenToNodes(nodes);
  }

  /** Serves a call as a task: answers with the task once everything about the call is checked and the task is stored. */
  async begin(call: ExtensionCall, rules: TaskRules): Promise<object> {
    const { node, store } = this.#open();
    const record = newRecord(call, rules, this.#settings, {
      id: store.newId(),
      node,
      now: this.#server.platform.now(),
    });
    const run = new TaskRun(this.#server, this, record);
    const dialect = taskDialect(call.request.revision);
    const late = rules.begin === "handler" && !dialect.requested;
    const { id } = record;
    const inputs = late ? call.request.inputs : undefined;
    const request: Call = { ...call.request, id, progressToken: id, session: undefined, inputs };
    const creation = new Creation(async (recorded) => {
      await this.#create({ ...record, ...recorded }, run, call);
      inner?.detach();
    });
    let inner: TaskCall | undefined;
    const exchange = late ? run.lateExchange(call.exchange, call.request.progressToken) : run.exchange(call.exchange);
    const outcome = TaskCall.run(this.#server, request, exchange, run.slot, (prepared) => {
      inner = prepared;
      if (late) return startLate(prepared, run, creation);
      run.create = () => creation.begin(record);
      run.prepare(prepared, record);
      prepared.createFirst(run.create);
    });
    const settled = outcome.then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    const first = await Promise.race([creation.done, settled]);
    if (inner?.scopes !== undefined) call.scopes = inner.scopes;
    // A handler that did not wait for its task has one all the same.
    if (first === undefined || (await creation.succeeds)) {
      if (call.exchange.signal.aborted) await this.#cancelUnseen(id);
      void run.settle(outcome, request);
      return answeredWith(record, request);
    }
    if ("error" in first) throw first.error;
    const own = first.result instanceof InputOutcome || first.result instanceof ExtensionResult;
    return !dialect.requested || own ? first.result : this.#answeredAtOnce(record, first.result, request, call);
  }

  /** A task for a client that must be given one, although its outcome is known. */
  async #answeredAtOnce(record: TaskRecord, result: object, request: Call, call: ExtensionCall): Promise<object> {
    const done = withResult(record, taskDialect(request.revision).stored(result, request));
    if (this.#closed) throw serverClosed();
    await this.#store(done);
    this.listeners.add(done.id, call);
    this.listeners.remove(done.id);
    return answeredWith(done, request);
  }

  /** The client gave up its call before it could learn of the task. */
  async #cancelUnseen(id: string): Promise<void> {
    const cancel = (record: TaskRecord) =>
      isOver(record) ? record : ended(record, "cancelled", undefined, "the client cancelled the call");
    await this.change(id, cancel).catch((error: unknown) => {
      this.#server.platform.warn(`a task that nobody waits for could not be cancelled: ${thrownMessage(error)}`);
    });
  }

  /** Another process may say that it leaves; where that cannot be heard, its tasks are found with the next beat. */
  #listenToNodes(nodes: TaskNodes): void {
    this.#hearing ??= this.#server
      .hear(NODES_FILTER, "", () => nodes.scan())
      .catch(() => {
        this.#hearing = undefined;
        return undefined;
      });
  }

  async #create(record: TaskRecord, run: TaskRun, call: ExtensionCall): Promise<void> {
    const { nodes } = this.#open();
    const { running } = this.#settings.limits;
    if (this.#closed) throw serverClosed();
    if (this.#runs.size >= running) throw new TooManyTasks("tasks run", "running", running);
    this.#runs.set(record.id, run);
    try {
      // In this order: a process that ends in between leaves a task that nobody knows, never one that nobody runs.
      await nodes?.add(record.id, record.createdAt + record.ttlMs);
      await this.#store(record);
      await this.#count(record, run);
    } catch (error) {
      this.over(run);
      throw error;
    }
    this.listeners.add(record.id, call);
    await run.listen();
  }

  /** The task is stored: makes sure that it is also known to run here. */
  async #count(record: TaskRecord, { signal }: TaskRun): Promise<void> {
    const { store, nodes } = this.#open();
    try {
      await nodes?.confirm();
      if (this.#closed) throw serverClosed();
      // Its client has gone before the call became a task: nobody knows of it, and nothing runs for it.
      if (signal.aborted) throw McpError.from(signal.reason);
    } catch (error) {
      await store.discard(record);
      throw error;
    }
  }

  /** Stores a new task, in the place of older ones if there are too many. */
  async #store(record: TaskRecord): Promise<void> {
    const { store } = this.#open();
    const { keptPerPrincipal: kept, runningPerPrincipal: running } = this.#settings.limits;
    await this.#kept.add(record, store, this.#runs);
    try {
      await store.create(record, { kept, running });
    } catch (error) {
      this.#kept.remove(record.id);
      throw error;
    }
  }

  read(id: string): Promise<TaskRecord | undefined> {
    return this.store.read(id);
  }

  async change(id: string, change: (record: TaskRecord) => TaskRecord): Promise<TaskRecord | undefined> {
    let before: TaskRecord | undefined;
    const after = await this.store.update(id, (record) => {
      before = record;
      return change(record);
    });
    if (after !== undefined && before !== undefined && differs(before, after)) this.#tell(before, after);
    return after;
  }

  /** Gives a task answers to its questions; answers to other questions are ignored. */
  async answer(id: string, answers: Readonly<Record<string, unknown>>): Promise<void> {
    const given = Object.entries(answers).map(([name, value]) => [name, { value }] as const);
    await this.change(id, (record) => withAnswers(record, Object.fromEntries(given)));
  }

  /** Gives a task what the client said to one question. */
  async answerOne(id: string, name: string, answer: TaskAnswer): Promise<void> {
    await this.change(id, (record) => withAnswers(record, { [name]: answer }));
  }

  #tell(before: TaskRecord, after: TaskRecord): void {
    const params = taskOf(after);
    this.#server.publish({ filter: "taskIds", value: after.id, method: "notifications/tasks", params });
    this.listeners.changed(after);
    if (isOver(after) && !isOver(before)) {
      this.listeners.remove(after.id);
      this.store.ended(after).catch((error: unknown) => {
        this.#server.platform.warn(`a finished task still counts as running: ${thrownMessage(error)}`);
      });
    }
  }

  notify(id: string, method: string, params: Record<string, unknown>): void {
    this.listeners.notify(id, method, params);
  }

  over(run: TaskRun): void {
    if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
    this.listeners.remove(run.id);
    // What another process shall go on with stays in the list of this one until then, as does what is still to be removed.
    if (!run.isReleased && !this.store.isLeft(run.id)) this.#parts?.nodes?.remove(run.id);
  }

  /** Leaves the tasks to other processes, after steps that have begun. */
  async close(): Promise<void> {
    this.#closed = true;
    const { platform } = this.#server;
    const released = Promise.all([...this.#runs.values()].map((run) => run.release()));
    await new Promise<void>((resolve) => {
      const timer = platform.timer(CLOSE_MS, resolve, true);
      void released.finally(() => {
        timer.cancel();
        resolve();
      });
    });
    for (const run of this.#runs.values()) run.abort(serverClosed());
    (await this.#hearing)?.();
    await this.#parts?.nodes?.close();
  }

  #open(): TaskParts {
    this.#parts ??= this.#make();
    return this.#parts;
  }

  /** Made with the first use, because some runtimes forbid randomness and timers while modules load. */
  #make(): TaskParts {
    const { platform, storage, sharesStorage, info } = this.#server;
    const { leaseMs, limits } = this.#settings;
    const node = randomName(platform, 12);
    const store = new TaskStore(timelyKeyValue(storage.kv, platform), platform, info.name, limits.taskLength);
    if (!sharesStorage) return { store, node, nodes: undefined };
    const takeOver = new TakeOver(this.#server, this, this.#runs, limits.running);
    // A beat that hangs must have failed before the lease ends.
    const kv = timelyKeyValue(storage.kv, platform, Math.min(STORAGE_MS, Math.max(1000, leaseMs / 3)));
    const nodes: TaskNodes = new TaskNodes(kv, platform, info.name, node, leaseMs, {
      orphaned: (ids, from) => takeOver.takeAll(ids, from, nodes),
      beat: (lost) => void takeOver.look(lost),
      scanned: async () => {
        await takeOver.takeUnsure(nodes);
        for (const id of await store.discardLeft()) nodes.remove(id);
      },
      left: () => this.#server.publish({ filter: NODES_FILTER, value: "", method: "notifications/tasks" }),
    });
    return { store, node, nodes };
  }
}

function answeredWith(record: TaskRecord, { revision }: Call): ExtensionResult {
  return new ExtensionResult("task", taskDialect(revision).created(taskOf(record)));
}
